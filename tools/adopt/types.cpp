// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/types.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "kiln/error.hpp"
#include "templates/expression/expression.hpp"

namespace kiln::tools {
namespace {

constexpr int kMostAliases = 8;  // of an alias
constexpr int kMostMacros = 8;   // within a macro

struct NamedElement {
  std::string_view name;
  DType type;
  bool is_exact = true;
};
/// What arrays are made of, and its short vectors with 1 to 4 behind the name.
constexpr std::array<NamedElement, 56> kElements{{
    {"float", DType::f32},
    {"double", DType::f64},
    {"__half", DType::f16},
    {"half", DType::f16},
    {"__nv_bfloat16", DType::bf16},
    {"nv_bfloat16", DType::bf16},
    {"__nv_fp8_e4m3", DType::e4m3},
    {"__nv_fp8_e5m2", DType::e5m2},
    {"int", DType::s32},
    {"signed", DType::s32},
    {"signed int", DType::s32},
    {"int32_t", DType::s32},
    {"unsigned", DType::u32},
    {"unsigned int", DType::u32},
    {"uint", DType::u32},
    {"uint32_t", DType::u32},
    {"char", DType::s8},
    {"signed char", DType::s8},
    {"int8_t", DType::s8},
    {"unsigned char", DType::u8},
    {"uchar", DType::u8},
    {"uint8_t", DType::u8},
    {"short", DType::s16},
    {"short int", DType::s16},
    {"signed short", DType::s16},
    {"int16_t", DType::s16},
    {"unsigned short", DType::u16},
    {"unsigned short int", DType::u16},
    {"ushort", DType::u16},
    {"uint16_t", DType::u16},
    {"long", DType::s64},
    {"long int", DType::s64},
    {"long long", DType::s64},
    {"long long int", DType::s64},
    {"longlong", DType::s64},
    {"int64_t", DType::s64},
    {"ptrdiff_t", DType::s64},
    {"unsigned long", DType::u64},
    {"unsigned long int", DType::u64},
    {"unsigned long long", DType::u64},
    {"unsigned long long int", DType::u64},
    {"ulong", DType::u64},
    {"ulonglong", DType::u64},
    {"uint64_t", DType::u64},
    {"size_t", DType::u64},
    {"bool", DType::u8, false},
    {"cuComplex", DType::cf32},
    {"cuFloatComplex", DType::cf32},
    {"cuda::std::complex<float>", DType::cf32},
    {"thrust::complex<float>", DType::cf32},
    {"cuDoubleComplex", DType::cf64},
    {"cuda::std::complex<double>", DType::cf64},
    {"thrust::complex<double>", DType::cf64},
    {"complex<float>", DType::cf32},
    {"__half2", DType::f16},
    {"__nv_bfloat162", DType::bf16},
}};
constexpr std::array<std::string_view, 13> kVectorNames{
    "float", "double", "int",         "uint", "char",  "uchar",   "half",
    "short", "ushort", "nv_bfloat16", "long", "ulong", "longlong"};

std::string resolved_type(std::string_view type, const TypeAliases& aliases) {
  std::string name(type);
  for (int i = 0; i < kMostAliases; ++i) {
    const auto alias = aliases.find(name);
    if (alias == aliases.end()) break;
    name = alias->second;
  }
  return name;
}

/// Types of <cstdint> have the same names in both places.
std::string without_std(std::string name) {
  constexpr std::string_view kStd = "std::";
  return name.starts_with(kStd) ? name.substr(kStd.size()) : name;
}

/// The number at `at`, or the value of a shift by numbers that begins there, of which `at` is then
/// the last token.
std::optional<std::int64_t> shifted_number(const std::vector<CodeToken>& body, std::size_t& at) {
  constexpr std::string_view kBindTighter = "+-*/%";
  const auto is_tighter = [&](std::size_t i) {
    return i < body.size() && kBindTighter.find(body[i].text) != std::string_view::npos;
  };
  auto value = integer_literal(body[at].text);
  while (value && at + 2 < body.size() && body[at + 1].is("<<")) {
    const auto shift = integer_literal(body[at + 2].text);
    constexpr std::int64_t kMostBits = 30;
    const bool is_plain =
        shift && *shift >= 0 && *shift <= kMostBits && !is_tighter(at - 1) && !is_tighter(at + 3);
    if (!is_plain || *value < 0 || *value > INT32_MAX) return std::nullopt;
    *value <<= *shift;
    at += 2;
  }
  return value;
}

const NamedElement* find_element(std::string_view name) {
  const auto* const found =
      std::find_if(kElements.begin(), kElements.end(),
                   [&](const NamedElement& each) { return each.name == name; });
  return found == kElements.end() ? nullptr : found;
}

}  // namespace

std::optional<ElementType> element_type(std::string_view type, const TypeAliases& aliases) {
  const std::string name = without_std(resolved_type(type, aliases));
  if (const auto* const found = find_element(name)) {
    const bool is_pair = name == "__half2" || name == "__nv_bfloat162";
    return ElementType{found->type, is_pair ? 2 : 1, found->is_exact};
  }
  if (name.size() < 2 || name.back() < '1' || name.back() > '4') return std::nullopt;
  const auto base = std::string_view(name).substr(0, name.size() - 1);
  if (std::find(kVectorNames.begin(), kVectorNames.end(), base) == kVectorNames.end()) {
    return std::nullopt;
  }
  const auto* const element = find_element(base);
  return ElementType{element->type, name.back() - '0', element->is_exact};
}

std::optional<std::string> integer_type(std::string_view type, const TypeAliases& aliases) {
  const std::string name = without_std(resolved_type(type, aliases));
  if (name == "ssize_t") return "long long";
  const auto* const element = find_element(name);
  if (element == nullptr) return std::nullopt;
  switch (element->type) {
    case DType::s32:
      return "int";
    case DType::u32:
      return "unsigned";
    case DType::s64:
      return "long long";
    case DType::u64:
      return "unsigned long long";
    default:
      return std::nullopt;
  }
}

std::optional<NumberType> number_type(std::string_view type, const TypeAliases& aliases) {
  const std::string name = without_std(resolved_type(type, aliases));
  if (name == "bool") return NumberType::boolean;
  const auto* const element = find_element(name);
  if (element == nullptr || name.ends_with("2")) return std::nullopt;
  return parse_number_type(to_string(element->type));
}

std::optional<std::int64_t> integer_literal(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != '\'') digits += c;
  }
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.erase(0, 2);
  while (!digits.empty() && std::string_view("uUlLzZ").find(digits.back()) != std::string::npos) {
    digits.pop_back();
  }
  std::int64_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, status] = std::from_chars(digits.data(), last, value, is_hex ? 16 : 10);
  if (digits.empty() || status != std::errc{} || end != last) return std::nullopt;
  return value;
}

std::optional<std::int64_t> constant_number(const std::vector<CodeToken>& body,
                                            const SourceModel& model, int depth) {
  // Macros within macros multiply.
  constexpr int kMostDepth = 3;
  constexpr std::size_t kMostTokens = 16;
  if (depth > kMostDepth || body.size() > kMostTokens) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const CodeToken& token = body[i];
    std::optional<std::int64_t> value;
    if (token.kind == CodeToken::Kind::number) {
      value = shifted_number(body, i);
    } else if (const auto macro = model.macros.find(token.text); macro != model.macros.end()) {
      if (!macro->second.is_default) value = constant_number(macro->second.body, model, depth + 1);
    } else {
      text += std::string(token.text) + " ";
      continue;
    }
    if (!value) return std::nullopt;
    text += std::to_string(*value) + " ";
  }
  try {
    return Expression::parse(text, NameTable{}, SourcePlace{}).evaluate({});
  } catch (const Error&) {
    return std::nullopt;  // other names, or what front matter has no sign for
  }
}

std::optional<std::string> constant_text(const std::vector<CodeToken>& body,
                                         const SourceModel& model,
                                         const std::set<std::string, std::less<>>& constants,
                                         int depth) {
  if (depth > kMostMacros || body.empty()) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const CodeToken& token = body[i];
    const bool is_tight = token.is(")") || text.empty() || text.back() == '(';
    std::string part(token.text);
    if (token.kind == CodeToken::Kind::number) {
      const auto value = shifted_number(body, i);
      if (!value) return std::nullopt;
      part = std::to_string(*value);
    } else if (token.is_word() && !constants.contains(token.text)) {
      const auto macro = model.macros.find(token.text);
      if (macro == model.macros.end()) return std::nullopt;
      const auto inner = constant_text(macro->second.body, model, constants, depth + 1);
      if (!inner) return std::nullopt;
      part = inner->find(' ') == std::string::npos || inner->starts_with('(') ? *inner
                                                                              : "(" + *inner + ")";
    } else if (!token.is_word() &&
               std::string_view("+-*/%()").find(token.text) == std::string_view::npos) {
      return std::nullopt;
    }
    text += is_tight ? part : " " + part;
  }
  return text;
}

}  // namespace kiln::tools
