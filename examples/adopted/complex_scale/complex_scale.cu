// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ operation  complex_scale
//@ purpose    Complex numbers multiplied in place by others, such as a spectrum by a filter
//@ size       n 1..1000000000
//@ type       signal f32
//@ type       filter f32
//@ operand    signal inout: n, 2    // the real part, then the imaginary part
//@ operand    filter in: n, 2
//@ right      signal bound 4 of f32   // of the sum of absolute products: they may cancel
//@ integers   2
//@ ragged     n=1
//@ ragged     n=1000
//@ ragged     n=4099
//@ flops      6 * n
//@ reference  complex_scale_reference
//@   grid     ceil_div(n, 256)
//@   block    256
//@   args     signal.f64, signal.magnitude, filter.f64, n

__global__ void complex_scale_reference(double* signal, double* magnitude, const double* filter,
                                        int n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const double re = signal[2 * i];
  const double im = signal[2 * i + 1];
  const double by_re = filter[2 * i];
  const double by_im = filter[2 * i + 1];
  signal[2 * i] = re * by_re - im * by_im;
  signal[2 * i + 1] = re * by_im + im * by_re;
  magnitude[2 * i] = fabs(re * by_re) + fabs(im * by_im);
  magnitude[2 * i + 1] = fabs(re * by_im) + fabs(im * by_re);
}
