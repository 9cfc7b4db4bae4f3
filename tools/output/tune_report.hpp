// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "kiln/error.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/output/json.hpp"
#include "tools/workbench.hpp"
#include "tuner/session/session.hpp"

namespace kiln::tools {

/// What tuning one problem gave.
struct TuneReport {
  std::string name;  ///< of the suite's line, or ""
  ProblemCase request;
  std::optional<TuneResult> result;  ///< nothing when unsupported
  std::string unsupported;           ///< the reasons, when no template computes it
  std::string idle;                  ///< why there is nothing to tune
  std::optional<Contest> contest;    ///< against cuBLASLt, unless asked not to or nothing won
  std::optional<Error> error;        ///< what ended this line of a suite
  Provenance provenance = Provenance::measured;  ///< of the times, if there are any
};

/// For a person: the winner, how good it is, what was tried, how to use it on that device.
[[nodiscard]] std::string report_text(const TuneReport& report, const Context& context);
/// A warning: every size but the problem's own is left out by the template's requirements.
[[nodiscard]] std::string edgeless_text(const std::string& template_name);
/// One line of the table of a suite.
[[nodiscard]] std::vector<std::string> report_row(const TuneReport& report);
/// What its row does not say: why there is no result, or a warning; ends with a newline, or "".
[[nodiscard]] std::string report_remark(const TuneReport& report);
[[nodiscard]] Json report_json(const TuneReport& report);
[[nodiscard]] Json contest_json(const Contest& contest);
[[nodiscard]] ExitCode exit_code_of(const TuneReport& report);

}  // namespace kiln::tools
