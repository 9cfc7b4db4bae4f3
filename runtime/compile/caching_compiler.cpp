// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/compile/compiler.hpp"

namespace kiln {
namespace {

/// The one entry of the store that is not a kernel: the compiler that filled it.
CubinKey compiler_key() {
  return {"compiler", "", "", "", ""};
}

void remember_compiler(CubinStore& store, const std::string& identity) {
  CubinRecord record;
  record.cubin.resize(identity.size());
  std::memcpy(record.cubin.data(), identity.data(), identity.size());
  record.lowered_names = {identity};
  store.put(compiler_key(), record);
}

}  // namespace

CompileResult given_up_result() {
  CompileResult result;
  result.given_up = true;
  result.log = "the compilation was cancelled\n";
  return result;
}

std::string remembered_compiler(CubinStore& store) {
  const auto record = store.get(compiler_key());
  return record && record->lowered_names.size() == 1 ? record->lowered_names[0] : std::string();
}

struct CachingCompiler::Counters {
  std::atomic<std::uint64_t> compiles{0};
  std::atomic<std::uint64_t> hits{0};
  std::mutex mutex;
  std::string remembered;  ///< the identity last written to the store, guarded by `mutex`

  // Candidates that differ only in what is known at launch have the same source and often follow
  // one another: the second waits for the first to store it.
  std::set<std::string> in_flight;  ///< guarded by `mutex`
  std::condition_variable landed;
};

/// Keeps other threads from compiling the same while it lives.
class CachingCompiler::Flight {
 public:
  /// Waits for another thread's.
  Flight(Counters& counters, std::string key, const std::function<bool()>& give_up)
      : counters_(counters), key_(std::move(key)) {
    std::unique_lock lock(counters_.mutex);
    while (!give_up || !give_up()) {
      begun_ = counters_.in_flight.insert(key_).second;
      if (begun_) return;
      if (give_up) {
        counters_.landed.wait_for(lock, kAskEvery);
      } else {
        counters_.landed.wait(lock);
      }
    }
  }
  ~Flight() {
    if (!begun_) return;
    {
      const std::lock_guard lock(counters_.mutex);
      counters_.in_flight.erase(key_);
    }
    counters_.landed.notify_all();
  }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  /// False if it was given up before its turn came.
  [[nodiscard]] bool begun() const { return begun_; }

 private:
  static constexpr std::chrono::milliseconds kAskEvery{50};
  Counters& counters_;
  std::string key_;
  bool begun_ = false;
};

CachingCompiler::CachingCompiler(std::shared_ptr<Compiler> compiler,
                                 std::shared_ptr<CubinStore> store, std::string headers)
    : compiler_(std::move(compiler)),
      store_(std::move(store)),
      headers_(std::move(headers)),
      counters_(std::make_shared<Counters>()) {}

CubinKey CachingCompiler::key_of(const CompileRequest& request, const std::string& identity) const {
  return {request.source_digest, compiler_->options_text(request), identity, request.arch,
          headers_};
}

std::optional<CompileResult> CachingCompiler::stored(const CompileRequest& request,
                                                     const std::string& identity) {
  auto record = store_->get(key_of(request, identity));
  const std::size_t names = request.name_expressions.size() + request.plain_names.size();
  if (!record || record->lowered_names.size() != names) return std::nullopt;
  ++counters_->hits;
  CompileResult result;
  result.ok = true;
  result.from_store = true;
  result.cubin = std::move(record->cubin);
  result.lowered_names = std::move(record->lowered_names);
  result.resources = record->resources;
  return result;
}

CompileResult CachingCompiler::compile(const CompileRequest& request) {
  if (auto found = stored(request, compiler_->identity())) return std::move(*found);
  const Flight flight(*counters_,
                      fmt::format("{}\n{}\n{}", request.source_digest, request.arch,
                                  compiler_->options_text(request)),
                      request.give_up);
  if (!flight.begun()) return given_up_result();
  if (auto found = stored(request, compiler_->identity())) return std::move(*found);
  return compile_afresh(request);
}

CompileResult CachingCompiler::compile_afresh(const CompileRequest& request) {
  ++counters_->compiles;
  CompileResult result = compiler_->compile(request);
  // Warnings are reasons to reject a candidate, and the store has no place for them.
  if (!result.ok || !result.warnings.empty()) return result;
  // Queried again: a compiler loaded only now may not be the remembered one.
  const std::string identity = compiler_->identity();
  store_->put(key_of(request, identity), {result.cubin, result.lowered_names, result.resources});
  const std::lock_guard lock(counters_->mutex);
  if (counters_->remembered != identity) {
    remember_compiler(*store_, identity);
    counters_->remembered = identity;
  }
  return result;
}

std::string CachingCompiler::identity() const {
  return compiler_->identity();
}

std::string CachingCompiler::options_text(const CompileRequest& request) const {
  return compiler_->options_text(request);
}

std::vector<std::string> CachingCompiler::supported_archs() const {
  return compiler_->supported_archs();
}

std::uint64_t CachingCompiler::compiles() const {
  return counters_->compiles;
}

std::uint64_t CachingCompiler::hits() const {
  return counters_->hits;
}

}  // namespace kiln
