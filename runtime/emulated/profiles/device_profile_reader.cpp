// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <toml++/toml.h>
#include <set>
#include <string>
#include <type_traits>

#include "kiln/error.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"
#include "runtime/model/device_profile_keys.hpp"

namespace kiln {
namespace {

std::string range_text(const Range& range) {
  if (range.least == range.most) return fmt::format("{}", range.least);
  return fmt::format("{}from {} to {}", range.or_zero ? "0 or a number " : "", range.least,
                     range.most);
}

/// Fills a profile from a parsed file and complains with its lines.
class ProfileReader {
 public:
  ProfileReader(const toml::table& root, std::string source)
      : root_(root), table_(&root), source_(std::move(source)) {}

  void section(std::string_view name, std::string_view) {
    finish_section();
    section_ = name;
    known_.clear();
    sections_.emplace(name);
    const toml::node* const node = root_.get(name);
    if (node == nullptr) fail(root_, "", fmt::format("the section [{}] is missing", name));
    table_ = node->as_table();
    if (table_ == nullptr) fail(*node, "", fmt::format("{} must be a section", name));
  }

  void value(std::string_view key, std::string& text, std::string_view) {
    const toml::node& node = at(key);
    const auto* const string = node.as_string();
    if (string == nullptr) fail(node, key, "must be a string in quotes");
    text = string->get();
  }

  void value(std::string_view key, double& number, Range range, std::string_view) {
    const toml::node& node = at(key);
    if (const auto* const integer = node.as_integer()) {
      number = static_cast<double>(integer->get());
    } else if (const auto* const real = node.as_floating_point()) {
      number = real->get();
    } else {
      fail(node, key, "must be a number");
    }
    check(node, key, number, range);
  }

  template <class Integer>
  void value(std::string_view key, Integer& number, Range range, std::string_view) {
    static_assert(std::is_integral_v<Integer>);
    const toml::node& node = at(key);
    const auto* const integer = node.as_integer();
    if (integer == nullptr) fail(node, key, "must be a whole number");
    check(node, key, integer->get(), range);
    number = static_cast<Integer>(integer->get());
  }

  /// After the last key: those that nobody asked for are mistakes.
  void finish() {
    finish_section();
    for (const auto& [key, node] : root_) {
      if (node.is_table() && !sections_.contains(key.str())) {
        section_.clear();
        fail(key, key.str(), "is not a known section of a device profile");
      }
    }
  }

  /// Throws for a key of that section; "" is the file itself.
  [[noreturn]] void fail_at(std::string_view section, std::string_view key,
                            const std::string& what) {
    section_ = section;
    const std::string path =
        section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
    fail(*root_.at_path(path).node(), key, what);
  }

 private:
  const toml::node& at(std::string_view key) {
    known_.emplace(key);
    const toml::node* const node = table_->get(key);
    if (node == nullptr) fail(*table_, key, "is missing");
    return *node;
  }

  template <class Number>
  void check(const toml::node& node, std::string_view key, Number number, Range range) {
    const auto value = static_cast<double>(number);
    if (value >= range.least && value <= range.most) return;
    if (range.or_zero && value == 0.0) return;
    fail(node, key, fmt::format("is {}, but must be {}", number, range_text(range)));
  }

  void finish_section() {
    for (const auto& [key, node] : *table_) {
      const bool section_of_root = table_ == &root_ && node.is_table();
      if (!section_of_root && !known_.contains(key.str())) {
        fail(key, key.str(), "is not a known key of a device profile");
      }
    }
  }

  template <class Place>
  [[noreturn]] void fail(const Place& place, std::string_view key, const std::string& what) const {
    const toml::source_position at = place.source().begin;
    const std::string name =
        section_.empty() || key.empty() ? std::string(key) : fmt::format("{}.{}", section_, key);
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}:{}: {}{}{}. Next: compare the file with a profile that `kiln "
                            "doctor --save-profile` writes.",
                            source_, at.line, at.column, name, name.empty() ? "" : " ", what));
  }

  const toml::table& root_;
  const toml::table* table_;
  std::string source_;
  std::string section_;
  std::set<std::string, std::less<>> known_;
  std::set<std::string, std::less<>> sections_;
};

toml::table parsed(std::string_view text, const std::string& source) {
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}:{}: {}. Next: correct the file; a device profile is TOML.",
                            source, at.line, at.column, error.description()));
  }
}

}  // namespace

DeviceProfile read_profile(std::string_view text, const std::string& source) {
  const toml::table table = parsed(text, source);
  ProfileReader reader(table, source);
  DeviceProfile profile;
  visit_profile(profile, reader);
  reader.finish();

  if (profile.figures != "measured" && profile.figures != "published") {
    reader.fail_at("", "figures", "must be \"measured\" or \"published\"");
  }
  if (!complete_profile(profile)) {
    std::string names;
    for (const std::string& name : known_archs()) names += " " + name;
    reader.fail_at("limits", "arch", "must be one of these:" + names);
  }
  return profile;
}

}  // namespace kiln
