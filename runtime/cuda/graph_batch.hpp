// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/cuda/current_device.hpp"
#include "runtime/device.hpp"

namespace kiln {

/// A batch of launches captured into one CUDA graph, so that the time between two launches is the
/// GPU's and not the host's. It must not outlive the device object that recorded it.
class GraphBatch : public TimedBatch {
 public:
  [[nodiscard]] static std::unique_ptr<TimedBatch> record(
      const std::function<DeviceStatus(int run, void* stream)>& enqueue, int runs,
      const PrimaryContext& context, cudaStream_t stream, DeviceStatus& status);

  GraphBatch(const PrimaryContext& context, cudaStream_t stream)
      : context_(context), stream_(stream) {}
  ~GraphBatch() override;
  GraphBatch(const GraphBatch&) = delete;
  GraphBatch& operator=(const GraphBatch&) = delete;

  [[nodiscard]] DeviceStatus replay(double& total_ns) override;

 private:
  [[nodiscard]] cudaError_t instantiate(cudaGraph_t graph);
  [[nodiscard]] cudaError_t run(double& total_ns);

  const PrimaryContext& context_;
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  bool warm_ = false;
};

}  // namespace kiln
