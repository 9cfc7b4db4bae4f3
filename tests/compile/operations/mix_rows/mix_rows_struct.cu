// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   mix_rows_struct
//@ purpose    A config struct, a struct at launch, and the arguments that kernels get unasked.
//@ operation  mix_rows
//@ types      y=f32|f64 u=f32 weight=f32 bias=f32 list=s32 total=y
//@ launch     mix_rows_struct
//@   grid     blocks
//@   block    threads
//@   when     rows > 0

struct MixRowsConfig {  //@ config
  int threads;          //@ tune 32* 64
  bool biased;          //@ let has_bias
};

struct MixRowsLaunch {  //@ at launch
  int blocks;           //@ tune 1 3*       // that walk through the rows
  int last_row;         //@ let rows - 1
};

template <MixRowsConfig C, class Y, class U, class Weight, class Bias, class List, class Total>
__global__ void mix_rows_struct(Y* y, const U* u, const Weight* weight, const Bias* bias,
                                const List* list, Total* total, int rows, int cols, float factor,
                                double offset, int step, unsigned most, long long down,
                                unsigned long long up, const MixRowsLaunch launch) {
  __shared__ double sums[C.threads];
  const bool whole = most == 4000000000U && down == -5000000000LL && up == 5000000000ULL;
  if (!whole || launch.last_row != rows - 1) return;
  for (int row = blockIdx.x; row <= launch.last_row; row += launch.blocks) {
    double sum = 0.0;
    for (int col = threadIdx.x; col < cols; col += C.threads) {
      const size_t at = row * static_cast<size_t>(cols) + col;
      double mixed = factor * weight[col] * y[at] + (offset + step);
      mixed += u[list[row] * static_cast<size_t>(cols) + col];
      if constexpr (C.biased) mixed += bias[col];
      y[at] = static_cast<Y>(mixed);
      sum += mixed;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i < C.threads; ++i) sum += sums[i];
      total[row] = static_cast<Total>(sum);
    }
    __syncthreads();
  }
}
