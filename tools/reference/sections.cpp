// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "kiln/error.hpp"
#include "kiln/version.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/reference/reference.hpp"
#include "tools/reference/shell_words.hpp"

namespace kiln::tools {
namespace {

constexpr std::string_view kBegin = "<!-- generated: ";
constexpr std::string_view kBeginTail = " -->";
constexpr std::string_view kEnd = "<!-- end -->";

/// Where errors are: "docs/reference/cli.md:12".
struct Place {
  std::string_view text;
  const std::string& source;

  [[noreturn]] void reject(std::size_t at, const std::string& why) const {
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    throw Error(ErrorKind::usage, fmt::format("{}:{}: {}", source, line, why));
  }
};

const std::string& section(const Sections& sections, std::string_view name, const Place& place,
                           std::size_t at) {
  const auto found = sections.find(name);
  if (found != sections.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& [known, text] : sections) names.push_back(known);
  place.reject(
      at, fmt::format("no section is called \"{}\"; there are {}", name, fmt::join(names, ", ")));
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

}  // namespace

Sections sections_of(const Manual& manual) {
  Sections sections{{"version", KILN_VERSION_STRING},
                    {"verb-names", fmt::format("{}", fmt::join(verb_names(manual), " "))},
                    {"built-in-operations",
                     fmt::format("{}", fmt::join(find_value_kind(kOperationKind)->words(), " "))}};
  add_man_sections(sections, manual);
  add_bash_sections(sections, manual);
  add_zsh_sections(sections, manual);
  add_fish_sections(sections, manual);
  add_page_sections(sections, manual);
  return sections;
}

std::string filled(std::string_view text, const Sections& sections, const std::string& source) {
  const Place place{text, source};
  std::string result;
  std::size_t done = 0;
  for (auto at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    const auto end = text.find('@', at + 1);
    if (end == std::string_view::npos) break;
    const auto name = text.substr(at + 1, end - at - 1);
    if (!is_name(name)) continue;
    result += text.substr(done, at - done);
    result += section(sections, name, place, at);
    done = end + 1;
    at = end;
  }
  return result.append(text.substr(done));
}

std::string refreshed(std::string_view page, const Sections& sections, const std::string& source) {
  const Place place{page, source};
  std::string result;
  std::size_t done = 0;
  for (auto at = page.find(kBegin); at != std::string_view::npos; at = page.find(kBegin, done)) {
    const auto tail = page.find(kBeginTail, at);
    const auto end = page.find(kEnd, at);
    if (tail == std::string_view::npos || end == std::string_view::npos ||
        page.find(kBegin, at + 1) < end) {
      place.reject(at, fmt::format("this part is not closed by {}", kEnd));
    }
    const auto name = page.substr(at + kBegin.size(), tail - at - kBegin.size());
    result += page.substr(done, tail + kBeginTail.size() - done);
    result += fmt::format("\n\n{}\n\n", section(sections, name, place, at));
    result += kEnd;
    done = end + kEnd.size();
  }
  if (done == 0) {
    place.reject(0, fmt::format("write {}NAME{} where the page should have a generated section",
                                kBegin, kBeginTail));
  }
  return result.append(page.substr(done));
}

}  // namespace kiln::tools
