// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/scalar.hpp"
#include "templates/expression/expression.hpp"
#include "templates/front_matter/argument_list.hpp"
#include "templates/front_matter/constant_spec.hpp"
#include "templates/operation/problem.hpp"
#include "templates/render/header_search.hpp"

namespace kiln {

/// One size of an operation's problems, and what it may be.
struct SizeSpec {
  std::string name;
  std::int64_t least = 1;
  std::int64_t most = 0;
  std::string comment;
  /// What it is unless a problem says otherwise, of sizes declared above; absent: problems say it.
  std::optional<Expression> value = std::nullopt;
};

/// A property that distinguishes kinds of problems, with its values.
struct TraitSpec {
  std::string name;
  std::vector<std::int64_t> values;
  std::string comment;
};

/// A slot for an element type. A problem says which type is in it.
struct TypeSlotSpec {
  std::string name;
  std::vector<DType> types;  ///< that it may have, the usual one first; none: any
  std::string comment;
  int line = 0;  ///< of the file
};

/// What a kernel does with an operand. `inout` is read and then written in place.
enum class OperandRole : std::uint8_t { in, out, inout };
[[nodiscard]] std::string_view to_string(OperandRole role);

/// The data that an input is filled with to be verified and timed.
struct FillSpec {
  enum class Kind : std::uint8_t {
    normal,    ///< mean 0, deviation 1; 8-bit integers: 32
    uniform,   ///< from 0 to below 1
    positive,  ///< from 1/16 to below 1 + 1/16
    integers,  ///< each of low to high with equal probability
    sorted,    ///< likewise, ascending in the order of memory
    kernel,    ///< what a kernel of the operation's file makes from other operands and sizes
  };
  Kind kind = Kind::normal;
  std::optional<Expression> low, high;  ///< of integers and sorted, both included
  std::string kernel;                   ///< its name, without template arguments
};
[[nodiscard]] std::string_view to_string(FillSpec::Kind kind);

/// A number that kernels get beside their operands.
struct ScalarSpec {
  std::string name;
  NumberType type = NumberType::f32;
  Scalar value = 0;  ///< unless a user gives another
  std::string comment;
};

/// What a right result of an operand that is written is, element by element, where `ref` is what
/// the reference kernel computes.
struct RightSpec {
  enum class Kind : std::uint8_t {
    exact,    ///< ref rounded to the operand's type
    bound,    ///< |y - ref| <= u(y) |ref| + factor u(type) magnitude, u the unit roundoff
    within,   ///< |y - ref| <= relative |ref| + absolute
    checker,  ///< what the checker accepts: there may be many
  };
  Kind kind = Kind::exact;
  std::uint16_t operand = 0;         ///< index
  std::optional<Expression> factor;  ///< evaluated in floating point, of sizes
  std::string roundoff_of;           ///< a type slot or the name of an element type
  double relative = 0.0, absolute = 0.0;
  int line = 0;
};

/// A kernel of the operation's own file that says what is right: the reference, which computes it,
/// or the checker, which judges what a candidate has written.
struct JudgeKernel {
  std::string kernel;              ///< its name, with template arguments if it has any
  std::vector<Expression> grid;    ///< 1 to 3
  std::vector<Expression> block;   ///< 1 to 3
  std::vector<ArgumentSpec> args;  ///< as listed, or the default list
  std::vector<ConstantSpec> constants;
  int line = 0;
  int args_line = 0;  ///< 0: none, its arguments are the default ones
};

/// A kernel of the operation's file that makes the data of operands: `fill slopes_of<x>`.
struct FillKernel {
  JudgeKernel kernel;
  std::vector<std::uint16_t> operands;  ///< that it makes, in the operation's order
};

/// A number that results are also given in: `metric points_per_s = points / time_s`.
struct MetricSpec {
  std::string name;
  Expression value;
  bool needs_energy = false;
  std::string comment = {};
  int line = 0;
};

/// What a metric may mention beside the names of the operation, for one run.
struct RunFigures {
  double time_ns = 0.0;
  double energy_j = 0.0;  ///< 0: unknown
};

/// An array in device memory that kernels of the operation get.
struct OperandSpec {
  std::string name;  ///< of the type slot that its elements have
  OperandRole role = OperandRole::in;
  std::vector<Expression> extents;  ///< the outermost first; the last one lies contiguously
  std::optional<Expression> ld;     ///< elements from row to row; absent: the last extent
  std::optional<Expression> align;  ///< bytes that its address is a multiple of; absent: 16
  std::optional<Expression> when;   ///< whether it takes part; absent: always
  /// Kernels get an array of pointers, one for each of the first extent, to arrays of the others.
  bool pointers = false;
  bool scratch = false;  ///< an input that kernels may overwrite
  FillSpec fill;         ///< of what is read
  std::string file;  ///< has the data of the tuned problem, relative to the declaration; "": none
  int line = 0;      ///< of the file; 0 if it is not declared in one
  std::string comment;
  /// Where a kernel's argument has its address and its leading dimension: byte offsets.
  std::uint16_t pointer_at = 0;
  std::uint16_t ld_at = 0;
};

/// How an operand lies in memory: `rows` rows of `cols` elements, `ld` elements apart. It ends with
/// the last element. An array of higher rank is a matrix of its innermost rows; of an operand
/// behind pointers, each row is what one pointer leads to, and where it lies is open.
struct OperandLayout {
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  std::int64_t ld = 1;
  int alignment = 16;  ///< bytes that the address is a multiple of, if elements are not larger
  [[nodiscard]] std::int64_t elements() const {
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
  }
};

/// Precondition: `values` are the whole_values() of a problem that was checked, in which the
/// operand takes part.
[[nodiscard]] OperandLayout layout_of(const OperandSpec& operand,
                                      const std::vector<std::int64_t>& values);

/// What is computed: which names a template of this operation may use, and what a problem costs.
/// Declared by a file of front matter, `operation` first:
///
///     //@ operation  product
///     //@ purpose    One line that says what it is.
///     //@ size       m 0..2147483647   // rows of D     (1 to 2^31 - 1 unless stated)
///     //@ type       a                 // a slot; an operand of that name has its elements
///     //@ trait      trans_a 0 1       // name and values
///     //@ operand    a in: m, k        // in, out or inout; extents; `; when E` if not always
///     //@ flops      2 * m * n * k     // of one run
///     //@ bytes      ...               // optional; else what the operands have
///     //@ metric     points_per_s = points / time_s   // optional; shown as the rate
///
/// docs/reference/operations.md has the rest: what operands are filled with, the sizes that are
/// verified beside the tuned ones, the reference kernel and what a right result is. Names in
/// expressions: sizes, derived sizes, traits, `<slot>_bytes`, `<slot>_packed`, `<slot>_type`
/// compared with `type.f16` and so on. Immutable; thread-safe.
class Operation {
 public:
  /// Reads a declaration. `file` names the source in errors. Throws Error(template_).
  [[nodiscard]] static Operation parse(const std::string& file, std::string_view source);

  /// What decides whether a result is right.
  struct Judge {
    std::vector<RightSpec> rights;         ///< one for each operand that is written
    std::optional<JudgeKernel> reference;  ///< absent where a checker judges every result
    std::optional<JudgeKernel> checker;    ///< of what is right by `checker`
    std::vector<FillKernel> fills;         ///< each after those that make what it reads
    /// The size whose every value has results of its own, so that it is enough to check some of
    /// them; "": there is none.
    std::string independent;
    std::optional<Expression> integers;  ///< R: with integers of -R to R all results are exact
    std::vector<std::vector<NamedValue>> ragged;  ///< sizes, all of them, that are verified as well
    bool deterministic = true;                    ///< two runs give the same bits
  };

  /// What one run costs.
  struct Cost {
    std::optional<Expression> flops;
    std::optional<Expression> bytes;  ///< absent: those of the operands
  };

  /// Where the operation came from, and what it may include.
  struct Origin {
    std::string file;                                ///< of the declaration
    std::string source;                              ///< its text, which has the reference kernel
    std::string path;                                ///< below its directory, or the file
    std::vector<IncludeLine> includes;               ///< its header folders, relative to its own
    HeaderSearch headers = HeaderSearch::builtin();  ///< what the reference may include
    std::string headers_digest;  ///< digest_of_headers(): with `source`, all that judges and
                                 ///< kernels of it depend on
  };

  std::string name;
  std::string purpose;
  std::vector<SizeSpec> sizes;
  std::vector<TraitSpec> traits;
  std::vector<TypeSlotSpec> slots;
  std::vector<std::pair<std::string, Expression>> derived;  ///< sizes that follow from others
  std::vector<OperandSpec> operands;
  std::vector<ScalarSpec> scalars;
  std::vector<MetricSpec> metrics;
  std::uint16_t workspace_at = 0;  ///< byte offset of the workspace's address in the argument
  Judge judge;
  Cost cost;
  Origin origin;

  /// Whether its file says what is right; else Kiln has that built in.
  [[nodiscard]] bool is_declared() const { return judge.reference || judge.checker; }
  /// Sizes in the operation's order, those that are not given with the value that they have then.
  /// What the operation does not have, or not twice, stays at the end, for check() to refuse.
  [[nodiscard]] std::vector<NamedValue> with_defaults(std::vector<NamedValue> given) const;

  /// Arithmetic operations of one run, a multiply and an add counted as two. 0 where undefined, and
  /// for a problem that lacks a name.
  [[nodiscard]] double flops(const Problem& problem) const;
  /// Fewest bytes of device memory that one run must move: each input read once, each output
  /// written once. 0 likewise.
  [[nodiscard]] double bytes(const Problem& problem) const;
  /// One of its metrics, for a run with these figures. Nothing if it is undefined or needs an
  /// energy that is unknown, and for a problem that lacks a name.
  [[nodiscard]] std::optional<double> metric(const MetricSpec& spec, const Problem& problem,
                                             const RunFigures& figures) const;
  /// Whether no operand that is written has elements: there is nothing to run.
  [[nodiscard]] bool has_no_results(const Problem& problem) const;
  /// The values of names(), of a problem that has all of the operation's. Throws Error(usage) for
  /// one that lacks a name, or whose sizes give a derived one no value.
  [[nodiscard]] std::vector<std::int64_t> whole_values(const Problem& problem) const;
  /// What expressions may mention.
  [[nodiscard]] const NameTable& names() const { return names_.all; }
  // The names of sizes, slots and traits, by themselves.
  [[nodiscard]] const std::vector<std::string>& size_names() const { return names_.sizes; }
  [[nodiscard]] const std::vector<std::string>& type_slots() const { return names_.slots; }
  [[nodiscard]] const std::vector<std::string>& trait_names() const { return names_.traits; }
  /// Throws Error(usage), which names the size, type or trait, for a problem that is outside of
  /// what is declared.
  void check(const Problem& problem) const;
  /// nullptr if no operand is of that slot.
  [[nodiscard]] const OperandSpec* operand(std::string_view slot) const;

 private:
  friend class OperationParser;
  /// The values of names(), nothing if the problem lacks one.
  [[nodiscard]] std::optional<std::vector<double>> values(const Problem& problem) const;

  struct Names {
    NameTable all;
    std::vector<std::string> sizes;
    std::vector<std::string> slots;
    std::vector<std::string> traits;
  };
  Names names_;
};

/// The kernels of the operation's file: its reference and its checker, those of them that it has,
/// then its fill kernels, each after those that make what it reads.
[[nodiscard]] std::vector<const JudgeKernel*> judge_kernels(const Operation& operation);

/// Whether a file with front matter declares an operation instead of a template.
[[nodiscard]] bool declares_operation(std::string_view source);

/// The operations of one catalog: those that are compiled in and those that its files declare.
/// They live as long as the process. Thread-safe once it is shared.
class OperationSet {
 public:
  /// Adds an operation. One that is there already, with the same text, is left as it is; throws
  /// Error(template_) where another text declares the same name, and for one without reference and
  /// checker, of which no kernel could be verified.
  void declare(Operation operation);
  /// nullptr if there is none of that name.
  [[nodiscard]] const Operation* find(std::string_view name) const;
  /// What is compiled in, then what was declared, in that order.
  [[nodiscard]] std::vector<const Operation*> all() const;

 private:
  std::vector<const Operation*> declared_;
};

/// While it lives, operations() and find_operation() of this thread answer from the set: two
/// catalogs of a process may declare the same name with other texts, as a program does that opens
/// a library again after a file was edited.
class OperationScope {
 public:
  explicit OperationScope(const OperationSet& set) noexcept;
  ~OperationScope();
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

 private:
  const OperationSet* outer_;
};

/// Outside of a scope: those that are compiled in and the latest of each name that any set or
/// declare_operation() has declared. Thread-safe, as is all below.
[[nodiscard]] std::vector<const Operation*> operations();
/// nullptr if there is none of that name.
[[nodiscard]] const Operation* find_operation(std::string_view name);
/// Declares an operation for whoever looks without a scope; the latest of a name counts. Throws as
/// OperationSet::declare() does, for the names that are compiled in.
void declare_operation(Operation operation);

}  // namespace kiln
