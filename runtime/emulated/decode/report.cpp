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

std::string_view next_step_of_race(const Report& race) {
  const bool is_one_line = race.other == race.place && race.other_caller == race.caller;
  switch (race.reach) {
    case Reach::none:
      return "";
    case Reach::warp:
      return is_one_line
                 ? "if each thread should access its own element, check the index and the "
                   "template's \"block\" line. If threads share the element, use an atomic, or let "
                   "only one lane access the element. If the accesses belong to different "
                   "iterations of a loop, put __syncwarp() at the end of the loop"
                 : "put __syncwarp() between the two lines, or __syncthreads() if more than one "
                   "warp takes part";
    case Reach::block:
      return is_one_line
                 ? "if each thread should access its own element, check the index and the "
                   "template's \"block\" line. If threads share the element, use an atomic, or let "
                   "only one thread access the element. If the accesses belong to different "
                   "iterations of a loop, put __syncthreads() at the end of the loop"
                 : "put __syncthreads() between the two lines. If both lines are in a loop, also "
                   "put __syncthreads() at the end of the loop";
    case Reach::cluster:
      return "put cluster.sync() between the two accesses";
    case Reach::grid:
      return "blocks run in any order. Let only one block access the element, use an atomic, or "
             "move one of the two accesses to a separate launch";
  }
  return "";
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

std::string place_within(std::string_view array, std::int64_t offset, int element_bytes) {
  const std::string text = fmt::format("byte {} of {}", offset, array);
  if (element_bytes <= 1 || offset % element_bytes != 0) return text;
  return fmt::format("{}, {}-byte element {}", text, element_bytes, offset / element_bytes);
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

std::string_view Report::next_step() const {
  switch (finding) {
    case Finding::out_of_bounds:
      return "compare the index with the size of the array. If there are more threads than "
             "elements, let the surplus threads skip the access";
    case Finding::misaligned:
      return "access fewer bytes at once. Or add a \"require\" line to exclude the problem sizes "
             "for which this address is misaligned";
    case Finding::race:
      return next_step_of_race(*this);
    case Finding::missing_wait:
      return "wait for the pending operation before this instruction. For cp.async, use "
             "cp.async.wait_group and a barrier. For a bulk copy, wait for its mbarrier or bulk "
             "group. For wgmma, use wgmma.wait_group. If other blocks use a block's shared memory, "
             "put a cluster barrier before the block exits";
    case Finding::divergent:
      return "move the instruction to a place that all lanes of the warp reach: out of the branch, "
             "and before any return";
    case Finding::barrier_mismatch:
      return "let every thread of the block reach each barrier. Do not return before a barrier: "
             "put the work inside an if statement";
    case Finding::uninitialised:
      return "store a value on every path that leads to this read. Check partial tiles, too. If "
             "Kiln also reports races, fix the races first";
    case Finding::timed_out:
      return "check that every loop of the kernel ends. If every loop ends, allow more time "
             "(--timeout) or choose smaller sizes";
    case Finding::missing_fence:
    case Finding::deadlock:
    case Finding::invalid_operand:
    case Finding::trap:
      break;
  }
  return "";
}

}  // namespace kiln::emulated
