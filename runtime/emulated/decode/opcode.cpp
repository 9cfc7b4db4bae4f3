// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/decode/opcode.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace kiln::emulated {
namespace {

constexpr std::array kTables{
    &address_opcodes,  &bulk_opcodes,    &bulk_tensor_opcodes,   &carry_opcodes,
    &cluster_opcodes,  &compare_opcodes, &control_opcodes,       &convert_opcodes,
    &copy_opcodes,     &field_opcodes,   &float_opcodes,         &half_opcodes,
    &integer_opcodes,  &logic_opcodes,   &matrix_memory_opcodes, &matrix_multiply_opcodes,
    &mbarrier_opcodes, &memory_opcodes,  &move_opcodes,          &multiply_opcodes,
    &permute_opcodes,  &select_opcodes,  &sign_opcodes,          &special_opcodes,
    &video_opcodes,    &warp_opcodes,    &wgmma_opcodes};

/// A row with the parts of its name behind the first.
struct Entry {
  const Opcode* row = nullptr;
  std::vector<std::string_view> parts;
};

/// By the first part of their names; those with the most parts come first.
using Index = std::unordered_map<std::string_view, std::vector<Entry>>;

Index make_index() {
  Index index;
  for (const std::span<const Opcode> table : opcode_tables()) {
    for (const Opcode& row : table) {
      Entry entry{&row, {}};
      std::string_view name = row.name;
      for (auto dot = name.rfind('.'); dot != std::string_view::npos; dot = name.rfind('.')) {
        entry.parts.push_back(name.substr(dot + 1));
        name = name.substr(0, dot);
      }
      index[name].push_back(std::move(entry));
    }
  }
  for (auto& [name, entries] : index) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
      return left.parts.size() > right.parts.size();
    });
  }
  return index;
}

ptx::Type first_type(const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) {
    const ptx::Type type = ptx::type_of(part);
    if (type != ptx::Type::none) return type;
  }
  return ptx::Type::none;
}

/// None of the rows of that name fits.
[[noreturn]] void fail_unknown(const DecodeContext& context, const std::vector<Entry>& entries,
                               ptx::Type type) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> of_type;
  bool typed = false;
  for (const Entry& entry : entries) {
    names.push_back(entry.row->name);
    if (entry.row->types.has(type)) of_type.push_back(entry.row->name);
    typed = typed || !entry.row->types.empty();
  }
  if (!typed) context.fail(fmt::format("is supported only as {}", fmt::join(names, ", ")));
  if (type == ptx::Type::none) context.fail("has no type");
  const std::string_view of = ptx::name_of(type);
  if (of_type.empty()) context.fail(fmt::format("does not support the type .{}", of));
  context.fail(fmt::format("is supported for .{} only as {}", of, fmt::join(of_type, ", ")));
}

}  // namespace

std::vector<std::span<const Opcode>> opcode_tables() {
  std::vector<std::span<const Opcode>> tables;
  for (const auto table : kTables) tables.push_back(table());
  return tables;
}

const Opcode& opcode_of(DecodeContext& context) {
  static const Index kIndex = make_index();
  const auto named = kIndex.find(context.in().parts.front());
  if (named == kIndex.end()) context.fail("is an instruction that the emulator does not support");
  const std::vector<std::string_view>& left = context.left();
  const ptx::Type type = first_type(left);
  for (const auto& [row, parts] : named->second) {
    const bool fits = std::all_of(parts.begin(), parts.end(), [&](std::string_view part) {
      return std::find(left.begin(), left.end(), part) != left.end();
    });
    if (!fits || (!row->types.empty() && !row->types.has(type))) continue;
    for (const std::string_view part : parts) context.take(part);
    return *row;
  }
  fail_unknown(context, named->second, type);
}

}  // namespace kiln::emulated
