// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/emulated/async/tensor_map.hpp"
#include "runtime/emulated/device/emulated_device.hpp"

namespace kiln::testing {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T>
std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// A tensor map of one of the buffers: `spec.address` is an offset into it.
struct PairMap {
  int buffer = 0;  ///< of the inputs; -1: the output
  emulated::TensorSpec spec;
};

/// One launch of a kernel `k` that takes a PairArgs by value.
struct PairRun {
  std::string source;  ///< after kPairPrelude
  LaunchGeometry geometry;
  std::vector<Bytes> inputs;  ///< at most four
  std::size_t out_bytes = 0;  ///< the output begins as bytes 0xcd
  Bytes out;                  ///< or as these
  std::array<int, 4> numbers{};
  std::vector<PairMap> maps;  ///< at most three
};

/// Launches of one source's kernels, one after the other, on the same memory.
struct PairProgram {
  /// Arguments of every launch, for the addresses of the inputs, the output and the workspace.
  using Argument = std::function<Bytes(const std::vector<DevicePtr>& inputs, DevicePtr out,
                                       DevicePtr workspace)>;
  std::string source;
  std::vector<std::string> names;  ///< expressions, one for each launch
  std::vector<LaunchGeometry> launches;
  std::int64_t workspace_bytes = 0;  ///< not written before
  std::vector<Bytes> inputs;
  std::size_t out_bytes = 0;  ///< the output begins as bytes 0xcd
  Argument argument;
};

/// The results of both devices.
struct PairResult {
  Bytes gpu;
  Bytes emulated;
};

/// The argument's and the maps' types, for a kernel's source; includes cuda_fp16.h.
extern const char* const kPairPrelude;

/// Runs kernels on the first GPU, as machine code, and on the emulated one, as the PTX that NVRTC
/// makes of the same source with the same options, every check on. Skips without a GPU. Where
/// KILN_DEVICE names an emulated one it is compared with itself, which shows that the programs run.
class EmulatorPair : public ::testing::Test {
 protected:
  void SetUp() override;

  /// Fails the test, and returns nothing, if a device reports anything.
  std::optional<PairResult> run(const PairRun& run);
  /// The same with arguments of any type.
  std::optional<PairResult> run(const PairProgram& program);

  /// Expects both devices to end the launch, the GPU with an illegal instruction, after which it is
  /// lost to this process, the emulated one with that finding.
  void expect_refusal(const PairRun& run, const std::string& finding);

  [[nodiscard]] const DeviceLimits& limits() const { return gpu().info().limits; }
  [[nodiscard]] Device& gpu() const { return *shared_->gpu; }

 private:
  /// Opened once for all tests.
  struct Shared {
    std::unique_ptr<Device> gpu;
    std::unique_ptr<EmulatedDevice> emulated;
    std::unique_ptr<Compiler> compiler;
    std::string why_not;
  };
  static Shared open();
  static Shared* shared_;
};

}  // namespace kiln::testing
