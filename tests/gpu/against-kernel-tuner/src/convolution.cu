// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ operation  convolution17
//@ purpose    An image weighted with a filter of 17 x 17 that slides over it
//@ size       height 1..65536   // of the result
//@ size       width 1..65536
//@ let        extent = 17
//@ type       output f32
//@ type       input f32
//@ type       filter f32
//@ operand    output out: height, width
//@ operand    input in: height + extent - 1, width + extent - 1
//@ operand    filter in: extent, extent
//@ right      output bound 300 of f32   // of the sum of absolute products: they may cancel
//@ integers   2
//@ ragged     height=1 width=1
//@ ragged     height=17 width=33
//@ ragged     height=40 width=130
//@ flops      2 * height * width * extent * extent
//@ reference  convolution17_reference
//@   grid     min(ceil_div(height * width, 256), 1048576)
//@   block    256
//@   args     output.f64, output.magnitude, input.f64, filter.f64, height, width

__global__ void convolution17_reference(double* output, double* magnitude, const double* input,
                                        const double* filter, int height, int width) {
  const long long elements = static_cast<long long>(height) * width;
  for (long long at = blockIdx.x * 256LL + threadIdx.x; at < elements; at += gridDim.x * 256LL) {
    const double* from = input + at / width * (width + 16) + at % width;
    double sum = 0.0;
    double of_sizes = 0.0;
    for (int i = 0; i < 17; ++i) {
      for (int j = 0; j < 17; ++j) {
        const double product = from[i * (width + 16LL) + j] * filter[i * 17 + j];
        sum += product;
        of_sizes += fabs(product);
      }
    }
    output[at] = sum;
    magnitude[at] = of_sizes;
  }
}
