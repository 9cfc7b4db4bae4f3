// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/emulated/decode/function_decoder.hpp"
#include "runtime/emulated/ptx/ptx_lexer.hpp"

namespace kiln::emulated {
namespace {

using ptx::Operand;

/// Messages show no more of an instruction: lists of registers can be long.
constexpr std::size_t kMostShown = 160;

}  // namespace

int lane_bytes(ptx::Type type) {
  if (type == ptx::Type::pred) return 0;
  return std::max(2, ptx::bits_of(type) / 8);
}

DecodeContext::DecodeContext(FunctionDecoder& owner, const ptx::Instruction& in)
    : owner_(owner), in_(in), left_(in.parts.begin() + 1, in.parts.end()) {}

bool DecodeContext::take(std::string_view part) {
  return !take_one_of({part}).empty();
}

std::string_view DecodeContext::take_one_of(std::initializer_list<std::string_view> parts) {
  const auto at = std::find_if(left_.begin(), left_.end(), [&](std::string_view part) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  });
  if (at == left_.end()) return {};
  const std::string_view found = *at;
  left_.erase(at);
  return found;
}

ptx::Type DecodeContext::take_type() {
  for (auto at = left_.begin(); at != left_.end(); ++at) {
    const ptx::Type type = ptx::type_of(*at);
    if (type == ptx::Type::none) continue;
    left_.erase(at);
    return type;
  }
  fail("has no type");
}

std::string_view DecodeContext::take_next() {
  if (left_.empty()) return {};
  const std::string_view part = left_.front();
  left_.erase(left_.begin());
  return part;
}

const Operand& DecodeContext::operand(std::size_t i) const {
  if (i >= in_.operands.size()) fail(fmt::format("has no operand {}", i + 1));
  return in_.operands[i];
}

bool DecodeContext::is_immediate(const Operand& operand) const {
  return operand.kind == Operand::Kind::integer || operand.kind == Operand::Kind::real;
}

ptx::Type DecodeContext::register_type(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg ? owner_.register_type(operand.index) : ptx::Type::none;
}

std::uint64_t DecodeContext::immediate_bits(const Operand& operand, ptx::Type type) const {
  const auto bits = static_cast<std::uint64_t>(operand.value);
  if (operand.kind == Operand::Kind::integer) return bits;
  switch (type) {
    case ptx::Type::b32:
    case ptx::Type::f32:
      return ptx::narrowed(bits);
    case ptx::Type::b64:
    case ptx::Type::f64:
      return bits;
    default:
      fail(fmt::format("has a floating-point constant where .{} is expected", ptx::name_of(type)));
  }
}

std::uint32_t DecodeContext::source(const Operand& operand, ptx::Type type) {
  const int width = lane_bytes(type);
  if (operand.negated) fail("has a negated operand, which is not allowed here");
  switch (operand.kind) {
    case Operand::Kind::reg:
      if (lane_bytes(register_type(operand)) != width) {
        fail(fmt::format("has a register whose width differs from the width of .{}",
                         ptx::name_of(type)));
      }
      return owner_.register_row(operand.index);
    case Operand::Kind::integer:
    case Operand::Kind::real:
      return constant(immediate_bits(operand, type), width);
    case Operand::Kind::special:
      if (const auto use = ptx::special_of(operand.name); use && use->special->value != nullptr) {
        return owner_.special(*use, width);
      }
      fail(fmt::format("reads {}, which the emulator does not support", operand.name));
    case Operand::Kind::variable: {
      const auto place = owner_.place_of(operand.index);
      return constant(place.address + static_cast<std::uint64_t>(operand.value), width);
    }
    case Operand::Kind::function:
      if (width != 8)
        fail(fmt::format("has the address of '{}' where a value of type .{} is expected",
                         operand.name, ptx::name_of(type)));
      return constant(owner_.function_address(operand.name), width);
    case Operand::Kind::vector:
      fail("has a vector where a scalar operand is expected");
    default:
      fail("has an operand that is neither a register nor a constant");
  }
}

std::uint32_t DecodeContext::destination(const Operand& operand, ptx::Type type) {
  const int width = lane_bytes(type);
  if (operand.kind == Operand::Kind::discard) return scratch(width);
  if (operand.kind != Operand::Kind::reg || operand.negated) {
    fail("has a destination that is not a register");
  }
  if (lane_bytes(register_type(operand)) != width) {
    fail(fmt::format("has a destination whose width differs from the width of .{}",
                     ptx::name_of(type)));
  }
  return owner_.register_row(operand.index);
}

std::uint32_t DecodeContext::predicate(const Operand& operand, bool* negated) {
  if (operand.negated && negated == nullptr)
    fail("has a negated predicate, which is not allowed here");
  if (negated != nullptr) *negated = operand.negated;
  if (operand.kind == Operand::Kind::integer) return constant(operand.value != 0 ? 1 : 0, 0);
  if (register_type(operand) != ptx::Type::pred) fail("has an operand that is not a predicate");
  return owner_.register_row(operand.index);
}

std::int64_t DecodeContext::immediate(std::size_t i) const {
  const Operand& at = operand(i);
  if (at.kind != Operand::Kind::integer) {
    fail(fmt::format("needs a constant as operand {}", i + 1));
  }
  return at.value;
}

AddressOperand DecodeContext::address(const Operand& operand) {
  if (operand.kind != Operand::Kind::address || operand.elements.empty()) {
    fail("has an operand that is not an address");
  }
  const Operand& base = operand.elements.front();
  AddressOperand result;
  // Sums wrap: every 64 bits are an address.
  const auto offset_from = [&](std::uint64_t start) {
    return static_cast<std::int64_t>(start + static_cast<std::uint64_t>(operand.value));
  };
  result.offset = operand.value;
  switch (base.kind) {
    case Operand::Kind::reg:
      result.lane_bytes = lane_bytes(register_type(base));
      if (result.lane_bytes != 4 && result.lane_bytes != 8)
        fail("has an address that is neither 32 nor 64 bits wide");
      result.row = owner_.register_row(base.index);
      return result;
    case Operand::Kind::variable: {
      const auto place = owner_.place_of(base.index);
      result.space = place.space;
      result.offset = offset_from(place.address);
      return result;
    }
    case Operand::Kind::integer:
      result.offset = offset_from(static_cast<std::uint64_t>(base.value));
      return result;
    default:
      fail("has an address that is not a register, variable or number");
  }
}

std::vector<std::uint32_t> DecodeContext::sources(const Operand& operand, ptx::Type type) {
  if (operand.kind != Operand::Kind::vector) return {source(operand, type)};
  std::vector<std::uint32_t> rows;
  for (const Operand& element : operand.elements) rows.push_back(source(element, type));
  return rows;
}

std::vector<std::uint32_t> DecodeContext::destinations(const Operand& operand, ptx::Type type) {
  if (operand.kind != Operand::Kind::vector) return {destination(operand, type)};
  std::vector<std::uint32_t> rows;
  for (const Operand& element : operand.elements) rows.push_back(destination(element, type));
  return rows;
}

std::uint32_t DecodeContext::carry_row() {
  return owner_.carry_row();
}

std::uint32_t DecodeContext::scratch(int bytes_per_lane) {
  return owner_.new_row(bytes_per_lane);
}

std::uint32_t DecodeContext::constant(std::uint64_t value, int bytes_per_lane) {
  return owner_.constant(value, 0, bytes_per_lane);
}

void DecodeContext::set_rows(Instr& out, const std::vector<std::uint32_t>& rows) {
  auto list = std::make_unique<std::uint32_t[]>(rows.size());
  std::copy(rows.begin(), rows.end(), list.get());
  out.rows = list.get();
  out.count = static_cast<std::uint32_t>(rows.size());
  owner_.program().lists.push_back(std::move(list));
}

void DecodeContext::emit_before(Instr out, const Traits& traits) {
  owner_.emit(in_, out, traits);
}

void DecodeContext::note_moved_word(std::uint32_t row) {
  owner_.program().moved_rows.push_back(row);
}

void DecodeContext::keep_shared(std::shared_ptr<const void> detail) {
  owner_.program().details.push_back(std::move(detail));
}

void DecodeContext::fail(const std::string& text) const {
  std::string whole = ptx::text_of(owner_.function(), in_);
  if (whole.size() > kMostShown) whole.replace(kMostShown, std::string::npos, "...");
  throw Error(ErrorKind::device, fmt::format("{}: {} {}, in '{}'. The emulated GPU cannot run this "
                                             "kernel. Next: run the kernel on a GPU.",
                                             place_text(in_.origin, owner_.program().files),
                                             in_.opcode(), text, whole));
}

void DecodeContext::expect_operands(std::size_t count) const {
  if (operands() != count) {
    fail(fmt::format("has {} operands, but the emulator expects {}", operands(), count));
  }
}

}  // namespace kiln::emulated
