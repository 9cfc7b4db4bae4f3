// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/operation.hpp"
#include "kiln/types.hpp"

namespace kiln {

/// One instance of an operation, as seen by templates, database and tuner: what applications
/// describe by an OperationProblem or by a type that an operation has of its own, with every field
/// in the operation's order, so that equal problems have equal texts. `sizes` may differ in a
/// nearest match, `types` and `traits` never.
struct Problem {
  std::string operation;
  std::vector<NamedValue> sizes;
  std::vector<NamedType> types;
  std::vector<NamedValue> traits;
  /// The expression that the result is computed by, in canonical text with every operand's type
  /// (templates/epilogue/epilogue.hpp); "" for that of the operation. It distinguishes kinds as
  /// traits do.
  std::string epilogue;

  [[nodiscard]] std::optional<std::int64_t> size(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> trait(std::string_view name) const;
  [[nodiscard]] std::optional<DType> type(std::string_view slot) const;

  /// "rows=1000 cols=4096": the part in which a nearest match may differ.
  [[nodiscard]] std::string sizes_text() const;
  /// "softmax x=f16 y=f16 causal=0": the part that must be equal; with an epilogue, that follows as
  /// "epilogue=...".
  [[nodiscard]] std::string kind_text() const;
  /// kind_text, " | ", sizes_text: the canonical text of the problem.
  [[nodiscard]] std::string canonical() const;
  /// Reads canonical text. Throws Error(usage) naming the faulty field.
  [[nodiscard]] static Problem parse(std::string_view canonical);

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// What is left to do of a problem, sizes of 0 considered.
enum class Work : std::uint8_t {
  all,
  trivial,  ///< there are results, but the plainest kernel does for them: sums of nothing, say
  none,     ///< no result has elements
};
[[nodiscard]] Work work_of(const Problem& problem);

/// What is said of a problem with Work::none: "no result has elements".
[[nodiscard]] std::string_view no_results_text(const Problem& problem);

/// Why no kernel is sought for a problem with less to do, "nothing to tune: ..."; else "".
[[nodiscard]] std::string why_nothing_to_tune(const Problem& problem);

/// "nt" and the like to storage of A and B; nothing if malformed.
[[nodiscard]] std::optional<std::pair<Storage, Storage>> parse_layout(std::string_view letters);
[[nodiscard]] std::string layout_text(Storage a, Storage b);

}  // namespace kiln
