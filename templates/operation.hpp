// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "templates/expression.hpp"
#include "templates/problem.hpp"

namespace kiln {

/// One size of an operation's problems, and what it may be.
struct SizeSpec {
  std::string name;
  std::int64_t least = 1;
  std::int64_t most = 0;
  std::string comment;
};

/// A property that distinguishes kinds of problems, with its values.
struct TraitSpec {
  std::string name;
  std::vector<std::int64_t> values;
  std::string comment;
};

/// What a kernel does with an operand. `inout` is read and then written in place.
enum class OperandRole : std::uint8_t { in, out, inout };
[[nodiscard]] std::string_view to_string(OperandRole role);

/// An array in device memory that kernels of the operation get.
struct OperandSpec {
  std::string name;  ///< of the type slot that its elements have
  OperandRole role = OperandRole::in;
  std::vector<Expression> extents;  ///< the outermost first; the last one lies contiguously
  std::optional<Expression> when;   ///< whether it takes part; absent: always
  std::string comment;
  /// Where a kernel's argument has its address and its leading dimension: byte offsets.
  std::uint16_t pointer_at = 0;
  std::uint16_t ld_at = 0;
};

/// What is computed: which names a template of this operation may use, and what a problem costs.
/// Declared by a file of front matter, `operation` first:
///
///     //@ operation  gemm
///     //@ purpose    One line that says what it is.
///     //@ size       m 0..2147483647   // rows of D     (1 to 2^31 - 1 unless stated)
///     //@ type       a                 // a slot; an operand of that name has its elements
///     //@ trait      trans_a 0 1       // name and values
///     //@ operand    a in: m, k        // in, out or inout; extents; `; when E` if not always
///     //@ flops      2 * m * n * k     // of one run
///     //@ bytes      ...               // optional; else what the operands have
///
/// Names in expressions: sizes, traits, `<slot>_bytes`, `<slot>_packed`, `<slot>_type` compared
/// with `type.f16` and so on. Immutable; thread-safe.
class Operation {
 public:
  /// Reads a declaration. `file` names the source in errors. Throws Error(template_).
  [[nodiscard]] static Operation parse(const std::string& file, std::string_view source);

  std::string name;
  std::string purpose;
  std::vector<SizeSpec> sizes;
  std::vector<TraitSpec> traits;
  std::vector<OperandSpec> operands;
  std::vector<std::string> slot_comments;  ///< of type_slots
  std::string flops_text;
  std::string bytes_text;  ///< "" if they are those of the operands
  // The names again, by themselves.
  std::vector<std::string> size_names;
  std::vector<std::string> type_slots;
  std::vector<std::string> trait_names;
  std::uint16_t workspace_at = 0;  ///< byte offset of the workspace's address in the argument

  /// Arithmetic operations of one run, a multiply and an add counted as two. 0 where undefined, and
  /// for a problem that lacks a name.
  [[nodiscard]] double flops(const Problem& problem) const;
  /// Fewest bytes of device memory that one run must move: each input read once, each output
  /// written once. 0 likewise.
  [[nodiscard]] double bytes(const Problem& problem) const;
  /// nullptr if no operand is of that slot.
  [[nodiscard]] const OperandSpec* operand(std::string_view slot) const;

 private:
  friend class OperationParser;
  /// The values of names(), nothing if the problem lacks one.
  [[nodiscard]] std::optional<std::vector<double>> values(const Problem& problem) const;

  NameTable names_;
  std::optional<Expression> flops_;
  std::optional<Expression> bytes_;
};

/// Whether a file with front matter declares an operation instead of a template.
[[nodiscard]] bool declares_operation(std::string_view source);

/// Those that are compiled in, by name.
[[nodiscard]] const std::vector<Operation>& operations();
/// nullptr if there is none of that name.
[[nodiscard]] const Operation* find_operation(std::string_view name);

}  // namespace kiln
