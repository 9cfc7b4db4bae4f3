// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "templates/operation/operation.hpp"
#include "tools/command_line/operation_flags.hpp"
#include "tuner/data_file.hpp"

namespace kiln::tools {

/// The flags that follow from a declaration: one for each size, type slot, trait and scalar, of
/// that name, and `--dtype` for all slots that may have the type. problem_flag() spells them. Verbs
/// that run kernels have `--data` as well.
class DeclaredFlags : public OperationFlags {
 public:
  explicit DeclaredFlags(const Operation& operation) : operation_(operation) {}
  void add_to(CLI::App& verb) override;
  [[nodiscard]] std::vector<std::string> size_flags() const override;
  [[nodiscard]] ProblemCase request(std::int64_t default_size) const override;

 private:
  struct Flag {
    std::string name;  ///< "--rows"
    std::string text;  ///< as typed; "" if it was not
  };
  Flag& add(CLI::App& verb, const std::string& name, const char* kind, const std::string& text);
  [[nodiscard]] std::vector<NamedType> types() const;
  void add_data_to(CLI::App& verb);
  [[nodiscard]] std::vector<GivenData> data() const;

  const Operation& operation_;
  std::deque<Flag> flags_;  // a deque, because the parser has their addresses
  std::vector<const Flag*> sizes_, types_, traits_, scalars_;  ///< in the operation's order
  const Flag* dtype_ = nullptr;
  bool takes_data_ = false;
  std::vector<std::string> data_;  ///< "points=FILE", as typed
};

/// The shortest flags that give the problem back: "--rows 1000 --cols 4096 --dtype f16".
[[nodiscard]] std::string declared_flags_text(const Operation& operation, const ProblemCase& one);

}  // namespace kiln::tools
