// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// The kernels with which candidates are fed and judged on the device: random operands, their
/// absolute values, comparison with a float64 reference, and counts of bytes that must not have
/// changed. common/verify_args.cuh says what each one does, common/verify_math.cuh and
/// common/verify_check.cuh how.
///
/// All of them walk their elements with a grid-stride loop:
///
///     thread    0   1   2  ..  T-1 | 0   1   2  ..  T-1 | 0   1 ..      T threads in the grid
///     element   0   1   2      T-1   T  T+1             2T
///
/// and add up what they find within a thread before they touch the shared result, so that a wholly
/// wrong result does not cost an atomic operation per element.

#include "common/verify_args.cuh"
#include "common/verify_check.cuh"
#include "common/verify_math.cuh"

namespace kiln {

KILN_DEVICE long long first_element() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
KILN_DEVICE long long element_stride() {
  return static_cast<long long>(gridDim.x) * blockDim.x;
}

KILN_DEVICE void store_bits(void* base, long long index, int bytes, unsigned long long bits) {
  switch (bytes) {
    case 1:
      static_cast<unsigned char*>(base)[index] = static_cast<unsigned char>(bits);
      break;
    case 2:
      static_cast<unsigned short*>(base)[index] = static_cast<unsigned short>(bits);
      break;
    case 4:
      static_cast<unsigned*>(base)[index] = static_cast<unsigned>(bits);
      break;
    default:
      static_cast<unsigned long long*>(base)[index] = bits;
  }
}

/// A thread's findings.
struct Tally {
  unsigned long long count = 0;
  unsigned long long first = ~0ULL;

  KILN_DEVICE void add(long long place) {
    ++count;
    const unsigned long long at = static_cast<unsigned long long>(place);
    if (at < first) first = at;
  }
  KILN_DEVICE void publish(unsigned long long* total, unsigned long long* smallest) const {
    if (count == 0) return;
    atomicAdd(total, count);
    atomicMin(smallest, first);
  }
};

}  // namespace kiln

extern "C" __global__ void kiln_fill_random(const kiln::FillArgs args) {
  using namespace kiln;
  const ElementKind kind = static_cast<ElementKind>(args.dtype);
  const int bytes = element_bytes(kind);
  const long long elements = (args.rows - 1) * args.ld + args.cols;
  for (long long i = first_element(); i < elements; i += element_stride()) {
    const long long row = i / args.ld;
    const long long col = i % args.ld;
    const unsigned long long bits =
        col < args.cols ? random_element(args, row, col) : poison_bits(kind);
    store_bits(args.data, i, bytes, bits);
  }
}

extern "C" __global__ void kiln_absolute(const kiln::AbsoluteArgs args) {
  using namespace kiln;
  const ElementKind kind = static_cast<ElementKind>(args.dtype);
  const int bytes = element_bytes(kind);
  for (long long i = first_element(); i < args.rows * args.cols; i += element_stride()) {
    const long long row = i / args.cols;
    const long long col = i % args.cols;
    const unsigned long long bits = load_bits(args.from, row * args.ld_from + col, bytes);
    store_bits(args.to, row * args.ld_to + col, bytes, absolute_bits(bits, kind));
  }
}

extern "C" __global__ void kiln_convert(const kiln::ConvertArgs args) {
  using namespace kiln;
  const ElementKind kind = static_cast<ElementKind>(args.dtype);
  const int bytes = element_bytes(kind);
  for (long long i = first_element(); i < args.rows * args.cols; i += element_stride()) {
    const long long row = i / args.cols;
    const long long col = i % args.cols;
    const unsigned long long bits = load_bits(args.from, row * args.ld_from + col, bytes);
    args.to[row * args.ld_to + col] = decode(bits, kind);
  }
}

extern "C" __global__ void kiln_compare(const kiln::CompareArgs args) {
  using namespace kiln;
  Tally failures;
  unsigned long long unbounded = 0;
  float worst = 0.0F;
  for (long long i = first_element(); i < args.rows * args.cols; i += element_stride()) {
    const ElementCheck check = check_element(args, i / args.cols, i % args.cols);
    if (!check.ok) failures.add(i);
    if (check.is_unbounded()) ++unbounded;
    const float ratio = static_cast<float>(check.ratio);
    if (ratio > worst) worst = ratio;
  }
  failures.publish(&args.result->failures, &args.result->first_failure);
  if (unbounded > 0) atomicAdd(&args.result->unbounded, unbounded);
  // Floats that are not negative are ordered as their bits are.
  if (worst > 0.0F) {
    atomicMax(reinterpret_cast<unsigned*>(&args.result->worst_ratio), __float_as_uint(worst));
  }
}

extern "C" __global__ void kiln_compare_detail(const kiln::CompareArgs args) {
  using namespace kiln;
  if (first_element() != 0 || args.result->failures == 0) return;
  const long long place = static_cast<long long>(args.result->first_failure);
  const ElementCheck check = check_element(args, place / args.cols, place % args.cols);
  args.result->first_value = check.value;
  args.result->first_expected = check.expected;
  args.result->first_bound = check.bound;
  args.result->first_value_imaginary = check.value_imaginary;
  args.result->first_expected_imaginary = check.expected_imaginary;
  args.result->first_value_bits = check.value_bits;
  args.result->first_expected_bits = check.expected_bits;
}

extern "C" __global__ void kiln_count_mismatch(const kiln::MismatchArgs args) {
  using namespace kiln;
  const unsigned char* data = static_cast<const unsigned char*>(args.data);
  const long long width = args.end - args.begin;
  Tally found;
  for (long long i = first_element(); i < args.rows * width; i += element_stride()) {
    const long long place = i / width * args.pitch + args.begin + i % width;
    if (data[place] != static_cast<unsigned char>(args.pattern)) found.add(place);
  }
  found.publish(&args.result->count, &args.result->first);
}

extern "C" __global__ void kiln_count_difference(const kiln::DifferenceArgs args) {
  using namespace kiln;
  Tally found;
  for (long long i = first_element(); i < args.rows * args.cols; i += element_stride()) {
    const long long row = i / args.cols;
    const long long col = i % args.cols;
    const long long x_at = row * args.ld_x + col;
    const long long y_at = row * args.ld_y + col;
    if (!same_bits(args.x, x_at, args.y, y_at, args.element_bytes)) found.add(i);
  }
  found.publish(&args.result->count, &args.result->first);
}
