// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile/register_note.hpp"

/// \file
/// PTX text as the reader gives it: names resolved to indices, nothing decoded. Scopes of inline
/// assembly are flattened; an instruction keeps its dotted parts, which only the decoder
/// understands.

namespace kiln::ptx {

/// Fundamental and packed types of PTX ISA 9.0, as they follow a dot.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64
};

/// Bits of one value; pred counts as 1, none as 0.
[[nodiscard]] int bits_of(Type type);
/// The type of ".u32" without its dot; Type::none when there is no such.
[[nodiscard]] Type type_of(std::string_view name);
[[nodiscard]] std::string_view name_of(Type type);

enum class Space : std::uint8_t { generic, constant, global, local, param, shared };

/// Where an instruction comes from. `line` 0 means that the compiler told nothing.
struct Origin {
  int ptx_line = 0;  ///< 1-based, in the PTX text
  int file = 0;      ///< index into Module::files
  /// In that file, of the innermost inlined function that is not of a header of CUDA.
  int line = 0;
  int outer_file = 0;
  int outer_line = 0;  ///< where the outermost inlined call stands; 0 when nothing was inlined
  int caller = 0;      ///< of use to SourceLines alone
};

/// A register of a function. Registers of nested scopes have their scope's number in their name.
struct Register {
  std::string name;
  Type type = Type::none;
};

/// What a byte of an initialised variable refers to besides itself: `address of symbol + addend`,
/// little-endian, from `offset` on.
struct Relocation {
  std::size_t offset = 0;
  int bytes = 8;
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;  ///< generic(symbol): the generic address, not the one within its space
};

/// A named piece of memory: of the module (global, constant, shared), of a function (shared, local,
/// and param inside calls), or a parameter.
struct Variable {
  std::string name;
  Space space = Space::generic;
  std::int64_t bytes = 0;  ///< 0 for `extern .shared x[]`, which the launch sizes
  std::int64_t alignment = 1;
  bool external = false;
  std::vector<std::byte> initial;  ///< shorter than `bytes`: the rest is zero; empty: none given
  std::vector<Relocation> relocations;
  /// Of a function's variable: index into Module::variables if it is the module's own, which alone
  /// has the initial contents. -1 for all others.
  int module_index = -1;
  /// Of a parameter or return value declared as .reg: index into Function::registers, or -1.
  int register_index = -1;
};

/// An operand. Vectors, addresses with coordinates and argument lists nest.
struct Operand {
  enum class Kind : std::uint8_t {
    reg,       ///< `index` into Function::registers; `negated` for !%p
    special,   ///< `name`: "%tid.x"
    variable,  ///< `index` into Function::variables; `value` is the 8 of `name+8`
    label,     ///< `index` of the instruction that follows it; for brx.idx into branch_tables
    function,  ///< `name` of a function, or of the prototype that ends an indirect call
    integer,   ///< `value`; WARP_SZ is 32
    real,      ///< `value` holds the bits of a double; 0f and 0d literals exactly
    vector,    ///< `elements`: {a, b, c, d}; also the lists of call
    address,   ///< `elements`: the base (reg, variable or integer), then coordinates and others of
               ///< [a, {x, y}]; `value` is the byte offset of [a + 8]
    pair,      ///< `elements`: p|q
    discard,   ///< _
  };
  Kind kind = Kind::discard;
  bool negated = false;
  int index = -1;
  std::int64_t value = 0;
  std::string name;
  std::vector<Operand> elements;
};

struct Instruction {
  std::vector<std::string> parts;  ///< "ld", "global", "v4", "f32"; "shared::cta" is one part
  int guard = -1;                  ///< predicate register, or -1
  bool guard_negated = false;
  std::vector<Operand> operands;
  Origin origin;

  /// The instruction as written in PTX, without operands: "ld.global.v4.f32".
  [[nodiscard]] std::string opcode() const;
};

struct Function {
  std::string name;
  bool entry = false;
  bool defined = false;             ///< false for a declaration (vprintf, __assertfail)
  std::vector<Register> registers;  ///< those that the text mentions
  /// Parameters first (`parameter_count`), return values next (`return_count`), then in the order
  /// of the text its own, those of its scopes, and the module's variables that it names.
  std::vector<Variable> variables;
  int parameter_count = 0;
  int return_count = 0;
  std::vector<Instruction> body;
  /// .branchtargets lists, which brx.idx names as labels by position: each a list of instructions.
  struct BranchTable {
    std::string name;
    std::vector<int> targets;
  };
  std::vector<BranchTable> branch_tables;
  int max_threads[3] = {0, 0, 0};       ///< .maxntid; zeros when not given
  int required_threads[3] = {0, 0, 0};  ///< .reqntid
  int cluster[3] = {0, 0, 0};           ///< .reqnctapercluster
  int ptx_line = 0;
};

struct Module {
  int version_major = 0;
  int version_minor = 0;
  std::string target;              ///< "sm_90a"
  KernelRegisters registers;       ///< of threads, as far as register_note() says them
  std::vector<std::string> files;  ///< .file names; index 0 is the PTX text itself, ""
  std::vector<Variable> variables;
  std::vector<Function> functions;

  [[nodiscard]] const Function* find(std::string_view name) const;
};

/// Reads a whole module. Throws Error(device) "PTX:line:column: message" for text that is not PTX,
/// or uses a directive or form that the reader does not know. Instructions are not judged here.
/// Work and memory are linear in the text; text over 64 MiB and nesting deeper than 64 are refused.
[[nodiscard]] Module read_module(std::string_view text);

/// The instruction as PTX, for messages: "@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd4+8];".
[[nodiscard]] std::string text_of(const Function& function, const Instruction& instruction);

}  // namespace kiln::ptx
