// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/roundoff.hpp"

#include <cmath>

namespace kiln {

double unit_roundoff(DType type) {
  switch (type) {
    case DType::f16:
      return std::ldexp(1.0, -11);
    case DType::bf16:
      return std::ldexp(1.0, -8);
    case DType::tf32:  // an output of tf32 is stored as float32
    case DType::f32:
    case DType::cf32:  // each part is rounded, and the error of both is no larger in proportion
      return std::ldexp(1.0, -24);
    case DType::f64:
    case DType::cf64:
      return std::ldexp(1.0, -53);
    case DType::e4m3:
      return std::ldexp(1.0, -4);
    case DType::e5m2:
      return std::ldexp(1.0, -3);
    case DType::s8:
    case DType::u8:
    case DType::s32:
    case DType::s4:
    case DType::u4:
    case DType::b1:
    case DType::b1_xor:
    case DType::s16:
    case DType::u16:
    case DType::u32:
    case DType::s64:
    case DType::u64:
      return 0.0;
  }
  return 0.0;
}

}  // namespace kiln
