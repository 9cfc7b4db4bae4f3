// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <istream>
#include <sstream>

#include "templates/nearest_name.hpp"
#include "templates/operation/operation.hpp"
#include "templates/render/header_search.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/command_line/value_kinds.hpp"
#include "tools/stop_signal.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr const char* kShape =
    "write `name dtype M N K layout [epilogue]`, e.g. `square f16 64 64 64 nt`. For another "
    "operation or other columns, write a header line above this line, e.g. `softmax: name rows "
    "cols dtype`";
constexpr std::string_view kNameColumn = "name";
constexpr std::string_view kLeftOut = "-";

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

/// What a header says of the lines that follow it.
struct Columns {
  const Operation* operation = nullptr;  ///< none: lines in the short form
  std::vector<std::string> names;
};

/// The flags of an operation's problems on a parser of their own.
struct FlagParser {
  explicit FlagParser(const Operation& operation) {
    app.set_help_flag();
    flags.add_to(app, operation, ProblemFlags::Word::none);
    check_closed_values(app);
  }
  CLI::App app;
  ProblemFlags flags;
};

/// Reads one line; errors carry its place.
class LineReader {
 public:
  LineReader(const std::string& file, int line) : file_(file), line_(line) {}

  [[nodiscard]] Columns header(const std::vector<std::string>& words) const {
    const std::string name = words.front().substr(0, words.front().size() - 1);
    Columns columns{find_operation(name), {words.begin() + 1, words.end()}};
    if (columns.operation == nullptr) {
      std::vector<std::string> known;
      for (const Operation* each : operations()) known.push_back(each->name);
      reject(
          fmt::format("there is no operation {}{}; for an operation of your own, name its folder "
                      "with --template-path",
                      name, did_you_mean(name, known)));
    }
    if (std::ranges::count(columns.names, kNameColumn) != 1) {
      reject(fmt::format(
          "exactly one column must have the title \"{}\"; this column gives each line a name",
          kNameColumn));
    }
    const FlagParser parser(*columns.operation);
    for (auto column = columns.names.begin(); column != columns.names.end(); ++column) {
      if (*column == kNameColumn) continue;
      if (parser.app.get_option_no_throw("--" + *column) == nullptr) {
        reject(fmt::format("{0} has no flag --{1}, so \"{1}\" cannot be a column{2}", name, *column,
                           did_you_mean(*column, flags_of(parser.app))));
      }
      if (std::find(columns.names.begin(), column, *column) != column) {
        reject(fmt::format("the column \"{}\" is given twice", *column));
      }
    }
    return columns;
  }

  [[nodiscard]] SuiteLine read(const std::vector<std::string>& words,
                               const Columns& columns) const {
    try {
      return columns.operation == nullptr ? read_short(words) : read_columns(words, columns);
    } catch (const CLI::ParseError& error) {
      reject(error.what());
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with(place())) throw;
      reject(error.what());
    }
  }

  [[noreturn]] void reject(const std::string& why) const {
    throw Error(ErrorKind::usage, place() + why);
  }

 private:
  [[nodiscard]] std::string place() const { return fmt::format("{}:{}: ", file_, line_); }

  [[nodiscard]] static std::vector<std::string> flags_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* option : app.get_options()) names.push_back(option->get_lnames().front());
    return names;
  }

  [[nodiscard]] SuiteLine read_columns(const std::vector<std::string>& words,
                                       const Columns& columns) const {
    if (words.size() != columns.names.size()) {
      reject(fmt::format("this line has {} words, but the header has {} columns: {}", words.size(),
                         columns.names.size(), fmt::join(columns.names, " ")));
    }
    FlagParser parser(*columns.operation);
    std::string name;
    std::vector<std::string> arguments;  // the parser takes the last one first
    for (std::size_t i = words.size(); i-- > 0;) {
      if (columns.names[i] == kNameColumn) {
        name = words[i];
      } else if (words[i] != kLeftOut) {
        arguments.push_back(fmt::format("--{}={}", columns.names[i], words[i]));
      }
    }
    parser.app.parse(std::move(arguments));
    return {name, parser.flags.request(), line_};
  }

  [[nodiscard]] SuiteLine read_short(const std::vector<std::string>& words) const {
    if (words.size() < 6) {
      reject(fmt::format("this line has only {} words; {}", words.size(), kShape));
    }
    return {words[0], short_line_case(words), line_};
  }

  const std::string& file_;
  int line_;
};

}  // namespace

std::vector<SuiteLine> read_suite(std::istream& in, const std::string& file) {
  std::vector<SuiteLine> lines;
  std::string text;
  Columns columns;
  for (int number = 1; std::getline(in, text); ++number) {
    const auto words = words_of(text);
    if (words.empty()) continue;
    const LineReader reader(file, number);
    if (words.front().ends_with(':')) {
      columns = reader.header(words);
      continue;
    }
    auto line = reader.read(words, columns);
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const SuiteLine& other) { return other.name == line.name; });
    if (same != lines.end()) {
      reader.reject(fmt::format("the name {} is already used on line {}", line.name, same->line));
    }
    lines.push_back(std::move(line));
  }
  if (in.bad()) throw Error(ErrorKind::usage, fmt::format("{}: cannot be read", file));
  if (lines.empty())
    throw Error(ErrorKind::usage, fmt::format("{}: the suite is empty; {}", file, kShape));
  return lines;
}

std::vector<SuiteLine> read_suite(const std::string& file) {
  constexpr std::size_t kMostSuiteBytes = std::size_t{4} << 20;
  std::ifstream file_in(file);
  if (!file_in) {
    throw Error(ErrorKind::usage, fmt::format("--suite {}: {}", file, std::strerror(errno)));
  }
  // No more of it than that: it may have no end, as /dev/zero.
  std::string text(kMostSuiteBytes + 1, '\0');
  file_in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file_in.bad()) throw Error(ErrorKind::usage, fmt::format("{}: cannot be read", file));
  text.resize(static_cast<std::size_t>(file_in.gcount()));
  if (text.size() > kMostSuiteBytes) {
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "--suite {}: the file is larger than {} MiB; split the suite into several files", file,
            kMostSuiteBytes >> 20));
  }
  if (const std::string why = take_byte_order_mark(text); !why.empty()) {
    throw Error(ErrorKind::usage, fmt::format("--suite {}: {}", file, why));
  }
  std::istringstream in(text);
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
