// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/emulator_pair.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>

#include "kiln/error.hpp"
#include "runtime/emulated/device/make_device.hpp"

namespace kiln::testing {

const char* const kPairPrelude = R"(
#include <cuda_fp16.h>
struct alignas(64) Map { unsigned char bytes[128]; };
struct Args { void* in[4]; void* out; int numbers[4]; Map maps[3]; };
typedef unsigned long long u64;
typedef long long s64;
typedef unsigned u32;
typedef unsigned short u16;
__device__ __forceinline__ u32 smem(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void mbar_init(void* bar, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(smem(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_expect(void* bar, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(smem(bar)), "r"(bytes) :
      "memory");
}
__device__ __forceinline__ void mbar_wait(void* bar, int phase) {
  asm volatile("{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
               "@p bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(smem(bar)), "r"(phase) : "memory");
}
__device__ __forceinline__ void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
)";

namespace {

struct PairArgs {
  DevicePtr in[4];
  DevicePtr out;
  int numbers[4];
  alignas(64) std::byte maps[3][128];
};

Bytes emulated_map(const emulated::TensorSpec& spec) {
  const auto encoded = emulated::encode_tensor_map(spec);
  EXPECT_EQ(encoded.fault, "");
  Bytes bytes(128);
  std::memcpy(bytes.data(), &encoded.map, 128);
  return bytes;
}

template <class Function>
Function* driver_function(const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found),
            cudaSuccess);
  return reinterpret_cast<Function*>(entry);
}

Bytes cuda_map(const emulated::TensorSpec& spec) {
  alignas(64) CUtensorMap map{};
  const auto type = static_cast<CUtensorMapDataType>(spec.type);
  const auto interleave = static_cast<CUtensorMapInterleave>(spec.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(spec.swizzle);
  const auto promotion = static_cast<CUtensorMapL2promotion>(spec.promotion);
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(spec.fill);
  const auto rank = static_cast<cuuint32_t>(spec.rank);
  auto* const address = reinterpret_cast<void*>(spec.address);
  // The driver's integers are unsigned long long, not long.
  std::array<cuuint64_t, 5> dims{};
  std::array<cuuint64_t, 4> strides{};
  std::copy(spec.dims.begin(), spec.dims.end(), dims.begin());
  std::copy(spec.strides.begin(), spec.strides.end(), strides.begin());
  CUresult result = CUDA_ERROR_UNKNOWN;
  if (spec.mode == emulated::TensorMode::tiled) {
    const auto encode = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    result = encode(&map, type, rank, address, dims.data(), strides.data(), spec.box.data(),
                    spec.element_strides.data(), interleave, swizzle, promotion, fill);
  } else {
    const auto encode =
        driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
    result = encode(&map, type, rank, address, dims.data(), strides.data(), spec.lower.data(),
                    spec.upper.data(), spec.channels, spec.pixels, spec.element_strides.data(),
                    interleave, swizzle, promotion, fill);
  }
  EXPECT_EQ(result, CUDA_SUCCESS);
  Bytes bytes(128);
  std::memcpy(bytes.data(), &map, 128);
  return bytes;
}

/// Device memory for as long as this lives.
class Buffer {
 public:
  Buffer(Device& device, const Bytes& bytes)
      : device_(device), at_(device.allocate(std::max<std::int64_t>(16, std::ssize(bytes)))) {
    if (!bytes.empty()) device.copy_to_device(at_, bytes.data(), std::ssize(bytes));
  }
  ~Buffer() { device_.free(at_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] DevicePtr get() const { return at_; }

 private:
  Device& device_;
  DevicePtr at_;
};

bool is_emulated(const Device& device) {
  return device.info().provenance == Provenance::modelled;
}

/// What both devices are given, once compiled.
struct Runnable {
  CompileRequest request;
  std::vector<LaunchGeometry> launches;
  std::int64_t workspace_bytes = 0;
  std::vector<Bytes> inputs;
  Bytes out;
  std::function<Bytes(Device&, const std::vector<DevicePtr>&, DevicePtr, DevicePtr)> argument;
};

Bytes pair_argument(const PairRun& run, Device& device, const std::vector<DevicePtr>& inputs,
                    DevicePtr out) {
  PairArgs args{};
  std::copy(inputs.begin(), inputs.end(), args.in);
  args.out = out;
  std::copy(run.numbers.begin(), run.numbers.end(), args.numbers);
  for (std::size_t i = 0; i < run.maps.size(); ++i) {
    emulated::TensorSpec spec = run.maps[i].spec;
    const int buffer = run.maps[i].buffer;
    spec.address += buffer < 0 ? out : inputs.at(static_cast<std::size_t>(buffer));
    const Bytes map = is_emulated(device) ? emulated_map(spec) : cuda_map(spec);
    std::memcpy(args.maps[i], map.data(), map.size());
  }
  Bytes bytes(sizeof args);
  std::memcpy(bytes.data(), &args, sizeof args);
  return bytes;
}

Bytes unwritten(std::size_t bytes) {
  return Bytes(bytes, std::byte{0xcd});
}

Runnable runnable(const PairRun& run, const std::string& arch) {
  Runnable result;
  result.request.source = kPairPrelude + run.source;
  result.request.plain_names = {"k"};
  result.request.arch = arch;
  result.launches = {run.geometry};
  result.inputs = run.inputs;
  result.out = run.out.empty() ? unwritten(run.out_bytes) : run.out;
  result.argument = [&run](Device& device, const auto& inputs, DevicePtr out, DevicePtr) {
    return pair_argument(run, device, inputs, out);
  };
  return result;
}

Runnable runnable(const PairProgram& program, const std::string& arch) {
  Runnable result;
  result.request.source = program.source;
  result.request.name_expressions = program.names;
  result.request.arch = arch;
  result.launches = program.launches;
  result.workspace_bytes = program.workspace_bytes;
  result.inputs = program.inputs;
  result.out = unwritten(program.out_bytes);
  result.argument = [&program](Device&, const auto& inputs, DevicePtr out, DevicePtr workspace) {
    return program.argument(inputs, out, workspace);
  };
  return result;
}

/// Throws std::runtime_error with what the device reports.
Bytes run_on(Device& device, const Runnable& run, const CompileResult& code) {
  const auto check = [&](const DeviceStatus& status) {
    if (!status.ok()) {
      throw std::runtime_error((is_emulated(device) ? "emulated: " : "GPU: ") + status.message);
    }
  };
  DeviceStatus status;
  const auto module = device.load(code.cubin, code.lowered_names, status);
  check(status);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<DevicePtr> addresses;
  for (const Bytes& input : run.inputs) {
    buffers.push_back(std::make_unique<Buffer>(device, input));
    addresses.push_back(buffers.back()->get());
  }
  const Buffer output(device, run.out);
  const DevicePtr workspace =
      run.workspace_bytes > 0 ? device.allocate(run.workspace_bytes) : DevicePtr{};
  const Bytes argument = run.argument(device, addresses, output.get(), workspace);
  for (std::size_t i = 0; i < run.launches.size(); ++i) {
    const LaunchGeometry& geometry = run.launches[i];
    if (geometry.left_out()) continue;
    const DeviceFunction function = module->functions()[i];
    check(device.prepare(function, geometry.smem_bytes));
    check(
        device.launch({function, geometry, argument.data(), argument.size()}, device.own_stream()));
  }
  check(device.synchronize());
  Bytes out = run.out;
  device.copy_to_host(out.data(), output.get(), std::ssize(out));
  if (workspace != DevicePtr{}) device.free(workspace);
  return out;
}

CompileResult compile_for(Device& device, Compiler& compiler, CompileRequest request) {
  request.code = device.info().code;
  return compiler.compile(request);
}

std::optional<PairResult> run_on_both(Device& gpu, Device& emulated, Compiler& compiler,
                                      const Runnable& run) {
  auto ptx =
      std::async(std::launch::async, [&] { return compile_for(emulated, compiler, run.request); });
  const auto code = compile_for(gpu, compiler, run.request);
  const auto text = ptx.get();
  if (!code.ok || !text.ok) {
    ADD_FAILURE() << code.log << text.log;
    return std::nullopt;
  }
  try {
    PairResult result;
    result.emulated = run_on(emulated, run, text);
    result.gpu = run_on(gpu, run, code);
    return result;
  } catch (const std::runtime_error& error) {
    ADD_FAILURE() << error.what();
    return std::nullopt;
  }
}

}  // namespace

EmulatorPair::Shared* EmulatorPair::shared_ = nullptr;

EmulatorPair::Shared EmulatorPair::open() {
  Shared shared;
  try {
    emulated::register_emulator();
    const char* const spec = std::getenv("KILN_DEVICE");
    shared.gpu = open_device(spec == nullptr ? "cuda:0" : spec);
    if (shared.gpu->info().limits.sm != 90) {
      shared.why_not = "the emulated GPU is one of compute capability 9.0, and " +
                       shared.gpu->info().device_class.name + " is not";
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::device) throw;
    shared.why_not = error.what();
    return shared;
  }
  EmulationOptions options;
  options.checks = true;
  shared.emulated = std::make_unique<EmulatedDevice>("h200", options);
  shared.compiler = make_nvrtc_compiler();
  return shared;
}

void EmulatorPair::SetUp() {
  // Never closed: the process ends with the tests.
  if (shared_ == nullptr) shared_ = new Shared(open());
  if (!shared_->why_not.empty()) GTEST_SKIP() << shared_->why_not;
}

std::optional<PairResult> EmulatorPair::run(const PairRun& run) {
  return run_on_both(gpu(), *shared_->emulated, *shared_->compiler, runnable(run, limits().arch));
}

std::optional<PairResult> EmulatorPair::run(const PairProgram& program) {
  return run_on_both(gpu(), *shared_->emulated, *shared_->compiler,
                     runnable(program, limits().arch));
}

void EmulatorPair::expect_refusal(const PairRun& run, const std::string& finding) {
  const Runnable both = runnable(run, limits().arch);
  const auto refusal = [&](Device& device) -> std::string {
    const auto code = compile_for(device, *shared_->compiler, both.request);
    EXPECT_TRUE(code.ok) << code.log;
    try {
      run_on(device, both, code);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(refusal(*shared_->emulated), ::testing::HasSubstr(finding));
  EXPECT_THAT(refusal(gpu()), ::testing::HasSubstr("illegal instruction"));
}

}  // namespace kiln::testing
