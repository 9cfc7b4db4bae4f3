// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A gemm that is run as an application does, with a check on the host.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/gemm/run_check.hpp"
#include "tools/gemm/tools.hpp"

namespace kiln::tools {
namespace {

/// Multiply-adds that checking on the host may take: enough to find a fault, and no long wait.
constexpr std::int64_t kCheckedProducts = std::int64_t{1} << 25;

DeviceMemory device_copy(const Library& library, const HostMatrix& matrix,
                         const std::string& name) {
  DeviceMemory memory = library.allocate(matrix.bytes().size(), name);
  memory.copy_from_host(matrix.bytes().data(), memory.bytes());
  return memory;
}

class GemmRun : public ProblemRun {
 public:
  GemmRun(const GemmCase& request, std::uint64_t seed) : request_(request), seed_(seed) {}

  [[nodiscard]] const AnyKernel& get(const Library& library) override {
    kernel_ = library.get(request_.gemm);
    return *kernel_;
  }

  void make_operands(const Library& library) override {
    HostOperands& host = host_.emplace(request_);
    const bool reads_c = request_.gemm.reads_c;
    host.a.fill_random(seed_);
    host.b.fill_random(seed_ + 1);
    if (reads_c) host.c.fill_random(seed_ + 2);
    std::uint64_t operand_seed = seed_ + 3;
    for (std::size_t i = 0; i < host.epilogue.size(); ++i) {
      if (!host.recorded[i]) host.epilogue[i].fill_random(operand_seed++);
    }
    host.d.poison();
    a_ = device_copy(library, host.a, "operand A");
    b_ = device_copy(library, host.b, "operand B");
    if (reads_c) c_ = device_copy(library, host.c, "operand C");
    d_ = device_copy(library, host.d, "operand D");
    operands_ = {a_.get(), b_.get(), c_.get(), d_.get(), request_.alpha, request_.beta, {}};
    for (const HostMatrix& operand : host.epilogue) {
      const std::size_t at = named_.size();
      operands_.epilogue[at].data =
          named_.emplace_back(device_copy(library, operand, "an operand of the epilogue")).get();
    }
  }

  void launch() const override { kernel_->launch(nullptr, operands_); }

  [[nodiscard]] RunCheck check() override {
    HostOperands& host = *host_;
    d_.copy_to_host(host.d.bytes().data(), d_.bytes());
    for (std::size_t i = 0; i < named_.size(); ++i) {
      if (!host.recorded[i]) continue;
      named_[i].copy_to_host(host.epilogue[i].bytes().data(), named_[i].bytes());
    }
    const std::int64_t depth = std::max<std::int64_t>(1, request_.gemm.k);
    return check_result(request_, host, std::max<std::int64_t>(64, kCheckedProducts / depth),
                        seed_);
  }

 private:
  GemmCase request_;
  std::uint64_t seed_;
  std::optional<HostOperands> host_;
  std::optional<Kernel> kernel_;
  DeviceMemory a_, b_, c_, d_;
  std::vector<DeviceMemory> named_;  ///< of the expression
  GemmOperands operands_;
};

}  // namespace

std::unique_ptr<ProblemRun> make_gemm_run(const ProblemCase& one, std::uint64_t seed) {
  return std::make_unique<GemmRun>(gemm_case_of(one), seed);
}

}  // namespace kiln::tools
