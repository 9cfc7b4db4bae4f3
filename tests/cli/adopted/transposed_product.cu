// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#define TILE 16
__global__ void transpose(float* at, const float* a, int rows, int cols) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = a[y * cols + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  if (x < rows && y < cols) at[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void multiply(float* c, const float* at, const float* b, int rows, int cols, int width) {
  const int x = blockIdx.x * block_size_x + threadIdx.x,
            y = blockIdx.y * block_size_y + threadIdx.y;
  if (x >= width || y >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < cols; ++k) sum += at[k * rows + y] * b[k * width + x];
  c[y * width + x] = sum;
}
