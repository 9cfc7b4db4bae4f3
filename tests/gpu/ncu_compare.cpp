// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shared-memory wavefronts and global sectors, as ncu counts them on a GPU and as the emulated GPU
/// does. tests/gpu/compare-with-ncu runs both steps:
///
///     ncu_compare metrics          the metrics that it needs, for ncu --metrics
///     ncu_compare gpu              launches every kernel once, for ncu to count
///     ncu_compare compare FILE     a table, FILE being what `ncu --csv --page raw` printed

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "tests/gpu/ncu_kernels.hpp"

namespace kiln::testing {
namespace {

/// What is compared, with the metrics that add up to it.
struct Quantity {
  const char* name;
  std::vector<const char*> metrics;
};

const std::vector<Quantity>& quantities() {
#define KILN_SHARED "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_"
#define KILN_GLOBAL "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_"
  static const std::vector<Quantity> all{
      {"shared ld", {KILN_SHARED "ld.sum", KILN_SHARED "ldsm.sum"}},
      {"shared st", {KILN_SHARED "st.sum", KILN_SHARED "stsm.sum"}},
      {"shared cp", {KILN_SHARED "ldgsts.sum"}},
      {"global ld", {KILN_GLOBAL "ld.sum"}},
      {"global st", {KILN_GLOBAL "st.sum"}},
      {"global cp", {KILN_GLOBAL "ldgsts.sum"}}};
  return all;
}
constexpr std::size_t kQuantities = 6;
using Counts = std::array<double, kQuantities>;

/// A device with a kernel loaded, its memory and its request.
class Prepared {
 public:
  Prepared(Device& device, Compiler& compiler, const CountedKernel& kernel) : device_(device) {
    CompileRequest request;
    request.source = kernel.source;
    if (kernel.name.empty()) {
      request.plain_names = {"k"};
    } else {
      request.name_expressions = {kernel.name};
    }
    request.arch = device.info().limits.arch;
    request.code = device.info().code;
    const CompileResult compiled = compiler.compile(request);
    if (!compiled.ok) throw Error(ErrorKind::compiler, kernel.label + ": " + compiled.log);
    DeviceStatus status;
    module_ = device.load(compiled.cubin, compiled.lowered_names, status);
    check(status, kernel);
    memory_ = device.allocate(kCountedBytes);
    device.fill(memory_, 0, kCountedBytes);
    request_.function = module_->functions()[0];
    request_.geometry = kernel.geometry;
    check(device.prepare(request_.function, kernel.geometry.smem_bytes), kernel);
    arguments_ = kernel.arguments(memory_);
    request_.arguments = arguments_.data();
  }
  ~Prepared() { device_.free(memory_); }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  [[nodiscard]] const LaunchRequest& request() const { return request_; }

  static void check(const DeviceStatus& status, const CountedKernel& kernel) {
    if (!status.ok()) throw Error(ErrorKind::device, kernel.label + ": " + status.message);
  }

 private:
  Device& device_;
  std::unique_ptr<LoadedModule> module_;
  DevicePtr memory_ = 0;
  std::vector<std::byte> arguments_;
  LaunchRequest request_;
};

void launch_all(Compiler& compiler) {
  const auto device = open_device("cuda:0");
  for (const CountedKernel& kernel : counted_kernels(device->info().limits)) {
    const Prepared prepared(*device, compiler, kernel);
    Prepared::check(device->launch(prepared.request(), device->own_stream()), kernel);
    Prepared::check(device->synchronize(), kernel);
  }
}

Counts emulated_counts(EmulatedDevice& device, Compiler& compiler, const CountedKernel& kernel) {
  const Prepared prepared(device, compiler, kernel);
  DeviceStatus status;
  const emulated::FactSheet sheet = device.count(prepared.request(), 0, status);
  Prepared::check(status, kernel);
  Counts counts{};
  for (std::size_t i = 0; i < sheet.instructions.size(); ++i) {
    const std::string_view opcode = sheet.program->opcodes[i];
    // Atomics have counters of their own, whose wavefronts are different.
    if (opcode.starts_with("atom") || opcode.starts_with("red")) continue;
    const auto& facts = sheet.instructions[i];
    const bool copies = opcode.starts_with("cp.async");
    const bool stores = opcode.starts_with("st") || opcode.find(".store.") != opcode.npos;
    const std::size_t kind = copies ? 2 : stores ? 1 : 0;
    counts[kind] += static_cast<double>(facts.shared_wavefronts);
    counts[3 + (copies ? 2 : kind)] += static_cast<double>(facts.global_sectors);
  }
  return counts;
}

/// One line of comma-separated values in quotes.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char letter : line) {
    if (letter == '"') {
      quoted = !quoted;
    } else if (letter == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += letter;
    }
  }
  return fields;
}

/// The counts of each launch, in order: a line of names, a line of units, a line for each.
std::vector<Counts> ncu_counts(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::map<std::string, std::size_t> columns;
  std::vector<Counts> launches;
  while (std::getline(file, line)) {
    if (!line.starts_with('"')) continue;
    const auto fields = fields_of(line);
    if (columns.empty()) {
      for (std::size_t i = 0; i < fields.size(); ++i) columns[fields[i]] = i;
      continue;
    }
    if (fields.at(0).empty()) continue;  // units
    Counts counts{};
    for (std::size_t q = 0; q < kQuantities; ++q) {
      for (const char* metric : quantities()[q].metrics) {
        const auto column = columns.find(metric);
        if (column == columns.end()) {
          throw Error(ErrorKind::usage, fmt::format("{} has no {}", path, metric));
        }
        std::string value = fields.at(column->second);
        std::erase(value, ',');
        counts[q] += std::stod(value);
      }
    }
    launches.push_back(counts);
  }
  return launches;
}

bool is_near(const Counts& counts, const Counts& measured, const Tolerance& tolerance) {
  for (std::size_t q = 0; q < kQuantities; ++q) {
    const bool applies = !tolerance.quantity.empty() &&
                         std::string_view(quantities()[q].name).ends_with(tolerance.quantity);
    const double share = applies ? tolerance.share : 0.0;
    if (std::abs(counts[q] - measured[q]) > share * measured[q]) return false;
  }
  return true;
}

void print_list(const char* title, const std::vector<std::string>& labels) {
  fmt::print("{}: {}\n", title, labels.size());
  for (const std::string& label : labels) fmt::print("  {}\n", label);
}

/// 0 if every kernel's counts are within its tolerance.
int compare(Compiler& compiler, const std::string& path) {
  const std::vector<Counts> measured = ncu_counts(path);
  EmulatedDevice device("h200");
  const auto kernels = counted_kernels(device.info().limits);
  if (measured.size() != kernels.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("{} has {} launches, not {}", path, measured.size(), kernels.size()));
  }
  fmt::print("{:<86}", "ncu / emulated");
  for (const Quantity& quantity : quantities()) fmt::print(" {:>17}", quantity.name);
  fmt::print("\n");
  std::vector<std::string> near;
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Counts counts = emulated_counts(device, compiler, kernels[i]);
    const bool equal = counts == measured[i];
    const bool tolerated = is_near(counts, measured[i], kernels[i].tolerance);
    if (!equal) (tolerated ? near : wrong).push_back(kernels[i].label);
    fmt::print("{:<86}", (equal ? "= " : tolerated ? "~ " : "! ") + kernels[i].label);
    for (std::size_t q = 0; q < kQuantities; ++q) {
      fmt::print(" {:>17}", measured[i][q] == counts[q]
                                ? fmt::format("{}", counts[q])
                                : fmt::format("{} / {}", measured[i][q], counts[q]));
    }
    fmt::print("\n");
  }
  fmt::print("{} of {} equal\n", kernels.size() - near.size() - wrong.size(), kernels.size());
  print_list("different within their tolerance", near);
  print_list("different beyond it", wrong);
  return wrong.empty() ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments[0] == "metrics") {
    // The first is compared with nothing: when only instruction counters are requested, ncu 2025.3
    // crashes.
    std::string all = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
    for (const Quantity& quantity : quantities()) {
      for (const char* metric : quantity.metrics) all += fmt::format(",{}", metric);
    }
    fmt::print("{}\n", all);
    return 0;
  }
  const auto compiler = make_nvrtc_compiler();
  if (arguments.size() == 1 && arguments[0] == "gpu") {
    launch_all(*compiler);
    return 0;
  }
  if (arguments.size() == 2 && arguments[0] == "compare") return compare(*compiler, arguments[1]);
  fmt::print(stderr, "usage: ncu_compare metrics | gpu | compare FILE\n");
  return 2;
}

}  // namespace
}  // namespace kiln::testing

int main(int argc, char** argv) {
  try {
    return kiln::testing::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
