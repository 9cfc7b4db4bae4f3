// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include <iterator>

#include <fmt/format.h>

#include "runtime/emulated/ptx/ptx_module.hpp"

namespace kiln::ptx {

namespace {

/// Indices of a function that was built by hand may lead nowhere; a message must still appear.
template <class List>
std::string name_at(const List& list, int index) {
  if (index < 0 || static_cast<std::size_t>(index) >= list.size()) return fmt::format("?{}", index);
  return list[static_cast<std::size_t>(index)].name;
}

class Writer {
 public:
  explicit Writer(const Function& function) : function_(function) {}

  void write(const Operand& operand) {
    using Kind = Operand::Kind;
    switch (operand.kind) {
      case Kind::reg:
        text_ += operand.negated ? "!" : "";
        text_ += name_at(function_.registers, operand.index);
        break;
      case Kind::variable:
        text_ += name_at(function_.variables, operand.index);
        write_offset(operand.value);
        break;
      case Kind::special:
      case Kind::label:
      case Kind::function:
        text_ += operand.name;
        break;
      case Kind::integer:
        fmt::format_to(std::back_inserter(text_), "{}", operand.value);
        break;
      case Kind::real:
        fmt::format_to(std::back_inserter(text_), "0d{:016X}",
                       static_cast<std::uint64_t>(operand.value));
        break;
      case Kind::vector:
        text_ += in_call_ ? "(" : "{";
        write_list(operand.elements, ", ");
        text_ += in_call_ ? ")" : "}";
        break;
      case Kind::address:
        write_address(operand);
        break;
      case Kind::pair:
        write_list(operand.elements, "|");
        break;
      case Kind::discard:
        text_ += "_";
        break;
    }
  }

  std::string write(const Instruction& in) {
    in_call_ = !in.parts.empty() && in.parts.front() == "call";
    if (in.guard >= 0) {
      fmt::format_to(std::back_inserter(text_), "@{}{} ", in.guard_negated ? "!" : "",
                     name_at(function_.registers, in.guard));
    }
    text_ += in.opcode();
    if (!in.operands.empty()) text_ += " ";
    write_list(in.operands, ", ");
    text_ += ";";
    return std::move(text_);
  }

 private:
  void write_list(const std::vector<Operand>& list, std::string_view between) {
    for (const Operand& each : list) {
      if (&each != &list.front()) text_ += between;
      write(each);
    }
  }

  void write_offset(std::int64_t offset) {
    if (offset != 0) fmt::format_to(std::back_inserter(text_), "{:+}", offset);
  }

  void write_address(const Operand& address) {
    text_ += "[";
    for (const Operand& each : address.elements) {
      if (&each != &address.elements.front()) text_ += ", ";
      write(each);
      if (&each == &address.elements.front()) write_offset(address.value);
    }
    text_ += "]";
  }

  const Function& function_;
  std::string text_;
  bool in_call_ = false;
};

}  // namespace

std::string text_of(const Function& function, const Instruction& instruction) {
  return Writer(function).write(instruction);
}

}  // namespace kiln::ptx
