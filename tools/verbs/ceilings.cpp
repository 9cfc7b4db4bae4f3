// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "tools/verbs/ceiling_source.hpp"

namespace kiln::tools {
namespace {

using emulated::Unit;

/// As support/ceilings.cu lays them out.
struct BlockTime {
  long long clocks;
  long long ns;
};
struct CeilingArgs {
  DevicePtr times;
  DevicePtr memory;
  unsigned long long bytes;
  unsigned long long stride;
  int iterations;
  unsigned seed;
  unsigned never;
};

// What one iteration of a kernel does, as written there.
constexpr double kChains = 8;
constexpr double kLaneSteps = 32 * kChains;
constexpr double kFewSteps = 8 * kChains;
constexpr double kMatrixSteps = 8 * 4;

constexpr double kWarp = 32;
constexpr std::int64_t kSmallBytes = std::int64_t{1} << 20;
/// Clocks that a measurement shall last: long against its start and end, short against a minute.
constexpr double kClocks = 2e6;
constexpr double kClocksForClock = 1e8;  ///< until the clock has settled under load
/// Of a walk through memory: enough to meet every partition of the cache and every page.
constexpr int kLinks = 16384;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Figures are for people, too: four digits say all that is reproducible.
double rounded(double value) {
  if (value <= 0.0) return 0.0;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 3.0);
  return std::stod(fmt::format("{:.10g}", std::round(value / unit) * unit));
}

/// Device memory for as long as this lives.
class Memory {
 public:
  Memory(Device& device, std::int64_t bytes) : device_(device), at_(device.allocate(bytes)) {}
  ~Memory() { device_.free(at_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] DevicePtr get() const { return at_; }

 private:
  Device& device_;
  DevicePtr at_;
};

/// The compiled kernels and their launches.
class Bench {
 public:
  Bench(Device& device, Compiler& compiler)
      : device_(device), small_(device, kSmallBytes), times_(device, kSmallBytes) {
    const DeviceLimits& limits = device.info().limits;
    const CeilingSource source = ceiling_source(limits.sm);
    CompileRequest request;
    request.source = source.text;
    request.source_name = "ceilings.cu";
    request.plain_names = source.kernels;
    request.arch = limits.arch;
    const CompileResult compiled = compiler.compile(request);
    if (!compiled.ok) {
      throw Error(
          ErrorKind::compiler,
          fmt::format("the kernels that measure a device do not compile for {}. Next: see whether "
                      "`kiln doctor` reports a problem with NVRTC. The compiler said:\n{}",
                      limits.arch, compiled.log));
    }
    if (!compiled.warnings.empty() || compiled.resources.spill_store_bytes > 0) {
      throw Error(
          ErrorKind::device,
          fmt::format("{} reports warnings or register spills for Kiln's measurement kernels. "
                      "Such kernels cannot measure the device correctly. Next: use another CUDA "
                      "toolkit. The compiler said:\n{}",
                      compiler.identity(), compiled.log));
    }
    DeviceStatus status;
    module_ = device.load(compiled.cubin, compiled.lowered_names, status);
    check(status, "loading the measurement kernels");
    for (std::size_t i = 0; i < source.kernels.size(); ++i) {
      functions_[source.kernels[i]] = module_->functions()[i];
    }
    device.fill(small_.get(), 0, kSmallBytes);
    args_.times = times_.get();
    args_.memory = small_.get();
    args_.bytes = kSmallBytes;
    args_.seed = 3;
    args_.never = 0xfffffffd;
  }

  [[nodiscard]] bool has(const std::string& kernel) const { return functions_.contains(kernel); }

  /// Where kernels read, from now on.
  void use_memory(DevicePtr memory, std::int64_t bytes, std::int64_t stride) {
    args_.memory = memory;
    args_.bytes = static_cast<unsigned long long>(bytes);
    args_.stride = static_cast<unsigned long long>(stride);
  }

  /// Runs a kernel once; the median over its blocks.
  BlockTime run(const std::string& kernel, int blocks, int threads, int iterations) {
    const auto launch = [&](int, void* stream) {
      return enqueue(kernel, blocks, threads, iterations, stream);
    };
    check(launch(0, device_.own_stream()), kernel);
    check(device_.synchronize(), kernel);
    std::vector<BlockTime> times(static_cast<std::size_t>(blocks));
    device_.copy_to_host(times.data(), times_.get(),
                         static_cast<std::int64_t>(times.size() * sizeof(BlockTime)));
    std::nth_element(times.begin(), times.begin() + blocks / 2, times.end(),
                     [](const auto& a, const auto& b) { return a.clocks < b.clocks; });
    return times[static_cast<std::size_t>(blocks / 2)];
  }

  /// Clocks of one iteration, on all multiprocessors at once; the median of three runs.
  double clocks_per_iteration(const std::string& kernel, int threads, bool everywhere = true) {
    const int blocks = everywhere ? device_.info().limits.sm_count : 1;
    constexpr int kProbe = 16;
    const auto probe = static_cast<double>(run(kernel, blocks, threads, kProbe).clocks);
    const int iterations = std::max(kProbe, static_cast<int>(kClocks / probe * kProbe));
    std::vector<double> each;
    for (int i = 0; i < 3; ++i) {
      each.push_back(static_cast<double>(run(kernel, blocks, threads, iterations).clocks) /
                     iterations);
    }
    return median(each);
  }

  /// Nanoseconds that `runs` launches in one graph take; the median of five replays.
  double graph_ns(const std::string& kernel, int runs, int blocks, int threads, int iterations) {
    DeviceStatus status;
    const auto batch = device_.record(
        [&](int, void* stream) { return enqueue(kernel, blocks, threads, iterations, stream); },
        runs, status);
    check(status, kernel);
    std::vector<double> each(5);
    for (double& ns : each) check(batch->replay(ns), kernel);
    return median(each);
  }

 private:
  DeviceStatus enqueue(const std::string& kernel, int blocks, int threads, int iterations,
                       void* stream) {
    CeilingArgs args = args_;
    args.iterations = iterations;
    const LaunchGeometry geometry{{static_cast<std::uint32_t>(blocks), 1, 1},
                                  {static_cast<std::uint32_t>(threads), 1, 1},
                                  {1, 1, 1},
                                  0};
    LaunchRequest request;
    request.function = functions_.at(kernel);
    request.geometry = geometry;
    request.arguments = &args;
    return device_.launch(request, stream);
  }

  static void check(const DeviceStatus& status, const std::string& what) {
    if (status.ok()) return;
    throw Error(ErrorKind::device,
                fmt::format("{}: {}. Next: see what `kiln doctor` reports about the device.", what,
                            status.message));
  }

  Device& device_;
  Memory small_;
  Memory times_;
  std::unique_ptr<LoadedModule> module_;
  std::map<std::string, DeviceFunction> functions_;
  CeilingArgs args_{};
};

/// A unit, the kernel that keeps it busy, and instructions of one thread in one iteration.
struct LaneRate {
  Unit unit;
  const char* kernel;
  double instructions;
};
constexpr std::array<LaneRate, 9> kLaneRates{{{Unit::integer, "rate_integer", 2 * kLaneSteps},
                                              {Unit::integer64, "rate_integer64", 2 * kLaneSteps},
                                              {Unit::multiply, "rate_multiply", kLaneSteps},
                                              {Unit::fp32, "rate_fp32", kLaneSteps},
                                              {Unit::fp64, "rate_fp64", kLaneSteps},
                                              {Unit::fp16, "rate_fp16", kLaneSteps},
                                              {Unit::convert, "rate_convert", 2 * kLaneSteps},
                                              {Unit::special, "rate_special", kLaneSteps},
                                              {Unit::shuffle, "rate_shuffle", kLaneSteps}}};
constexpr int kThreads = 1024;
constexpr int kWideThreads = 512;  // of loads of 16 bytes, which take more registers
constexpr int kMatrixThreads = 512;
constexpr int kWgmmaThreads = 256;

/// Multiply-adds per clock of a kernel whose warps each do `each` in one instruction.
double matrix_rate(Bench& bench, const char* kernel, double each) {
  if (!bench.has(kernel)) return 0.0;
  const double warps = kMatrixThreads / kWarp;
  return rounded(warps * kMatrixSteps * each / bench.clocks_per_iteration(kernel, kMatrixThreads));
}

double wgmma_rate(Bench& bench, const std::string& type) {
  const std::string kernel = "wgmma_" + type;
  if (!bench.has(kernel)) return 0.0;
  return rounded(wgmma_work(type) / bench.clocks_per_iteration(kernel, kWgmmaThreads));
}

/// Clocks of a step of a walk through `bytes` of memory; the next link lies anywhere in it.
double chase(Bench& bench, Device& device, const char* kernel, std::int64_t bytes) {
  constexpr std::int64_t kStride = 128;  // a line
  const Memory memory(device, bytes);
  bench.use_memory(memory.get(), bytes, kStride);
  static_cast<void>(bench.graph_ns("link", 1, device.info().limits.sm_count, kThreads, 1));
  const double clocks = static_cast<double>(bench.run(kernel, 1, 32, kLinks).clocks);
  return rounded(clocks / kLinks);
}

/// Bytes per nanosecond that all multiprocessors together read of `bytes`, `passes` times.
double stream(Bench& bench, Device& device, std::int64_t bytes, int passes) {
  const int blocks = 2 * device.info().limits.sm_count;
  const auto step = static_cast<std::int64_t>(blocks * kWideThreads * 16 * kChains);
  bytes = std::max(step, bytes / step * step);
  const Memory memory(device, bytes);
  device.fill(memory.get(), 1, bytes);
  bench.use_memory(memory.get(), bytes, 0);
  const double ns = bench.graph_ns("stream", 1, blocks, kWideThreads, passes);
  return rounded(static_cast<double>(bytes) * passes / ns);
}

std::int64_t power_of_two_below(std::int64_t value) {
  std::int64_t power = 1;
  while (power * 2 <= value) power *= 2;
  return power;
}

void measure_memory(DeviceProfile& profile, Bench& bench, Device& device) {
  const std::int64_t l2 = profile.limits.l2_bytes;
  const std::int64_t room = device.free_memory_bytes() / 4;
  profile.latency.l1 = chase(bench, device, "latency_l1", std::int64_t{8} << 10);
  profile.latency.l2 = chase(bench, device, "latency_l2", power_of_two_below(l2 / 8));
  profile.latency.dram = chase(bench, device, "latency_dram",
                               power_of_two_below(std::min(room, std::int64_t{1} << 30)));
  // A quarter of the cache: with all of it, parts of the buffer would evict each other.
  profile.l2_bytes_per_ns = stream(bench, device, l2 / 4, 50);
  profile.dram_bytes_per_ns = stream(bench, device, std::min(room, std::int64_t{4} << 30), 2);
}

/// What a kernel costs that follows others in a graph and does nothing.
double launch_ns(Bench& bench, int blocks) {
  constexpr int kMore = 200;
  const double one = bench.graph_ns("empty", 1, blocks, 128, 0);
  const double many = bench.graph_ns("empty", 1 + kMore, blocks, 128, 0);
  return rounded((many - one) / kMore);
}

/// The clock after some time of the heaviest work that ordinary kernels do.
double clock_ghz(Bench& bench, const DeviceProfile& profile) {
  const bool matrix = bench.has("mma_f16");
  const char* const kernel = matrix ? "mma_f16" : "rate_fp32";
  const int threads = matrix ? kMatrixThreads : kThreads;
  const double each = bench.clocks_per_iteration(kernel, threads);
  const BlockTime time =
      bench.run(kernel, profile.limits.sm_count, threads, static_cast<int>(kClocksForClock / each));
  return rounded(static_cast<double>(time.clocks) / static_cast<double>(time.ns));
}

/// "NVIDIA GeForce RTX 4090" -> "geforce-rtx-4090".
std::string model_name(std::string name) {
  constexpr std::string_view kMaker = "NVIDIA ";
  if (name.starts_with(kMaker)) name.erase(0, kMaker.size());
  for (char& letter : name) {
    const bool upper = letter >= 'A' && letter <= 'Z';
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
    letter = upper ? static_cast<char>(letter - 'A' + 'a') : plain ? letter : '-';
  }
  return name;
}

}  // namespace

DeviceProfile measure_ceilings(Device& device, Compiler& compiler,
                               const std::function<void(const std::string&)>& progress) {
  DeviceProfile profile;
  profile.limits = device.info().limits;
  profile.device_class = device.info().device_class;
  profile.name = model_name(profile.device_class.name);
  profile.figures = "measured";
  // Four schedulers of one warp instruction a clock, in every generation since sm_70.
  profile.issue_per_clock = 4;

  progress("compiling the kernels");
  Bench bench(device, compiler);
  progress("arithmetic");
  for (const LaneRate& rate : kLaneRates) {
    profile.lanes_per_clock[static_cast<std::size_t>(rate.unit)] =
        rounded(rate.instructions * kThreads / bench.clocks_per_iteration(rate.kernel, kThreads));
  }
  progress("matrix instructions");
  profile.mma = {
      matrix_rate(bench, "mma_f16", 16 * 8 * 16), matrix_rate(bench, "mma_tf32", 16 * 8 * 8),
      matrix_rate(bench, "mma_f64", 16 * 8 * 8), matrix_rate(bench, "mma_s8", 16 * 8 * 32),
      matrix_rate(bench, "mma_e4m3", 16 * 8 * 32)};
  profile.wgmma = {wgmma_rate(bench, "f16"), wgmma_rate(bench, "tf32"), 0.0,
                   wgmma_rate(bench, "s8"), wgmma_rate(bench, "e4m3")};
  progress("shared memory and caches");
  // 16 bytes a lane: four wavefronts a warp.
  const double warps = kWideThreads / kWarp;
  profile.shared_wavefronts_per_clock = rounded(
      4 * kChains * warps / bench.clocks_per_iteration("rate_shared_wavefronts", kWideThreads));
  profile.latency.alu = rounded(bench.clocks_per_iteration("latency_alu", 32, false) / kFewSteps);
  profile.latency.shared = rounded(bench.clocks_per_iteration("latency_shared", 32, false) / 8);
  profile.latency.barrier = rounded(bench.clocks_per_iteration("latency_barrier", 256, false) / 8);
  if (bench.has("latency_mma")) {
    profile.latency.mma = rounded(bench.clocks_per_iteration("latency_mma", 32, false) / 8);
  }
  profile.launch_ns = launch_ns(bench, profile.limits.sm_count);
  progress("clock under load");
  profile.clock_ghz = clock_ghz(bench, profile);
  progress("memory");
  measure_memory(profile, bench, device);
  return profile;
}

std::optional<std::string> why_implausible(const DeviceProfile& profile) {
  constexpr double kTolerance = 1.05;
  const auto above = [&](std::string_view what, double value,
                         double limit) -> std::optional<std::string> {
    if (std::isfinite(value) && value <= limit * kTolerance) return std::nullopt;
    return fmt::format(
        "the measured value of {} is {:.4g}, but the device can reach at most {:.4g}", what, value,
        limit);
  };
  const auto below = [&](std::string_view what, double value, std::string_view other,
                         double more) -> std::optional<std::string> {
    if (value > 0.0 && value < more) return std::nullopt;
    return fmt::format(
        "the measured value of {} is {:.4g}, but it must be more than 0 and less than {:.4g}, the "
        "value of {}",
        what, value, more, other);
  };
  const double lanes = profile.issue_per_clock * kWarp;
  for (const LaneRate& rate : kLaneRates) {
    const double value = profile.lanes(rate.unit);
    if (value <= 0.0)
      return fmt::format("the measured rate of {} is {:.4g}, but a rate must be more than 0",
                         rate.kernel, value);
    if (auto why = above(rate.kernel, value, lanes)) return why;
  }
  const auto& latency = profile.latency;
  for (const auto& why :
       {above("shared_wavefronts_per_clock", profile.shared_wavefronts_per_clock, 1.0),
        above("mma.f16", profile.mma.f16, 8192.0), above("wgmma.f16", profile.wgmma.f16, 8192.0),
        above("wgmma.e4m3", profile.wgmma.e4m3, 2 * 8192.0),
        above("clock_ghz", profile.clock_ghz, 4.0),
        below("dram_bytes_per_ns", profile.dram_bytes_per_ns, "l2_bytes_per_ns",
              profile.l2_bytes_per_ns),
        below("latency alu", latency.alu, "latency shared", latency.shared),
        below("latency shared", latency.shared, "latency l2", latency.l2),
        below("latency l1", latency.l1, "latency l2", latency.l2),
        below("latency l2", latency.l2, "latency dram", latency.dram)}) {
    if (why) return why;
  }
  return std::nullopt;
}

}  // namespace kiln::tools
