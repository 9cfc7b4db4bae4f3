// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/compiler_log.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace kiln {
namespace {

constexpr std::string_view kDigits = "0123456789";

/// The number right before `unit` in the line ("40 registers"); 0 if there is none.
int number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return 0;
  const std::size_t last = line.find_last_not_of(kDigits, at == 0 ? 0 : at - 1);
  const std::size_t begin = last == std::string_view::npos ? 0 : last + 1;
  int value = 0;
  const auto result = std::from_chars(line.data() + begin, line.data() + at, value);
  if (result.ec == std::errc::result_out_of_range) return std::numeric_limits<int>::max();
  return result.ec == std::errc{} ? value : 0;
}

/// "(C7508) text" to "C7508 text"; nothing when the line carries no such code.
std::string coded_message(std::string_view line) {
  for (std::size_t at = line.find("(C"); at != std::string_view::npos;
       at = line.find("(C", at + 1)) {
    const std::size_t end = line.find_first_not_of(kDigits, at + 2);
    if (end == at + 2 || end == std::string_view::npos || line[end] != ')') continue;
    std::string_view text = line.substr(end + 1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    return std::string(line.substr(at + 1, end - at - 1)) + " " + std::string(text);
  }
  return {};
}

/// `kernel` is the one that the lines refer to.
void read_line(std::string_view line, std::string& kernel, CompilerLog& out) {
  KernelResources& found = out.resources;
  constexpr std::string_view kEntry = "Compiling entry function '";
  if (const std::size_t at = line.find(kEntry); at != std::string_view::npos) {
    const std::string_view name = line.substr(at + kEntry.size());
    kernel = name.substr(0, name.find('\''));
    return;
  }
  const bool usage = line.find("Used ") != std::string_view::npos;
  if (usage) {
    const int registers = number_before(line, " registers");
    found.registers = std::max(found.registers, registers);
    if (!kernel.empty()) out.registers.emplace(kernel, registers);
    found.smem_static_bytes =
        std::max<std::int64_t>(found.smem_static_bytes, number_before(line, " bytes smem"));
    return;
  }
  if (line.find("bytes stack frame") != std::string_view::npos) {
    found.stack_bytes = std::max(found.stack_bytes, number_before(line, " bytes stack frame"));
    found.spill_store_bytes =
        std::max(found.spill_store_bytes, number_before(line, " bytes spill stores"));
    found.spill_load_bytes =
        std::max(found.spill_load_bytes, number_before(line, " bytes spill loads"));
    return;
  }
  if (std::string message = coded_message(line); !message.empty()) {
    out.warnings.push_back(std::move(message));
    return;
  }
  constexpr std::string_view kWarning = "warning";
  const std::size_t at = line.find(kWarning);
  const std::size_t colon = line.find(": ");
  if (at != std::string_view::npos && colon != std::string_view::npos && at < colon) {
    out.warnings.emplace_back(line.substr(colon + 2));
  }
}

}  // namespace

CompilerLog parse_compiler_log(std::string_view log) {
  CompilerLog out;
  std::string kernel;
  while (!log.empty()) {
    const std::size_t end = log.find('\n');
    const std::string_view line = log.substr(0, end);
    // Front-end diagnostics begin with a file; the assembler's begin with its name.
    if (line.starts_with("ptxas")) read_line(line, kernel, out);
    log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
  }
  return out;
}

}  // namespace kiln
