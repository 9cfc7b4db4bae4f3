// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/choice.hpp"
#include "tools/problem_flags.hpp"

namespace kiln::tools {

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
  /// The candidate; nothing when no template computes the problem. Throws Error(usage) for a
  /// configuration that is not valid for it, Error(not_found) for an unknown template.
  [[nodiscard]] std::optional<Chosen> choose(Context& context, const Problem& problem,
                                             const DeviceInfo& device,
                                             const std::string& toolkit) const;

 private:
  std::string template_name_;
  std::vector<std::string> set_;
};

/// Why no template computes a problem, for an error of verbs that need one that does.
[[nodiscard]] std::string why_uncomputed(Context& context, const GemmRequest& request,
                                         const DeviceLimits& limits);

/// How the kernel was come by, in a word: the match, or that it was chosen.
[[nodiscard]] std::string_view source_text(const Chosen& chosen);
/// The same with the reason: "exact: tuned for this problem ...", "chosen on the command line".
[[nodiscard]] std::string taken_text(const Chosen& chosen);

}  // namespace kiln::tools
