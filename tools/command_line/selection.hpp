// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/choice.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/output/json.hpp"
#include "tools/output/table.hpp"

namespace kiln::tools {

/// The error for `--set` without `--template`.
inline constexpr std::string_view kSetNeedsTemplate =
    "--set works only together with --template, because templates have different tunables. "
    "Next: add --template NAME; `kiln templates` lists the names";

/// Which candidate of a problem a verb is about: what `--template` and `--set` choose, else what a
/// program on the device would get.
class SelectionFlags {
 public:
  void add_to(CLI::App& verb);
  /// Throws Error(usage) for values without a template.
  void check_usage() const;
  [[nodiscard]] bool given() const { return !template_name_.empty(); }
  /// The templates to which the choice is restricted; empty: all.
  [[nodiscard]] std::vector<std::string> templates() const;
  /// The candidate. Throws Error(usage) for an unknown template and for a configuration that is not
  /// valid for the problem or results without elements, Error(not_found), with the reasons, when no
  /// template computes it.
  [[nodiscard]] Chosen choose(Context& context, const Problem& problem, const DeviceInfo& device,
                              const std::string& toolkit,
                              const FindDrawback& drawback_of = {}) const;

  /// The configurations of that template that have the values chosen.
  [[nodiscard]] ParamSpace space(Context& context, const std::string& template_name,
                                 const Problem& problem, const DeviceLimits& limits) const;

 private:
  std::string template_name_;
  std::vector<std::string> set_;
};

/// How the kernel was come by, in a word: the match, or that it was chosen.
[[nodiscard]] std::string_view source_text(const Chosen& chosen);
/// What was chosen and how, the reason with it, as lines of text and as fields.
void add_choice(FactSheet& facts, const Chosen& chosen);
[[nodiscard]] Json choice_json(const Chosen& chosen);

}  // namespace kiln::tools
