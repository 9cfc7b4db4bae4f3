// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

//@ operation  stencil3d
//@ purpose    A step of heat conduction: every inner number moves towards its six neighbours
//@ size       nx 1..65536   // along a row: numbers that lie next to each other
//@ size       ny 1..65535
//@ size       nz 1..65535
//@ type       next f32
//@ type       now f32
//@ scalar     rate f32 = 0.1
//@ operand    next out: nz, ny, nx
//@ operand    now in: nz, ny, nx
//@ right      next bound 16 of f32   // of the sum of absolute products: they may cancel
//@ integers   0                      // the rate is not whole
//@ ragged     nx=1 ny=1 nz=1
//@ ragged     nx=33 ny=7 nz=5
//@ ragged     nx=70 ny=3 nz=18
//@ flops      8 * nx * ny * nz
//@ reference  stencil3d_reference
//@   grid     min(ceil_div(nx * ny * nz, 256), 1048576)
//@   block    256
//@   args     next.f64, next.magnitude, now.f64, nx, ny, nz, rate

__global__ void stencil3d_reference(double* next, double* magnitude, const double* now, int nx,
                                    int ny, int nz, float rate) {
  const long long row = nx;
  const long long plane = row * ny;
  const long long elements = plane * nz;
  for (long long at = blockIdx.x * 256LL + threadIdx.x; at < elements; at += gridDim.x * 256LL) {
    const long long x = at % row;
    const long long y = at / row % ny;
    const long long z = at / plane;
    const bool inner = x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1;
    double sum = now[at];
    double of_sizes = fabs(now[at]);
    if (inner) {
      const long long neighbours[6] = {at - 1, at + 1, at - row, at + row, at - plane, at + plane};
      for (const long long neighbour : neighbours) {
        sum += rate * (now[neighbour] - now[at]);
        of_sizes += rate * (fabs(now[neighbour]) + fabs(now[at]));
      }
    }
    next[at] = sum;
    magnitude[at] = of_sizes;
  }
}
