// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda_status.hpp"

#include <fmt/format.h>

#include "kiln/error.hpp"

namespace kiln {
namespace {

using Code = DeviceStatus::Code;

/// Errors after which CUDA answers every call of the process with the same error.
bool loses_context(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
    case cudaErrorMpsClientTerminated:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace

DeviceStatus to_status(cudaError_t error) {
  if (error == cudaSuccess) return {};
  std::string message = fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
  if (loses_context(error)) return {Code::faulted, std::move(message), true};
  // The thread's last error belongs to the application, and this one has been reported.
  static_cast<void>(cudaGetLastError());
  switch (error) {
    case cudaErrorLaunchOutOfResources:
    case cudaErrorMemoryAllocation:
    case cudaErrorCooperativeLaunchTooLarge:
      return {Code::out_of_resources, std::move(message), false};
    default:
      return {Code::launch_failed, std::move(message), false};
  }
}

void check_cuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw Error(ErrorKind::device, fmt::format("{} failed: {}", what, to_status(error).message));
}

}  // namespace kiln
