// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/graph_batch.hpp"

#include "runtime/cuda/cuda_status.hpp"

namespace kiln {

std::unique_ptr<TimedBatch> GraphBatch::record(
    const std::function<DeviceStatus(int run, void* stream)>& enqueue, int runs,
    const PrimaryContext& context, cudaStream_t stream, DeviceStatus& status) {
  // Thread-local: another thread of the application may go on calling what a capture forbids.
  status = to_status(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  if (!status.ok()) return nullptr;
  cudaGraph_t graph = nullptr;
  try {
    for (int run = 0; run < runs && status.ok(); ++run) status = enqueue(run, stream);
  } catch (...) {
    if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) {
      static_cast<void>(cudaGraphDestroy(graph));
    }
    throw;
  }
  // The capture must end even if a launch was refused; the refusal is the better message.
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  if (status.ok()) status = to_status(ended);
  auto batch = std::make_unique<GraphBatch>(context, stream);
  if (status.ok()) status = to_status(batch->instantiate(graph));
  if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
  // A refused launch leaves its error behind, for the thread's next CUDA call to pick up.
  if (!status.ok()) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return batch;
}

GraphBatch::~GraphBatch() {
  const CurrentDevice current(context_);
  if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
  if (begin_ != nullptr) static_cast<void>(cudaEventDestroy(begin_));
  if (end_ != nullptr) static_cast<void>(cudaEventDestroy(end_));
}

cudaError_t GraphBatch::instantiate(cudaGraph_t graph) {
  if (const auto error = cudaGraphInstantiate(&executable_, graph, 0); error != cudaSuccess) {
    return error;
  }
  if (const auto error = cudaEventCreate(&begin_); error != cudaSuccess) return error;
  if (const auto error = cudaEventCreate(&end_); error != cudaSuccess) return error;
  return cudaGraphUpload(executable_, stream_);
}

DeviceStatus GraphBatch::replay(double& total_ns) {
  const CurrentDevice current(context_);
  if (!warm_) {
    // The first replay pays for cold instruction caches and lazy set-up, which no later one does.
    double ignored_ns = 0.0;
    if (const DeviceStatus status = to_status(run(ignored_ns)); !status.ok()) return status;
    warm_ = true;
  }
  return to_status(run(total_ns));
}

cudaError_t GraphBatch::run(double& total_ns) {
  if (const auto error = cudaEventRecord(begin_, stream_); error != cudaSuccess) return error;
  if (const auto error = cudaGraphLaunch(executable_, stream_); error != cudaSuccess) return error;
  if (const auto error = cudaEventRecord(end_, stream_); error != cudaSuccess) return error;
  if (const auto error = cudaEventSynchronize(end_); error != cudaSuccess) return error;
  float elapsed_ms = 0.0F;
  const cudaError_t error = cudaEventElapsedTime(&elapsed_ms, begin_, end_);
  total_ns = static_cast<double>(elapsed_ms) * 1e6;
  return error;
}

}  // namespace kiln
