// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/emulated/decode/report.hpp"
#include "runtime/emulated/engine/launch.hpp"
#include "runtime/emulated/memory/global_memory.hpp"
#include "runtime/emulated/model/facts.hpp"
#include "runtime/emulated/model/performance_model.hpp"
#include "runtime/emulated/model/trace.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"

namespace kiln::emulated {
class GlobalShadow;
}

namespace kiln {

/// What stands for the driver of predictions with a profile that nobody measured; behind it stands
/// which profile if that is not built in.
inline constexpr const char* kPublishedFigures = "emulated, with published speeds";

struct EmulationOptions {
  bool checks = false;      ///< looks for races, uninitialised reads and missing waits
  int host_threads = 0;     ///< 0: one per processor
  double timeout_s = 60.0;  ///< of one launch
  std::int64_t memory_bytes = std::int64_t{8} << 30;
  /// Memory starts as zeros and costs the host what is touched of it, but nobody knows what was
  /// written. Not with `checks`.
  bool sparse_memory = false;
};

/// A GPU that is emulated in this process: it executes the PTX of a kernel, and so shows whether
/// the kernel is right, on any machine. Everything happens inside the call: a launch has finished
/// when launch() returns. A fault ends that launch only; the device stays usable. Launches from
/// several threads run side by side.
class EmulatedDevice : public Device {
 public:
  /// `model` names the GPU for profile_of(): "h200", or a profile's path. Throws what that throws.
  explicit EmulatedDevice(const std::string& model, const EmulationOptions& options = {});
  ~EmulatedDevice() override;
  EmulatedDevice(const EmulatedDevice&) = delete;
  EmulatedDevice& operator=(const EmulatedDevice&) = delete;

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] std::int64_t free_memory_bytes() override { return memory_.free_bytes(); }
  [[nodiscard]] DeviceTelemetry telemetry() override { return {}; }
  [[nodiscard]] void* own_stream() const noexcept override { return nullptr; }
  [[nodiscard]] DevicePtr allocate(std::int64_t bytes) override;
  [[nodiscard]] DevicePtr allocate_named(std::int64_t bytes, const std::string& purpose) override;
  [[nodiscard]] DevicePtr allocate_exact(std::int64_t bytes, int alignment,
                                         const std::string& purpose) override;
  [[nodiscard]] DevicePtr allocate_unbacked(std::int64_t bytes, int alignment,
                                            const std::string& purpose) override;
  void free(DevicePtr address) noexcept override;
  /// Copies and fills throw Error(device) where they reach outside an allocation.
  void copy_to_device(DevicePtr to, const void* from, std::int64_t bytes) override;
  void copy_to_host(void* to, DevicePtr from, std::int64_t bytes) override;
  void fill(DevicePtr to, std::uint8_t value, std::int64_t bytes) override;
  void forget_writes(DevicePtr at, std::int64_t bytes) override;
  void guard_gaps(DevicePtr at, std::int64_t row_bytes, std::int64_t pitch_bytes) override;
  /// False with sparse memory, of which nobody knows what was written.
  bool use_checks(bool on) override;
  /// `code` is PTX text.
  [[nodiscard]] std::unique_ptr<LoadedModule> load(std::span<const std::byte> code,
                                                   const std::vector<std::string>& names,
                                                   DeviceStatus& status) override;
  [[nodiscard]] DeviceStatus prepare(const DeviceFunction& function,
                                     std::uint32_t smem_bytes) override;
  [[nodiscard]] DeviceStatus check_residency(const DeviceFunction& function,
                                             const LaunchGeometry& geometry) override;
  /// A finding of any kind makes the status `faulted`; its message is the first one's text.
  [[nodiscard]] DeviceStatus launch(const LaunchRequest& request, void* stream) noexcept override;
  /// At once, while launches are being recorded as well: what they read is in place then.
  [[nodiscard]] DeviceStatus copy_on_device(DevicePtr to, DevicePtr from, std::int64_t bytes,
                                            void* stream) noexcept override;
  [[nodiscard]] DeviceStatus synchronize() override { return {}; }
  /// Of each launch of the first run some clusters are run, as predict() does; the batch replays
  /// its predicted times, and all runs are taken to be alike.
  [[nodiscard]] std::unique_ptr<TimedBatch> record(
      const std::function<DeviceStatus(int run, void* stream)>& enqueue, int runs,
      DeviceStatus& status) override;

  /// Runs that many clusters of a launch, spread evenly over its grid (0: all of them), without
  /// checks, and counts what they do. Their results are written to memory as ever. A status that is
  /// not ok says why there are no facts.
  [[nodiscard]] emulated::FactSheet count(const LaunchRequest& request, int clusters,
                                          DeviceStatus& status);
  /// The same for the one cluster in the middle of the grid, with the trace of its first block.
  [[nodiscard]] emulated::FactSheet count_traced(const LaunchRequest& request,
                                                 emulated::BlockTrace& trace, DeviceStatus& status);

  /// How long a launch would take on the profile's GPU, by running the cluster in the middle of its
  /// grid twice, the second time with others that would share its multiprocessor. If that one
  /// accesses no memory, at least as long as those take that do.
  [[nodiscard]] emulated::Prediction predict(const LaunchRequest& request, DeviceStatus& status);

  /// Asks whether a grid is too large, much of whose end accesses none of the memory that the
  /// kernel got.
  [[nodiscard]] std::string take_remark() override;

  /// What the launches so far were found to do wrong, and forgets it.
  [[nodiscard]] std::vector<emulated::Report> take_reports();

 private:
  struct Recording;

  [[nodiscard]] const emulated::Allocation& piece(DevicePtr address, std::int64_t bytes,
                                                  const char* what) const;
  [[nodiscard]] static DeviceStatus wrong_argument(const LaunchRequest& request);
  /// All of the kernel's parameters: its argument and the values at launch.
  [[nodiscard]] static std::vector<std::byte> parameters_of(const LaunchRequest& request);
  [[nodiscard]] DeviceStatus launch_or_throw(const LaunchRequest& request);
  [[nodiscard]] emulated::LaunchState state_of(const LaunchRequest& request);
  /// What blocks of one multiprocessor read in common. `trace` is of one of them.
  [[nodiscard]] emulated::ReadSharing read_sharing(const LaunchRequest& request,
                                                   const emulated::BlockTrace& trace);
  /// Which clusters are run; none: all.
  using ChosenClusters =
      std::function<std::vector<emulated::Extent>(const emulated::LaunchState& state)>;
  /// Counts; each observer that counts passes on to what `more` makes, if anything.
  [[nodiscard]] emulated::FactSheet count_at(
      const LaunchRequest& request, const ChosenClusters& choose,
      const std::function<std::unique_ptr<emulated::Observer>()>& more, DeviceStatus& status);
  /// The blocks of a launch that access global memory, by a sample from the first to the last.
  struct BusyBlocks {
    std::optional<emulated::Extent> example;  ///< nothing: none does
    LaunchGeometry geometry;                  ///< with a grid of as many as there may be
  };
  [[nodiscard]] BusyBlocks busy_blocks(const LaunchRequest& request);
  [[nodiscard]] static DeviceStatus fault_status(const emulated::Report& report);
  /// Of a kernel's launches with checks.
  struct BlockUse {
    std::string kernel;
    std::uint64_t blocks = 0;  ///< of the largest launch
    std::uint64_t idle = 0;    ///< of these
    std::uint64_t fewest = 0;  ///< blocks of the smallest launch
    bool ends_idle = false;    ///< the largest launch
  };
  void note_use(const std::string& kernel, const LaunchGeometry& geometry,
                const emulated::GlobalShadow& shadow);
  [[nodiscard]] static DeviceStatus note(Recording& recording, const LaunchRequest& request);
  [[nodiscard]] DeviceStatus refusal_of(const LaunchGeometry& geometry,
                                        const emulated::LaunchState& state) const;

  /// Whether it is the second, fourth, ... launch of the kernel.
  [[nodiscard]] bool is_odd_launch(const emulated::LaunchState& state);

  EmulationOptions options_;
  std::atomic<bool> checks_;
  DeviceProfile profile_;
  DeviceInfo info_;
  /// While record() asks for launches: the one that it gives out as stream.
  std::atomic<Recording*> recording_ = nullptr;
  std::mutex record_mutex_;
  emulated::GlobalMemory memory_;
  std::mutex reports_mutex_;
  std::vector<emulated::Report> reports_;
  std::vector<BlockUse> block_use_;
  std::map<const emulated::Program*, bool> odd_launches_;  ///< of kernels that were launched
};

}  // namespace kiln
