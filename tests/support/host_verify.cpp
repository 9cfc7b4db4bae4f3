// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The kernels of support/verify.cu on the host: the same arithmetic, one thread.
#include <algorithm>

#include "common/verify_args.cuh"
#include "common/verify_check.cuh"
#include "common/verify_math.cuh"
#include "tests/support/host_element.hpp"
#include "tests/support/host_kernels.hpp"

namespace kiln::testing {
namespace {

template <class Args>
FakeKernel kernel(void (*function)(const Args&)) {
  return [function](const FakeLaunch& launch) {
    function(*static_cast<const Args*>(launch.arguments));
  };
}

void fill_random(const FillArgs& args) {
  const auto kind = static_cast<ElementKind>(args.dtype);
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const std::int64_t end = row + 1 < args.rows ? args.ld : args.cols;
    for (std::int64_t col = 0; col < end; ++col) {
      const auto bits = col < args.cols ? random_element(args, row, col) : poison_bits(kind);
      store_bits(args.data, row * args.ld + col, element_bytes(kind), bits);
    }
  }
}

void absolute(const AbsoluteArgs& args) {
  const auto kind = static_cast<ElementKind>(args.dtype);
  const int bytes = element_bytes(kind);
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (std::int64_t col = 0; col < args.cols; ++col) {
      const auto bits = load_bits(args.from, row * args.ld_from + col, bytes);
      store_bits(args.to, row * args.ld_to + col, bytes, absolute_bits(bits, kind));
    }
  }
}

void convert(const ConvertArgs& args) {
  const auto kind = static_cast<ElementKind>(args.dtype);
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (std::int64_t col = 0; col < args.cols; ++col) {
      const auto bits = load_bits(args.from, row * args.ld_from + col, element_bytes(kind));
      args.to[row * args.ld_to + col] = decode(bits, kind);
    }
  }
}

void compare(const CompareArgs& args) {
  CompareResult& result = *args.result;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (std::int64_t col = 0; col < args.cols; ++col) {
      const ElementCheck found = check_element(args, row, col);
      result.worst_ratio = std::max(result.worst_ratio, static_cast<float>(found.ratio));
      if (found.is_unbounded()) ++result.unbounded;
      if (found.ok) continue;
      ++result.failures;
      const auto place = static_cast<unsigned long long>(row * args.cols + col);
      result.first_failure = std::min(result.first_failure, place);
    }
  }
}

void compare_detail(const CompareArgs& args) {
  CompareResult& result = *args.result;
  if (result.failures == 0) return;
  const auto place = static_cast<std::int64_t>(result.first_failure);
  const ElementCheck found = check_element(args, place / args.cols, place % args.cols);
  result.first_value = found.value;
  result.first_expected = found.expected;
  result.first_bound = found.bound;
  result.first_value_imaginary = found.value_imaginary;
  result.first_expected_imaginary = found.expected_imaginary;
  result.first_value_bits = found.value_bits;
  result.first_expected_bits = found.expected_bits;
}

void note(CountResult& result, std::int64_t place) {
  ++result.count;
  result.first = std::min(result.first, static_cast<unsigned long long>(place));
}

void count_mismatch(const MismatchArgs& args) {
  const auto* data = static_cast<const unsigned char*>(args.data);
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (std::int64_t at = args.begin; at < args.end; ++at) {
      const std::int64_t place = row * args.pitch + at;
      if (data[place] != static_cast<unsigned char>(args.pattern)) note(*args.result, place);
    }
  }
}

void count_difference(const DifferenceArgs& args) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    for (std::int64_t col = 0; col < args.cols; ++col) {
      const bool same = same_bits(args.x, row * args.ld_x + col, args.y, row * args.ld_y + col,
                                  args.element_bytes);
      if (!same) note(*args.result, row * args.cols + col);
    }
  }
}

}  // namespace

void register_verification_kernels(FakeDevice& device) {
  device.register_kernel("kiln_fill_random", kernel(fill_random));
  device.register_kernel("kiln_absolute", kernel(absolute));
  device.register_kernel("kiln_convert", kernel(convert));
  device.register_kernel("kiln_compare", kernel(compare));
  device.register_kernel("kiln_compare_detail", kernel(compare_detail));
  device.register_kernel("kiln_count_mismatch", kernel(count_mismatch));
  device.register_kernel("kiln_count_difference", kernel(count_difference));
}

}  // namespace kiln::testing
