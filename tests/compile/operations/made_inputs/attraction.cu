// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Bodies that attract each other. Kernels may read the bodies as an array of structures or as a
// structure of arrays: both have the same numbers.

//@ operation  attraction
//@ purpose    The acceleration of bodies that attract each other
//@ size       bodies 1..65536
//@ type       body f32
//@ type       x f32
//@ type       y f32
//@ type       z f32
//@ type       mass f32
//@ type       pull f32
//@ scalar     softening f32 = 0.25
//@ operand    body in: bodies, 4; fill positive
//@ operand    x in: bodies; fill kernel split_bodies
//@ operand    y in: bodies; fill kernel split_bodies
//@ operand    z in: bodies; fill kernel split_bodies
//@ operand    mass in: bodies; fill kernel split_bodies
//@ operand    pull out: bodies, 3
//@ right      pull bound 16 + bodies / 8 of f32
//@ ragged     bodies=1
//@ ragged     bodies=45
//@ flops      20 * bodies * bodies
//@ fill       split_bodies<x>
//@   grid     ceil_div(bodies, 128)
//@   block    128
//@   args     body, {x, y, z, mass}, bodies
//@ reference  attraction_reference
//@   grid     ceil_div(bodies, 128)
//@   block    128
//@   args     body.f64, pull.f64, pull.magnitude, bodies, softening

template <class T>
struct Arrays {
  T *x, *y, *z, *mass;
};

template <class T>
__global__ void split_bodies(const T* body, Arrays<T> to, int bodies) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= bodies) return;
  to.x[i] = body[4 * i];
  to.y[i] = body[4 * i + 1];
  to.z[i] = body[4 * i + 2];
  to.mass[i] = body[4 * i + 3];
}

__global__ void attraction_reference(const double* body, double* pull, double* magnitude,
                                     int bodies, float softening) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= bodies) return;
  for (int axis = 0; axis < 3; ++axis) {
    double sum = 0.0, total = 0.0;
    for (int j = 0; j < bodies; ++j) {
      double square = softening;
      for (int k = 0; k < 3; ++k) {
        const double apart = body[4 * j + k] - body[4 * i + k];
        square += apart * apart;
      }
      const double term =
          body[4 * j + 3] * (body[4 * j + axis] - body[4 * i + axis]) / (square * sqrt(square));
      sum += term;
      total += body[4 * j + 3] * (fabs(body[4 * j + axis]) + fabs(body[4 * i + axis])) /
               (square * sqrt(square));
    }
    pull[3 * i + axis] = sum;
    magnitude[3 * i + axis] = total;
  }
}
