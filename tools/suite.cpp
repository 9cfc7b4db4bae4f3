// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <istream>

#include "templates/problem.hpp"
#include "tools/stop_signal.hpp"
#include "tools/value_kinds.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr const char* kShape =
    "a line is `name dtype M N K layout`, e.g. `square f16 64 64 64 nt`, and an epilogue if it has "
    "one";

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  line = line.substr(0, line.find('#'));
  while (true) {
    const auto start = line.find_first_not_of(kBlanks);
    if (start == std::string_view::npos) return words;
    line.remove_prefix(start);
    const auto end = std::min(line.find_first_of(kBlanks), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

/// Reads one line; errors carry its place.
class LineReader {
 public:
  LineReader(const std::string& file, int line) : file_(file), line_(line) {}

  [[nodiscard]] SuiteLine read(const std::vector<std::string>& words) const {
    if (words.size() < 6) {
      reject(fmt::format("{} words; {}", words.size(), kShape));
    }
    const auto type = parse_dtype(words[1]);
    if (!type) {
      reject(fmt::format("\"{}\" is not an element type; choose from {}", words[1],
                         fmt::join(kDTypeNames, ", ")));
    }
    const auto layout = parse_layout(words[5]);
    if (!layout) {
      reject(fmt::format("\"{}\" is not a layout; choose from {}", words[5],
                         fmt::join(find_value_kind("XY")->words, ", ")));
    }
    Gemm gemm = Gemm::of(*type, size(words[2]), size(words[3]), size(words[4]), layout->first,
                         layout->second);
    try {
      std::string expression;
      for (std::size_t i = 6; i < words.size(); ++i) expression += " " + words[i];
      if (!expression.empty()) gemm.epilogue = Epilogue(expression.substr(1));
      return {words[0], normalised(gemm), line_};
    } catch (const Error& error) {
      reject(error.what());
    }
  }

  [[noreturn]] void reject(const std::string& why) const {
    throw Error(ErrorKind::usage, fmt::format("{}:{}: {}", file_, line_, why));
  }

 private:
  [[nodiscard]] std::int64_t size(const std::string& word) const {
    std::int64_t value = 0;
    const auto* const last = word.data() + word.size();
    const auto [end, status] = std::from_chars(word.data(), last, value);
    if (status != std::errc{} || end != last) reject(fmt::format("\"{}\" is not a size", word));
    return value;
  }

  const std::string& file_;
  int line_;
};

}  // namespace

std::vector<SuiteLine> read_suite(std::istream& in, const std::string& file) {
  std::vector<SuiteLine> lines;
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    const auto words = words_of(text);
    if (words.empty()) continue;
    const LineReader reader(file, number);
    auto line = reader.read(words);
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const SuiteLine& other) { return other.name == line.name; });
    if (same != lines.end()) {
      reader.reject(fmt::format("the name {} is already used on line {}", line.name, same->line));
    }
    lines.push_back(std::move(line));
  }
  if (in.bad()) throw Error(ErrorKind::usage, fmt::format("{}: cannot be read", file));
  if (lines.empty()) throw Error(ErrorKind::usage, fmt::format("{}: no lines; {}", file, kShape));
  return lines;
}

std::vector<SuiteLine> read_suite(const std::string& file) {
  std::ifstream in(file);
  if (!in) {
    throw Error(ErrorKind::usage, fmt::format("--suite {}: {}", file, std::strerror(errno)));
  }
  return read_suite(in, file);
}

void for_each_line(const std::vector<SuiteLine>& lines,
                   const std::function<void(const SuiteLine&)>& act,
                   const std::function<void(const SuiteLine&, const Error&)>& failed) {
  for (const auto& line : lines) {
    if (StopSignal::requested()) return;
    try {
      act(line);
    } catch (const Error& error) {
      failed(line, error);
    }
  }
}

}  // namespace kiln::tools
