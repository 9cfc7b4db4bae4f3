// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// <type_traits> for NVRTC: those that device code asks for most; libcu++ has all of them, in
// cuda::std.
#pragma once
#ifndef KILN_STANDARD_TYPE_TRAITS
#define KILN_STANDARD_TYPE_TRAITS

#include <stddef.h>

namespace std {

template <class T, T Value>
struct integral_constant {
  static constexpr T value = Value;
  using value_type = T;
  using type = integral_constant;
  __host__ __device__ constexpr operator T() const { return Value; }
  __host__ __device__ constexpr T operator()() const { return Value; }
};
template <bool Value>
using bool_constant = integral_constant<bool, Value>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool Condition, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool Condition, class A, class B>
using conditional_t = typename conditional<Condition, A, B>::type;

template <bool Condition, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  using type = T;
};
template <bool Condition, class T = void>
using enable_if_t = typename enable_if<Condition, T>::type;

template <class...>
using void_t = void;

template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;

template <class T>
struct remove_const : type_identity<T> {};
template <class T>
struct remove_const<const T> : type_identity<T> {};
template <class T>
struct remove_volatile : type_identity<T> {};
template <class T>
struct remove_volatile<volatile T> : type_identity<T> {};
template <class T>
struct remove_cv : remove_const<typename remove_volatile<T>::type> {};
template <class T>
struct remove_reference : type_identity<T> {};
template <class T>
struct remove_reference<T&> : type_identity<T> {};
template <class T>
struct remove_reference<T&&> : type_identity<T> {};
template <class T>
struct remove_cvref : remove_cv<typename remove_reference<T>::type> {};
template <class T>
struct remove_pointer : type_identity<T> {};
template <class T>
struct remove_pointer<T*> : type_identity<T> {};
template <class T>
struct remove_pointer<T* const> : type_identity<T> {};
template <class T>
struct remove_extent : type_identity<T> {};
template <class T>
struct remove_extent<T[]> : type_identity<T> {};
template <class T, size_t N>
struct remove_extent<T[N]> : type_identity<T> {};
template <class T>
struct add_const : type_identity<const T> {};
template <class T>
struct add_pointer : type_identity<typename remove_reference<T>::type*> {};

template <class T>
using remove_const_t = typename remove_const<T>::type;
template <class T>
using remove_volatile_t = typename remove_volatile<T>::type;
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
using remove_cvref_t = typename remove_cvref<T>::type;
template <class T>
using remove_pointer_t = typename remove_pointer<T>::type;
template <class T>
using remove_extent_t = typename remove_extent<T>::type;
template <class T>
using add_const_t = typename add_const<T>::type;
template <class T>
using add_pointer_t = typename add_pointer<T>::type;

template <class T>
__host__ __device__ T&& declval() noexcept;

template <class A, class B>
struct is_same : false_type {};
template <class T>
struct is_same<T, T> : true_type {};

template <class T>
struct is_const : false_type {};
template <class T>
struct is_const<const T> : true_type {};
template <class T>
struct is_pointer : false_type {};
template <class T>
struct is_pointer<T*> : true_type {};
template <class T>
struct is_pointer<T* const> : true_type {};
template <class T>
struct is_reference : false_type {};
template <class T>
struct is_reference<T&> : true_type {};
template <class T>
struct is_reference<T&&> : true_type {};
template <class T>
struct is_lvalue_reference : false_type {};
template <class T>
struct is_lvalue_reference<T&> : true_type {};
template <class T>
struct is_rvalue_reference : false_type {};
template <class T>
struct is_rvalue_reference<T&&> : true_type {};
template <class T>
struct is_array : false_type {};
template <class T>
struct is_array<T[]> : true_type {};
template <class T, size_t N>
struct is_array<T[N]> : true_type {};

template <class T>
struct is_void : is_same<remove_cv_t<T>, void> {};

template <class T, class... Others>
inline constexpr bool kiln_is_one_of = (is_same<T, Others>::value || ...);
template <class T>
struct is_floating_point : bool_constant<kiln_is_one_of<remove_cv_t<T>, float, double>> {};
template <class T>
struct is_integral
    : bool_constant<kiln_is_one_of<remove_cv_t<T>, bool, char, signed char, unsigned char, wchar_t,
                                   char16_t, char32_t, short, unsigned short, int, unsigned, long,
                                   unsigned long, long long, unsigned long long>> {};
template <class T>
struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T>
struct is_enum : bool_constant<__is_enum(T)> {};
template <class T>
struct is_class : bool_constant<__is_class(T)> {};
template <class T>
struct is_union : bool_constant<__is_union(T)> {};
template <class T>
struct is_empty : bool_constant<__is_empty(T)> {};
template <class T>
struct is_trivial : bool_constant<__is_trivial(T)> {};
template <class T>
struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T>
struct is_standard_layout : bool_constant<__is_standard_layout(T)> {};
template <class Base, class Derived>
struct is_base_of : bool_constant<__is_base_of(Base, Derived)> {};
template <class From, class To>
struct is_convertible : bool_constant<__is_convertible_to(From, To)> {};
template <class T, class... Arguments>
struct is_constructible : bool_constant<__is_constructible(T, Arguments...)> {};
template <class T>
struct is_fundamental : bool_constant<is_arithmetic<T>::value || is_void<T>::value ||
                                      is_same<remove_cv_t<T>, decltype(nullptr)>::value> {};

template <class T, bool = is_arithmetic<T>::value>
struct is_signed : false_type {};
template <class T>
struct is_signed<T, true> : bool_constant<(T(-1) < T(0))> {};
template <class T, bool = is_arithmetic<T>::value>
struct is_unsigned : false_type {};
template <class T>
struct is_unsigned<T, true> : bool_constant<!(T(-1) < T(0))> {};

template <class A, class B>
inline constexpr bool is_same_v = is_same<A, B>::value;
template <class T>
inline constexpr bool is_const_v = is_const<T>::value;
template <class T>
inline constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T>
inline constexpr bool is_reference_v = is_reference<T>::value;
template <class T>
inline constexpr bool is_array_v = is_array<T>::value;
template <class T>
inline constexpr bool is_void_v = is_void<T>::value;
template <class T>
inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T>
inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T>
inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T>
inline constexpr bool is_enum_v = is_enum<T>::value;
template <class T>
inline constexpr bool is_class_v = is_class<T>::value;
template <class T>
inline constexpr bool is_empty_v = is_empty<T>::value;
template <class T>
inline constexpr bool is_trivially_copyable_v = is_trivially_copyable<T>::value;
template <class T>
inline constexpr bool is_signed_v = is_signed<T>::value;
template <class T>
inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class Base, class Derived>
inline constexpr bool is_base_of_v = is_base_of<Base, Derived>::value;
template <class From, class To>
inline constexpr bool is_convertible_v = is_convertible<From, To>::value;
template <class T, class... Arguments>
inline constexpr bool is_constructible_v = is_constructible<T, Arguments...>::value;

template <class...>
struct conjunction : true_type {};
template <class First, class... Rest>
struct conjunction<First, Rest...>
    : conditional_t<bool(First::value), conjunction<Rest...>, First> {};
template <>
struct conjunction<> : true_type {};
template <class...>
struct disjunction : false_type {};
template <class First, class... Rest>
struct disjunction<First, Rest...>
    : conditional_t<bool(First::value), First, disjunction<Rest...>> {};
template <class T>
struct negation : bool_constant<!bool(T::value)> {};
template <class... Ts>
inline constexpr bool conjunction_v = conjunction<Ts...>::value;
template <class... Ts>
inline constexpr bool disjunction_v = disjunction<Ts...>::value;
template <class T>
inline constexpr bool negation_v = negation<T>::value;

template <class T, bool = is_enum<T>::value>
struct underlying_type {
  using type = __underlying_type(T);
};
template <class T>
struct underlying_type<T, false> {};
template <class T>
using underlying_type_t = typename underlying_type<T>::type;

template <class T>
struct decay {
  using Plain = remove_reference_t<T>;
  using type = conditional_t<is_array<Plain>::value, remove_extent_t<Plain>*, remove_cv_t<Plain>>;
};
template <class T>
using decay_t = typename decay<T>::type;

template <class... Ts>
struct common_type {};
template <class T>
struct common_type<T> : decay<T> {};
template <class A, class B>
struct common_type<A, B> : decay<decltype(false ? declval<A>() : declval<B>())> {};
template <class A, class B, class C, class... Rest>
struct common_type<A, B, C, Rest...> : common_type<typename common_type<A, B>::type, C, Rest...> {};
template <class... Ts>
using common_type_t = typename common_type<Ts...>::type;

template <class Function, class... Arguments>
struct invoke_result : type_identity<decltype(declval<Function>()(declval<Arguments>()...))> {};
template <class Function, class... Arguments>
using invoke_result_t = typename invoke_result<Function, Arguments...>::type;

template <size_t Bytes, bool IsSigned>
struct kiln_integer;
template <>
struct kiln_integer<1, true> : type_identity<signed char> {};
template <>
struct kiln_integer<2, true> : type_identity<short> {};
template <>
struct kiln_integer<4, true> : type_identity<int> {};
template <>
struct kiln_integer<8, true> : type_identity<long long> {};
template <>
struct kiln_integer<1, false> : type_identity<unsigned char> {};
template <>
struct kiln_integer<2, false> : type_identity<unsigned short> {};
template <>
struct kiln_integer<4, false> : type_identity<unsigned> {};
template <>
struct kiln_integer<8, false> : type_identity<unsigned long long> {};
template <class T>
struct make_signed
    : conditional_t<is_signed<T>::value, type_identity<T>, kiln_integer<sizeof(T), true>> {};
template <class T>
struct make_unsigned
    : conditional_t<is_unsigned<T>::value, type_identity<T>, kiln_integer<sizeof(T), false>> {};
template <class T>
using make_signed_t = typename make_signed<T>::type;
template <class T>
using make_unsigned_t = typename make_unsigned<T>::type;

KILN_STANDARD_FUNCTION constexpr bool is_constant_evaluated() noexcept {
  return __builtin_is_constant_evaluated();
}

}  // namespace std

#endif
