// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kiln/error.hpp"
#include "runtime/tuner_process.hpp"

namespace kiln::detail {
namespace {

std::shared_ptr<Compiler> lazy_compiler(const LibraryParts& parts) {
  return std::make_shared<LazyCompiler>(parts.compiler, remembered_compiler(*parts.cubins));
}

LibraryParts completed(LibraryParts parts) {
  if (!parts.warnings) parts.warnings = std::make_shared<WarningSink>(nullptr, "");
  return parts;
}

std::string describe(const Choice& choice) {
  return fmt::format("{} [{}]", choice.kernel_template->name(), choice.config.canonical());
}

/// The bits of an address that must be zero for rows to start on multiples of `alignment` bytes.
std::uintptr_t alignment_mask(const Problem& problem, const char* trait) {
  return static_cast<std::uintptr_t>(problem.trait(trait).value_or(1) - 1);
}

}  // namespace

LibraryState::LibraryState(LibraryParts parts)
    : parts_(completed(std::move(parts))),
      compiler_(lazy_compiler(parts_), parts_.cubins),
      workspaces_(*parts_.device),
      chooser_(parts_.catalog, parts_.device->info(), parts_.database, parts_.site_databases,
               *parts_.warnings),
      builder_(parts_.catalog, *parts_.device, compiler_) {}

Library LibraryState::make_library(LibraryParts parts) {
  return Library(std::make_unique<LibraryState>(std::move(parts)));
}

LibraryCounters LibraryState::counters() const noexcept {
  return {compiler_.compiles(), compiler_.hits(), database_reads_.load()};
}

const KernelEntry* LibraryState::load(const Gemm& gemm, const GemmRequest& request) {
  // Throws for whatever makes a request invalid; the two checks differ for matrices alone that are
  // larger than any memory.
  const Gemm normal = normalised(gemm);
  if (!request.valid) throw Error(ErrorKind::usage, "gemm: an operand is larger than any memory");
  const std::lock_guard lock(mutex_);
  if (const KernelEntry* present = table_.find(request.key)) return present;
  const Problem problem = to_problem(normal);
  Refused refused;
  for (;;) {
    const std::optional<Choice> choice = choose(normal, problem, refused);
    database_reads_ = chooser_.database_reads();
    if (!choice) {
      throw Error(ErrorKind::not_found,
                  fmt::format("no template computes {}: {}", problem.canonical(),
                              fmt::join(chooser_.why_none(problem), "; ")));
    }
    BuiltKernel built = builder_.build(*choice, problem);
    if (built.failure.empty()) {
      parts_.warnings->inform(
          fmt::format("{}: {} ({})", problem.canonical(), describe(*choice), choice->reason));
      return table_.publish(make_entry(normal, request.key, *choice, std::move(built)));
    }
    parts_.warnings->warn(
        "candidate " + describe(*choice),
        fmt::format("{} cannot be used, the next best is taken: {}; if this is no bug of the "
                    "template, tune the problem again",
                    describe(*choice), built.failure));
    refused.insert({choice->kernel_template->name(), choice->config});
  }
}

std::optional<Choice> LibraryState::choose(const Gemm& gemm, const Problem& problem,
                                           const Refused& refused) {
  if (parts_.mode == Mode::default_only) return chooser_.fallback(problem, refused);
  // May load a compiler, where none ever filled the cubin store: then there is nothing in it that
  // would spare us that.
  const std::string toolkit = compiler_.identity();
  std::optional<Choice> choice = chooser_.stored(problem, toolkit, refused);
  const auto is_exact = [&] { return choice && choice->match == Match::exact; };
  if (parts_.mode == Mode::tune_on_miss && !is_exact() && tune(gemm, problem)) {
    choice = chooser_.stored(problem, toolkit, refused);
  }
  const bool tuned = is_exact() || (choice && choice->match == Match::same_device_class);
  if (parts_.mode == Mode::require && !tuned) {
    throw Error(
        ErrorKind::not_found,
        fmt::format("no tuned kernel for {} on {} in {}; tune it with: {}", problem.canonical(),
                    parts_.device->info().device_class.canonical(), parts_.database,
                    fmt::join(tuner_command("kiln", gemm, parts_.database,
                                            parts_.device->info().spec, parts_.template_path),
                              " ")));
  }
  return choice ? choice : chooser_.fallback(problem, refused);
}

bool LibraryState::tune(const Gemm& gemm, const Problem& problem) {
  if (!tuned_.insert(problem.canonical()).second) return false;
  const std::string failure =
      run_program(tuner_command(parts_.tuner_program, gemm, parts_.database,
                                parts_.device->info().spec, parts_.template_path));
  if (failure.empty()) return true;
  parts_.warnings->warn(
      "tuner", fmt::format("tuning on a miss failed, the best known kernel is taken: {}", failure));
  return false;
}

std::unique_ptr<const KernelEntry> LibraryState::make_entry(const Gemm& gemm, const GemmKey& key,
                                                            const Choice& choice,
                                                            BuiltKernel built) {
  const Problem problem = to_problem(gemm);
  auto entry = std::make_unique<KernelEntry>();
  entry->key = key;
  entry->device = parts_.device.get();
  entry->workspaces = &workspaces_;
  entry->launches = std::move(built.launches);
  entry->mask_a = alignment_mask(problem, "align_a");
  entry->mask_b = alignment_mask(problem, "align_b");
  entry->mask_c = alignment_mask(problem, "align_c");
  entry->mask_d = alignment_mask(problem, "align_d");
  entry->m = static_cast<int>(gemm.m);
  entry->n = static_cast<int>(gemm.n);
  entry->k = static_cast<int>(gemm.k);
  entry->reads_c = gemm.reads_c;
  entry->workspace_bytes = built.workspace_bytes;
  entry->module = std::move(built.module);
  entry->match = choice.match;
  entry->reason = choice.reason;
  entry->template_name = choice.kernel_template->name();
  entry->config = choice.config.canonical();
  return entry;
}

}  // namespace kiln::detail
