// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cache/store/sqlite.hpp"

namespace kiln {

/// Collects conditions with their values, so that no value ever becomes part of the SQL text.
class WhereClause {
 public:
  using Value = std::variant<std::int64_t, std::string>;

  void add(const std::string& condition, std::vector<Value> values) {
    text_ += (text_.empty() ? " WHERE " : " AND ") + condition;
    for (Value& value : values) values_.push_back(std::move(value));
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  void bind_to(sqlite::Statement& statement) const {
    for (const Value& value : values_) {
      std::visit([&](const auto& v) { statement.bind(v); }, value);
    }
  }

 private:
  std::string text_;
  std::vector<Value> values_;
};

}  // namespace kiln
