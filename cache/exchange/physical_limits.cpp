// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/physical_limits.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "templates/operation/operation.hpp"

namespace kiln {
namespace {

/// Above the boost clock of every GPU so far: the highest are GeForce cards with 2.6 GHz on paper
/// and 3.0 GHz at work.
constexpr double kMostClockHz = 3.5e9;
/// What a multiprocessor can take from L2 in a cycle is 64 bytes on Volta to Hopper.
constexpr double kMostBytesPerCycle = 256.0;
/// One access to global memory takes over 200 cycles.
constexpr double kLeastNs = 50.0;
/// For a device that does not report its number of multiprocessors; the largest number active in
/// any GPU announced so far is 160 (B300).
constexpr int kMostMultiprocessors = 1024;
/// Architectures after those below may have wider units.
constexpr double kUnknownFactor = 8.0;

/// Dense operations of one multiprocessor in a cycle, a multiply and an add counted as two: rates
/// of NVIDIA's architecture papers divided by multiprocessors and clock. H100 (132 SMs, 1.83 GHz):
/// 989 TFLOP/s f16 make 4,096, 1,979 TFLOP/s fp8 8,192, 495 TFLOP/s tf32 2,048, 67 TFLOP/s f64 256.
/// Blackwell (B200: 148 SMs, 1.85 GHz, 2,250 TFLOP/s f16) has twice that, f64 excepted. f32 and f64
/// are assumed to be as fast as emulating them on narrower units might become.
double most_flops_per_cycle(DType type) {
  switch (type) {
    case DType::f64:
    case DType::cf64:
      return 1024.0;
    case DType::f32:
    case DType::cf32:
    case DType::tf32:
      return 4096.0;
    case DType::f16:
    case DType::bf16:
      return 8192.0;
    case DType::e4m3:
    case DType::e5m2:
    case DType::s8:
    case DType::u8:
    case DType::s32:
    case DType::s16:
    case DType::u16:
    case DType::u32:
    case DType::s64:
    case DType::u64:
      return 16384.0;
    case DType::s4:
    case DType::u4:
      return 32768.0;
    case DType::b1:
    case DType::b1_xor:
      return 131072.0;
  }
  return 16384.0;
}

/// "sm_90a" to 90; 0 for anything else.
int capability_of(std::string_view arch) {
  int capability = 0;
  if (arch.starts_with("sm_")) {
    std::from_chars(arch.data() + 3, arch.data() + arch.size(), capability);
  }
  return capability;
}

bool is_known(const DeviceClass& device) {
  constexpr int kNewestKnown = 121;
  const int capability = capability_of(device.arch);
  return capability > 0 && capability <= kNewestKnown && device.sm_count > 0 &&
         device.sm_count <= kMostMultiprocessors;
}

}  // namespace

double least_time_ns(const Problem& problem, const DeviceClass& device) {
  const Operation* operation = find_operation(problem.operation);
  if (operation == nullptr) return kLeastNs;
  double flops_per_cycle = 0.0;
  // The operand of the fastest type decides: a kernel may compute in any of theirs.
  for (const OperandSpec& operand : operation->operands) {
    const auto type = problem.type(operand.name);
    flops_per_cycle = std::max(flops_per_cycle, most_flops_per_cycle(type.value_or(DType::s8)));
  }
  const bool known = is_known(device);
  const double cycles_per_second = kMostClockHz * (known ? device.sm_count : kMostMultiprocessors) *
                                   (known ? 1.0 : kUnknownFactor);
  const double compute_s = operation->flops(problem) / (flops_per_cycle * cycles_per_second);
  const double transfer_s = operation->bytes(problem) / (kMostBytesPerCycle * cycles_per_second);
  return std::max({kLeastNs, 1e9 * compute_s, 1e9 * transfer_s});
}

}  // namespace kiln
