// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/decode/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace kiln::emulated {
namespace {

/// The function's own name in one that the compiler made of a C++ name: "_Z4scanILi2EEvv" and
/// "_ZN4kiln4scanEv" are scan. Other names are given back.
std::string plain_name(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return symbol;
  std::size_t at = symbol.rfind("_ZN", 0) == 0 ? 3 : 2;
  std::string name = symbol;
  while (at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9') {
    std::size_t length = 0;
    for (; at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9'; ++at) {
      length = std::min(length * 10 + static_cast<std::size_t>(symbol[at] - '0'), symbol.size());
    }
    name = symbol.substr(at, length);
    at += length;
  }
  return name;
}

}  // namespace

std::string plain_variable_name(const std::string& symbol) {
  if (symbol.rfind("_ZZ", 0) != 0) return plain_name(symbol);
  for (std::size_t end = symbol.rfind('E'); end != std::string::npos && end > 0;
       end = symbol.rfind('E', end - 1)) {
    std::size_t at = end + 1;
    std::size_t length = 0;
    for (; at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9'; ++at) {
      length = std::min(length * 10 + static_cast<std::size_t>(symbol[at] - '0'), symbol.size());
    }
    // A number behind the name tells several of one function apart.
    const bool fits = length > 0 && length <= symbol.size() - at;
    if (fits && (at + length == symbol.size() || symbol[at + length] == '_')) {
      return symbol.substr(at, length);
    }
  }
  return symbol;
}

std::string_view name_of(Finding finding) {
  switch (finding) {
    case Finding::out_of_bounds:
      return "out_of_bounds";
    case Finding::misaligned:
      return "misaligned";
    case Finding::uninitialised:
      return "uninitialised";
    case Finding::race:
      return "race";
    case Finding::missing_wait:
      return "missing_wait";
    case Finding::missing_fence:
      return "missing_fence";
    case Finding::divergent:
      return "divergent";
    case Finding::barrier_mismatch:
      return "barrier_mismatch";
    case Finding::deadlock:
      return "deadlock";
    case Finding::invalid_operand:
      return "invalid_operand";
    case Finding::trap:
      return "trap";
    case Finding::timed_out:
      return "timed_out";
  }
  return "unknown";
}

std::string Report::describe() const {
  return fmt::format(
      "{} at {}{} in {}, block ({},{},{}), thread ({},{},{}): {}{}", name_of(finding), place,
      caller.empty() ? std::string() : fmt::format(", called at {},", caller), plain_name(kernel),
      block[0], block[1], block[2], thread[0], thread[1], thread[2], text,
      times > 1 ? fmt::format(" ({} times)", times) : std::string());
}

}  // namespace kiln::emulated
