// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/device/emulated_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/choice/residency.hpp"
#include "runtime/emulated/async/tensor_map.hpp"
#include "runtime/emulated/check/checker.hpp"
#include "runtime/emulated/device/emulated_module.hpp"
#include "templates/digest.hpp"
#include "templates/launch/tensor_maps.hpp"

namespace kiln {
namespace {

/// Some seconds of work: a product of matrices of 256^3, with its reference and a second run.
constexpr std::int64_t kMostProducts = std::int64_t{1} << 24;

/// A correct grid covers the elements with whole blocks. The last block or cluster along a
/// dimension may be idle, because kernels often skip elements at an edge. A longer idle tail, of
/// more than one in kFewestIdle, suggests a mistake such as a grid over rows where columns were
/// meant.
constexpr std::uint32_t kFewestIdle = 4;

/// `end`: behind the last block along each dimension that has anything to do.
bool ends_idle(const LaunchGeometry& geometry, const std::array<std::uint32_t, 3>& end) {
  for (std::size_t i = 0; i < end.size(); ++i) {
    const std::uint32_t idle = geometry.grid[i] - end[i];
    const bool is_tail = idle <= 1 || idle < geometry.cluster[i];
    if (!is_tail && std::uint64_t{idle} * kFewestIdle > geometry.grid[i]) return true;
  }
  return false;
}

/// What stands for the driver of results: predictions with a profile of one's own are no others',
/// and those by published figures are marked wherever the driver is shown.
std::string driver_of(const DeviceProfile& profile, const std::string& model) {
  const auto known = built_in_profiles();
  if (std::find(known.begin(), known.end(), model) != known.end()) {
    return profile.figures == "measured" ? "emulated" : kPublishedFigures;
  }
  const std::string own = "profile " + digest_hex(profile_text(profile)).substr(0, 8);
  if (profile.figures != "measured") return std::string(kPublishedFigures) + ", " + own;
  return "emulated by " + own;
}

DeviceInfo info_of(const DeviceProfile& profile, const std::string& model,
                   const EmulationOptions& options) {
  DeviceInfo info;
  info.spec = "emulated:" + model;
  info.limits = profile.limits;
  info.device_class = profile.device_class;
  info.driver = driver_of(profile, model);
  info.total_memory_bytes = options.memory_bytes;
  info.code = CodeKind::ptx;
  info.provenance = Provenance::modelled;
  info.most_products = kMostProducts;
  return info;
}

const std::shared_ptr<const emulated::Program>& program_of(const DeviceFunction& function) {
  return *static_cast<const std::shared_ptr<const emulated::Program>*>(function.handle);
}

/// How a block of that program asks for too much of `limits`; ok when a multiprocessor has room
/// for it.
DeviceStatus refusal(const DeviceLimits& limits, const emulated::Program& program,
                     std::uint64_t threads, std::uint64_t dynamic_smem) {
  const std::uint64_t smem = dynamic_smem + program.static_smem_bytes;
  const auto refused = [](std::string text) {
    return DeviceStatus{DeviceStatus::Code::out_of_resources, std::move(text), false};
  };
  if (smem > static_cast<std::uint64_t>(limits.smem_optin)) {
    return refused(
        fmt::format("a block requests {} bytes of shared memory, but this device allows at most {} "
                    "bytes per block",
                    smem, limits.smem_optin));
  }
  if (threads > static_cast<std::uint64_t>(limits.max_threads)) {
    return refused(fmt::format("{} threads exceed this device's limit for a block", threads));
  }
  // A launch of no threads is no matter of resources.
  const Occupancy fit = occupancy(limits, std::max(1, static_cast<int>(threads)), program.registers,
                                  static_cast<std::int64_t>(smem));
  if (fit.blocks_per_sm > 0) return {};
  return refused(
      fmt::format("a block of {} threads with {} registers each and {} bytes of shared memory does "
                  "not fit on a multiprocessor of this device; the limiting resource: {}",
                  threads, program.registers, smem, fit.limiter));
}

/// Whether the kernel asks for what only cooperative launches have, as grid.sync() does, which
/// traps without.
bool reads_grid_workspace(const emulated::Program& program) {
  return std::ranges::any_of(program.specials, [](const emulated::SpecialRow& special) {
    return special.use.special->name == "envreg1";
  });
}
constexpr std::string_view kNotCooperative =
    ". The kernel uses grid.sync(), which needs a cooperative launch. Next: add a "
    "line \"//@   cooperative\" below the kernel's launch line";

emulated::GridWorkspace make_grid_workspace(emulated::GlobalMemory& memory) {
  const std::array<std::uint32_t, 2> words{sizeof words, 0};
  emulated::AllocationWish wish;
  wish.bytes = sizeof words;
  wish.purpose = "the workspace of a cooperative launch";
  const emulated::Allocation& at = memory.allocate(wish);
  at.fill(at.address, 0, at.bytes);
  std::memcpy(at.host(at.address), words.data(), sizeof words);
  return {at.address, std::shared_ptr<const void>(&at, [&memory, address = at.address](
                                                           const void*) { memory.free(address); })};
}

std::size_t value_bytes(const LaunchRequest& request) {
  return request.geometry.values.count * sizeof(std::int32_t);
}

/// Of the argument and the values behind it, which `maps` follow at the next multiple of their
/// size.
std::size_t bytes_with_maps(std::size_t bytes, std::size_t maps) {
  constexpr std::size_t kSize = sizeof(emulated::TensorMap);
  return maps == 0 ? bytes : (bytes + kSize - 1) / kSize * kSize + maps * kSize;
}

emulated::TensorType tensor_type(DType type) {
  switch (type) {
    case DType::f16:
      return emulated::TensorType::f16;
    case DType::bf16:
      return emulated::TensorType::bf16;
    case DType::tf32:
      return emulated::TensorType::tf32;
    case DType::f32:
      return emulated::TensorType::f32;
    case DType::f64:
      return emulated::TensorType::f64;
    case DType::s32:
      return emulated::TensorType::s32;
    default:
      return emulated::TensorType::u8;
  }
}

emulated::TensorMap encoded(const TensorMapPlan& plan, const void* argument) {
  if (plan.rank == 0) return {};
  const BoundTensorMap bound = bind_tensor_map(plan, argument);
  emulated::TensorSpec spec;
  spec.type = tensor_type(plan.type);
  spec.rank = plan.rank;
  spec.address = bound.address;
  for (std::size_t i = 0; i < kMostMapRank; ++i) {
    spec.dims[i] = plan.extents[i];
    spec.box[i] = plan.box[i];
    if (i + 1 < kMostMapRank) spec.strides[i] = static_cast<std::uint64_t>(bound.strides[i]);
  }
  spec.swizzle = plan.swizzle == 128  ? emulated::Swizzle::bytes128
                 : plan.swizzle == 64 ? emulated::Swizzle::bytes64
                 : plan.swizzle == 32 ? emulated::Swizzle::bytes32
                                      : emulated::Swizzle::none;
  const emulated::EncodedTensorMap result = emulated::encode_tensor_map(spec);
  if (!result.fault.empty()) {
    throw Error(ErrorKind::device, fmt::format("a launch has an invalid tensor map: {} ({}). Next: "
                                               "correct the map line of the template.",
                                               result.fault, describe(plan)));
  }
  return result.map;
}

/// In words.
std::string parameter_count(const LaunchGeometry& geometry) {
  const std::size_t count = 1 + (geometry.values.count > 0 ? 1 : 0) + geometry.maps.count;
  return count == 1   ? "one parameter"
         : count == 2 ? "two parameters"
                      : fmt::format("{} parameters", count);
}

}  // namespace

EmulatedDevice::EmulatedDevice(const std::string& model, const EmulationOptions& options)
    : options_(options),
      checks_(options.checks),
      profile_(profile_of(model)),
      info_(info_of(profile_, model, options)),
      memory_(options.memory_bytes,
              options.sparse_memory ? emulated::Backing::sparse : emulated::Backing::painted) {}

EmulatedDevice::~EmulatedDevice() = default;

DevicePtr EmulatedDevice::allocate(std::int64_t bytes) {
  return memory_.allocate(bytes > 0 ? bytes : 1).address;
}

DevicePtr EmulatedDevice::allocate_named(std::int64_t bytes, const std::string& purpose) {
  emulated::AllocationWish wish;
  wish.bytes = bytes > 0 ? bytes : 1;
  wish.purpose = purpose;
  return memory_.allocate(wish).address;
}

DevicePtr EmulatedDevice::allocate_exact(std::int64_t bytes, int alignment,
                                         const std::string& purpose) {
  emulated::AllocationWish wish;
  wish.bytes = bytes > 0 ? bytes : 1;
  wish.alignment = alignment;
  wish.exact = true;
  wish.purpose = purpose;
  return memory_.allocate(wish).address;
}

DevicePtr EmulatedDevice::allocate_unbacked(std::int64_t bytes, int alignment,
                                            const std::string& purpose) {
  emulated::AllocationWish wish;
  wish.bytes = bytes > 0 ? bytes : 1;
  wish.alignment = alignment;
  wish.exact = true;
  wish.unbacked = true;
  wish.purpose = purpose;
  return memory_.allocate(wish).address;
}

void EmulatedDevice::free(DevicePtr address) noexcept {
  memory_.free(address);
}

const emulated::Allocation& EmulatedDevice::piece(DevicePtr address, std::int64_t bytes,
                                                  const char* what) const {
  const emulated::Allocation* at = memory_.find(address);
  if (at == nullptr || !at->holds(address, bytes)) {
    throw Error(ErrorKind::device,
                fmt::format("{}: cannot {} {} bytes at address {:#x}, because these bytes are not "
                            "inside one allocation. Next: check the address and the size.",
                            info_.spec, what, bytes, address));
  }
  return *at;
}

void EmulatedDevice::copy_to_device(DevicePtr to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  const emulated::Allocation& at = piece(to, bytes, "write");
  std::memcpy(at.host(to), from, static_cast<std::size_t>(bytes));
  if (at.written) {
    std::memset(at.written.get() + (to - at.address), 1, static_cast<std::size_t>(bytes));
  }
}

void EmulatedDevice::copy_to_host(void* to, DevicePtr from, std::int64_t bytes) {
  if (bytes == 0) return;
  std::memcpy(to, piece(from, bytes, "read").host(from), static_cast<std::size_t>(bytes));
}

void EmulatedDevice::fill(DevicePtr to, std::uint8_t value, std::int64_t bytes) {
  if (bytes == 0) return;
  piece(to, bytes, "fill").fill(to, value, bytes);
}

void EmulatedDevice::forget_writes(DevicePtr at, std::int64_t bytes) {
  if (bytes == 0) return;
  piece(at, bytes, "forget the writes to").forget_writes(at, static_cast<std::uint64_t>(bytes));
}

void EmulatedDevice::guard_gaps(DevicePtr at, std::int64_t row_bytes, std::int64_t pitch_bytes) {
  memory_.guard_gaps(at, {row_bytes, pitch_bytes});
}

bool EmulatedDevice::use_checks(bool on) {
  if (options_.sparse_memory) return false;
  checks_ = on;
  return true;
}

std::unique_ptr<LoadedModule> EmulatedDevice::load(std::span<const std::byte> code,
                                                   const std::vector<std::string>& names,
                                                   DeviceStatus& status) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
    auto module = std::make_unique<emulated::EmulatedModule>(text, names, memory_);
    status = {};
    return module;
  } catch (const Error& error) {
    status = {DeviceStatus::Code::launch_failed, error.what(), false};
    return nullptr;
  }
}

DeviceStatus EmulatedDevice::prepare(const DeviceFunction& function, std::uint32_t smem_bytes) {
  return refusal(info_.limits, *program_of(function), 1, smem_bytes);
}

DeviceStatus EmulatedDevice::launch(const LaunchRequest& request, void* stream) noexcept {
  try {
    if (DeviceStatus wrong = wrong_argument(request); !wrong.ok()) return wrong;
    Recording* const recording = recording_;
    if (stream != nullptr && stream == recording) return note(*recording, request);
    return launch_or_throw(request);
  } catch (const std::exception& error) {
    return {DeviceStatus::Code::launch_failed, error.what(), false};
  }
}

DeviceStatus EmulatedDevice::copy_on_device(DevicePtr to, DevicePtr from, std::int64_t bytes,
                                            void* /*stream*/) noexcept {
  try {
    if (bytes > 0) copy_to_device(to, piece(from, bytes, "read").host(from), bytes);
    return {};
  } catch (const std::exception& error) {
    return {DeviceStatus::Code::launch_failed, error.what(), false};
  }
}

DeviceStatus EmulatedDevice::check_residency(const DeviceFunction& function,
                                             const LaunchGeometry& geometry) {
  if (!geometry.cooperative) return {};
  const auto& program = *program_of(function);
  const auto threads =
      std::min<std::uint64_t>(count_of(geometry.block), info_.limits.max_threads + 1);
  const Occupancy fit = occupancy(info_.limits, static_cast<int>(threads), program.registers,
                                  std::int64_t{geometry.smem_bytes} + program.static_smem_bytes);
  const std::uint64_t blocks =
      static_cast<std::uint64_t>(info_.limits.sm_count) * static_cast<unsigned>(fit.blocks_per_sm);
  return residency_status(geometry, blocks);
}

emulated::LaunchState EmulatedDevice::state_of(const LaunchRequest& request) {
  const auto& program = program_of(request.function);
  const auto& geometry = request.geometry;
  emulated::LaunchState state;
  state.program = program;
  state.memory = &memory_;
  state.grid = {geometry.grid[0], geometry.grid[1], geometry.grid[2]};
  state.block = {geometry.block[0], geometry.block[1], geometry.block[2]};
  state.cluster = {geometry.cluster[0], geometry.cluster[1], geometry.cluster[2]};
  // As on a GPU, a launch that says nothing of clusters gets those that the kernel states.
  if (state.cluster.count() == 1 && program->cluster[0] != 0) {
    state.cluster = emulated::required_cluster(*program);
  }
  state.dynamic_smem_bytes = geometry.smem_bytes;
  state.overlaps = geometry.overlaps;
  state.allowed = geometry.allowed;
  const DeviceLimits& limits = info_.limits;
  state.sm_count = static_cast<std::uint32_t>(limits.sm_count);
  const auto threads = std::min<std::uint64_t>(state.block.count(), limits.max_threads + 1);
  const Occupancy fit = occupancy(limits, static_cast<int>(threads), program->registers,
                                  std::int64_t{geometry.smem_bytes} + program->static_smem_bytes);
  state.resident_blocks = std::uint64_t{state.sm_count} * static_cast<unsigned>(fit.blocks_per_sm);
  state.parameters = parameters_of(request);
  if (geometry.cooperative) {
    state.grid_workspace = make_grid_workspace(memory_);
  }
  return state;
}

DeviceStatus EmulatedDevice::fault_status(const emulated::Report& report) {
  return {DeviceStatus::Code::faulted, report.describe(), false, !report.ended};
}

DeviceStatus EmulatedDevice::refusal_of(const LaunchGeometry& geometry,
                                        const emulated::LaunchState& state) const {
  DeviceStatus refused =
      refusal(info_.limits, *state.program, state.block.count(), state.dynamic_smem_bytes);
  return refused.ok() ? residency_status(geometry, state.resident_blocks) : refused;
}

/// The kernel reads as many bytes as its parameters take, wherever the argument ends.
DeviceStatus EmulatedDevice::wrong_argument(const LaunchRequest& request) {
  const auto& program = *program_of(request.function);
  const std::size_t maps = request.geometry.maps.count;
  const std::size_t given = bytes_with_maps(request.argument_bytes + value_bytes(request), maps);
  const bool too_short = program.parameter_bytes < bytes_with_maps(value_bytes(request), maps) ||
                         (maps > 0 && request.argument_bytes == 0);
  if (!too_short && (request.argument_bytes == 0 || given == program.parameter_bytes)) return {};
  if (!request.parameters.empty()) {
    return {DeviceStatus::Code::launch_failed,
            fmt::format(
                "the kernel's parameters take {} bytes, but the {} arguments of the launch take {} "
                "bytes. Next: make the 'args' line of the launch match the kernel's parameters.",
                program.parameter_bytes, request.parameters.size(), given),
            false};
  }
  return {
      DeviceStatus::Code::launch_failed,
      fmt::format(
          "the kernel's parameters take {} bytes, but the launch passes {} bytes. Next: declare "
          "the kernel with {}, passed by value: the struct of the operation's arguments{}{}.",
          program.parameter_bytes, given, parameter_count(request.geometry),
          value_bytes(request) == 0 ? "" : ", then its launch struct",
          maps == 0 ? "" : ", then its tensor maps (const __grid_constant__ kiln::TensorMap)"),
      false};
}

std::vector<std::byte> EmulatedDevice::parameters_of(const LaunchRequest& request) {
  std::vector<std::byte> parameters(program_of(request.function)->parameter_bytes);
  // Their address is null then, which memcpy() must not get, not even for no bytes.
  if (parameters.empty()) return parameters;
  const TensorMapPlans& maps = request.geometry.maps;
  const std::size_t behind =
      maps.count > 0 ? request.argument_bytes : parameters.size() - value_bytes(request);
  std::copy_n(static_cast<const std::byte*>(request.arguments), behind, parameters.begin());
  std::memcpy(parameters.data() + behind, request.geometry.values.items.data(),
              value_bytes(request));
  for (std::size_t i = 0; i < maps.count; ++i) {
    const emulated::TensorMap map = encoded(maps.items[i], request.arguments);
    std::memcpy(parameters.data() + parameters.size() - (maps.count - i) * sizeof(map), &map,
                sizeof(map));
  }
  return parameters;
}

DeviceStatus EmulatedDevice::launch_or_throw(const LaunchRequest& request) {
  emulated::LaunchState state = state_of(request);
  if (DeviceStatus refused = refusal_of(request.geometry, state); !refused.ok()) {
    return refused;
  }
  const bool lacks_grid = reads_grid_workspace(*state.program) && !state.grid_workspace.is_there();
  emulated::LaunchOptions options;
  options.host_threads = options_.host_threads;
  options.timeout_s = options_.timeout_s;
  // A store is compared with what another block has stored, which so has happened.
  if (allows(request.geometry.allowed, Allowed::race_same_value)) options.host_threads = 1;
  // What is read there and should not matter differs from launch to launch, so that results which
  // depend on it differ between the runs of a verification.
  if (allows(request.geometry.allowed, Allowed::uninitialised_unused) && is_odd_launch(state)) {
    state.fresh = std::byte{0x4d};
  }
  std::shared_ptr<emulated::GlobalShadow> shadow;
  if (checks_ && request.checked) {
    shadow = std::make_shared<emulated::GlobalShadow>();
    options.make_observer = [shadow] { return std::make_unique<emulated::Checker>(shadow); };
  }
  const std::string kernel = state.program->name;
  emulated::LaunchResult result = emulated::run_grid(std::move(state), options);
  DeviceStatus status;
  if (result.fault && result.fault->finding == emulated::Finding::trap && lacks_grid) {
    result.fault->text += kNotCooperative;
  }
  if (result.fault) {
    status = fault_status(*result.fault);
    result.reports.insert(result.reports.begin(), *result.fault);
  } else if (!result.reports.empty()) {
    status = fault_status(result.reports.front());
  }
  const std::scoped_lock lock(reports_mutex_);
  for (auto& report : result.reports) reports_.push_back(std::move(report));
  if (shadow && !result.fault) note_use(kernel, request.geometry, *shadow);
  return status;
}

void EmulatedDevice::note_use(const std::string& kernel, const LaunchGeometry& geometry,
                              const emulated::GlobalShadow& shadow) {
  const emulated::GlobalShadow::Busy busy = shadow.busy();
  const std::uint64_t blocks =
      std::uint64_t{geometry.grid[0]} * geometry.grid[1] * geometry.grid[2];
  auto known = std::ranges::find(block_use_, kernel, &BlockUse::kernel);
  if (known == block_use_.end()) {
    known = block_use_.insert(known, {kernel, 0, 0, blocks, false});
  }
  known->fewest = std::min(known->fewest, blocks);
  if (blocks <= known->blocks) return;
  known->blocks = blocks;
  known->idle = blocks - busy.blocks;
  known->ends_idle = ends_idle(geometry, busy.end);
}

std::string EmulatedDevice::take_remark() {
  const std::scoped_lock lock(reports_mutex_);
  for (const BlockUse& launch : std::exchange(block_use_, {})) {
    // A grid that is the same for all sizes is one of blocks that take what work there is.
    if (!launch.ends_idle || launch.fewest == launch.blocks) continue;
    return fmt::format(
        "{} of {} blocks of {} neither read nor write global memory; the grid may be too large",
        launch.idle, launch.blocks, emulated::plain_variable_name(launch.kernel));
  }
  return "";
}

bool EmulatedDevice::is_odd_launch(const emulated::LaunchState& state) {
  const std::scoped_lock lock(reports_mutex_);
  bool& odd = odd_launches_[state.program.get()];
  odd = !odd;
  return !odd;
}

std::vector<emulated::Report> EmulatedDevice::take_reports() {
  const std::scoped_lock lock(reports_mutex_);
  return std::exchange(reports_, {});
}

}  // namespace kiln
