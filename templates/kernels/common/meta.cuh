// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What kernels need of <type_traits>, which NVRTC lacks.

namespace kiln {

template <bool kCondition, class Then, class Else>
struct ConditionalType {
  using type = Then;
};
template <class Then, class Else>
struct ConditionalType<false, Then, Else> {
  using type = Else;
};
/// std::conditional_t.
template <bool kCondition, class Then, class Else>
using Conditional = typename ConditionalType<kCondition, Then, Else>::type;

/// std::is_same_v.
template <class X, class Y>
inline constexpr bool kSameType = false;
template <class X>
inline constexpr bool kSameType<X, X> = true;

}  // namespace kiln
