// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/ptx_limit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {
namespace {

constexpr std::string_view kEntry = ".entry ";

}  // namespace

std::string with_register_limit(std::string_view ptx, int registers) {
  std::string limited;
  std::size_t done = 0;
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos;
       at = ptx.find(kEntry, at + 1)) {
    // `.entry name(parameters) directives {`; parameters contain no braces, and a declaration
    // without a body ends with a semicolon.
    const std::size_t body = ptx.find_first_of("{;", at);
    if (body == std::string_view::npos || ptx[body] == ';') continue;
    const std::string_view head = ptx.substr(at, body - at);
    const std::string_view directives =
        head.substr(std::min(head.find_last_of(')') + 1, head.size()));
    const bool is_bounded = directives.find(".maxntid") != std::string_view::npos ||
                            directives.find(".reqntid") != std::string_view::npos ||
                            directives.find(".maxnreg") != std::string_view::npos;
    if (is_bounded) continue;
    limited += ptx.substr(done, body - done);
    limited += fmt::format(".maxnreg {}\n", registers);
    done = body;
  }
  limited += ptx.substr(done);
  return limited;
}

}  // namespace kiln
