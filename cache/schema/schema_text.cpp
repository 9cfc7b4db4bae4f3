// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/schema/schema_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace kiln {
namespace {

bool is_word(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '$' || byte == '.';
}

bool is_space(char letter) {
  return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return result;
}

/// End of the quoted text that begins at `begin`; a quote inside it is doubled.
std::size_t end_of_quoted(std::string_view sql, std::size_t begin) {
  const char quote = sql[begin] == '[' ? ']' : sql[begin];
  for (std::size_t at = begin + 1; at < sql.size(); ++at) {
    if (sql[at] != quote) continue;
    if (quote == ']' || at + 1 == sql.size() || sql[at + 1] != quote) return at + 1;
    ++at;
  }
  return sql.size();
}

/// End of the comment that begins at `begin`; `begin` when none does.
std::size_t end_of_comment(std::string_view sql, std::size_t begin) {
  const std::string_view mark = sql.substr(begin, 2);
  if (mark != "--" && mark != "/*") return begin;
  const std::string_view last = mark == "--" ? "\n" : "*/";
  const std::size_t end = sql.find(last, begin + 2);
  return end == std::string_view::npos ? sql.size() : end + last.size();
}

/// Words in lower case, quoted texts unchanged, everything else as single characters.
std::vector<std::string> tokens_of(std::string_view sql) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < sql.size();) {
    if (is_space(sql[at])) {
      ++at;
    } else if (const std::size_t after = end_of_comment(sql, at); after != at) {
      at = after;
    } else if (std::string_view("'\"`[").find(sql[at]) != std::string_view::npos) {
      const std::size_t end = end_of_quoted(sql, at);
      tokens.emplace_back(sql.substr(at, end - at));
      at = end;
    } else if (is_word(sql[at])) {
      std::size_t end = at;
      while (end < sql.size() && is_word(sql[end])) ++end;
      tokens.push_back(lower(sql.substr(at, end - at)));
      at = end;
    } else {
      tokens.emplace_back(1, sql[at++]);
    }
  }
  return tokens;
}

/// A plain name in quotes, as some ALTER TABLE statements leave it, is the name.
std::string unquoted(const std::string& name) {
  if (name.size() < 3 || name.front() != '"' || name.back() != '"') return name;
  const std::string_view inner = std::string_view(name).substr(1, name.size() - 2);
  return std::all_of(inner.begin(), inner.end(), is_word) ? lower(inner) : name;
}

/// For a message: names in a file may contain anything.
std::string printable(const std::string& name) {
  const bool plain =
      !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char letter) {
        return letter == ' ' || (is_word(letter) && static_cast<unsigned char>(letter) < 0x80);
      });
  return plain ? name : "an object with an unprintable name";
}

bool is_generated(const std::string& column) {
  return column.find(" generated always as ") != std::string::npos;
}

/// Whether SQLite itself keeps that: an index that UNIQUE or PRIMARY KEY implies has no text, and
/// what ANALYZE leaves has this one.
bool is_of_sqlite(const std::string& name, std::string_view sql) {
  if (sql.empty()) return name.starts_with("sqlite_autoindex_");
  static constexpr std::array<std::string_view, 2> kStatistics{
      "create table sqlite_stat1 ( tbl , idx , stat )",
      "create table sqlite_stat4 ( tbl , idx , neq , nlt , ndlt , sample )"};
  const std::string text = fmt::format("{}", fmt::join(tokens_of(sql), " "));
  return std::find(kStatistics.begin(), kStatistics.end(), text) != kStatistics.end();
}

}  // namespace

SchemaText::Object SchemaText::parse(std::string_view sql) {
  std::vector<std::string> tokens = tokens_of(sql);
  const auto joined = [&](std::size_t begin, std::size_t end) {
    return fmt::format("{}", fmt::join(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                       tokens.begin() + static_cast<std::ptrdiff_t>(end), " "));
  };
  if (tokens.size() > 2) tokens[2] = unquoted(tokens[2]);
  // CREATE TABLE name ( columns ) options
  if (tokens.size() < 5 || tokens[1] != "table" || tokens[3] != "(") {
    return {joined(0, tokens.size()), {}};
  }
  Object table;
  std::size_t begin = 4;
  int depth = 1;
  for (std::size_t at = 4; at < tokens.size(); ++at) {
    if (tokens[at] == "(") ++depth;
    if (tokens[at] == ")") --depth;
    if (depth == 0 || (depth == 1 && tokens[at] == ",")) {
      table.columns.insert(joined(begin, at));
      begin = at + 1;
    }
    if (depth == 0) break;
  }
  table.frame = joined(0, 3) + " : " + joined(std::min(begin, tokens.size()), tokens.size());
  return table;
}

SchemaText SchemaText::of(const sqlite::Connection& connection) {
  SchemaText schema;
  // Kiln's own statements are much shorter than what is cut here.
  sqlite::Statement rows = connection.prepare(
      "SELECT type, name, coalesce(substr(sql, 1, 65536), '') FROM sqlite_schema");
  while (rows.step()) {
    const std::string name = rows.text(1);
    const std::string sql = rows.text(2);
    if (is_of_sqlite(name, sql)) continue;
    Object object = parse(sql);
    // What the statement creates, whatever the row claims.
    auto& kind = object.frame.starts_with("create view ") ? schema.views_ : schema.objects_;
    std::string key = rows.text(0) + " " + name;
    while (kind.contains(key)) key += " again";
    kind.emplace(std::move(key), std::move(object));
  }
  return schema;
}

std::vector<std::string> SchemaText::differences_from(const SchemaText& own) const {
  std::vector<std::string> faults;
  for (const auto& [name, object] : own.objects_) {
    const auto here = objects_.find(name);
    if (here == objects_.end()) {
      faults.push_back(name + " is missing");
    } else if (here->second != object) {
      faults.push_back(name + " is altered");
    }
  }
  for (const auto& [name, object] : objects_) {
    if (!own.objects_.contains(name)) faults.push_back(printable(name) + " was added");
  }
  return faults;
}

std::vector<std::string> SchemaText::altered_views(const SchemaText& own) const {
  std::vector<std::string> faults;
  for (const auto& [name, view] : own.views_) {
    const auto here = views_.find(name);
    if (here == views_.end()) {
      faults.push_back(name + " is missing");
    } else if (here->second != view) {
      faults.push_back(name + " is altered");
    }
  }
  return faults;
}

bool SchemaText::stores_columns_of(const SchemaText& own,
                                   std::span<const std::string_view> tables) const {
  return std::all_of(tables.begin(), tables.end(), [&](std::string_view name) {
    const std::string key = fmt::format("table {}", name);
    const Object& table = own.objects_.at(key);
    const auto here = objects_.find(key);
    if (here == objects_.end() || here->second.frame != table.frame) return false;
    return std::all_of(table.columns.begin(), table.columns.end(), [&](const std::string& column) {
      return is_generated(column) || here->second.columns.contains(column);
    });
  });
}

}  // namespace kiln
