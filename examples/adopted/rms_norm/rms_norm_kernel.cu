// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   rms_norm_kernel
//@ purpose    One block computes one row. The kernel's text is unchanged.
//@ operation  rms_norm
//@ tune       BLOCK = 32 64 128 256* 512 1024
//@ require    BLOCK <= device.max_threads
//@ launch     rms_norm
//@   grid     rows
//@   block    BLOCK
//@   args     y, x, w, cols, eps

extern "C" __global__ void rms_norm(float* y, const float* x, const float* w, int cols, float eps) {
  __shared__ float sums[BLOCK];
  const float* row = x + blockIdx.x * (size_t)cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += BLOCK) sum += row[i] * row[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const float scale = rsqrtf(sums[0] / cols + eps);
  float* to = y + blockIdx.x * (size_t)cols;
  for (int i = threadIdx.x; i < cols; i += BLOCK) to[i] = row[i] * scale * w[i];
}
