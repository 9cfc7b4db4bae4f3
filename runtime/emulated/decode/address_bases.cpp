// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/decode/address_bases.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace kiln::emulated {
namespace {

template <std::size_t count>
bool is_one_of(std::string_view opcode, const std::array<std::string_view, count>& all) {
  return std::find(all.begin(), all.end(), opcode) != all.end();
}

/// What no compiler would write may take very many.
constexpr int kMostPasses = 64;

constexpr std::array<std::string_view, 7> kLoads{"ld",   "ldu",  "ldmatrix", "atom",
                                                 "wmma", "call", "mbarrier"};
/// Their results are no addresses, whatever they read.
constexpr std::array<std::string_view, 3> kNumbers{"wgmma", "mma", "isspacep"};
constexpr std::array<std::string_view, 5> kChoices{"selp", "slct", "min", "max", "shfl"};

}  // namespace

AddressBases::Base AddressBases::both(Base left, Base right) {
  if (left == 0 || left == kUnknown) return right == 0 ? left : right;
  if (right == 0 || right == kUnknown) return left;
  return left == right ? left : kSeveral;
}

AddressBases::Base AddressBases::either(Base left, Base right) {
  if (left == 0 || left == right) return right;
  return right == 0 ? left : kSeveral;
}

void AddressBases::name(std::uint32_t address) {
  // Of variables without bytes, which share their address with the next one, nothing is known.
  const auto index = static_cast<Base>(++named_);
  const auto [at, fresh] = variables_.emplace(address, index);
  if (!fresh) at->second = kSeveral;
}

void AddressBases::begin(const std::vector<std::string>& parts) {
  if (nothing_to_tell()) return;
  const std::string& opcode = parts.front();
  Flow& flow = flows_.emplace_back();
  flow.loads = is_one_of(opcode, kLoads);
  flow.numbers = is_one_of(opcode, kNumbers);
  flow.chooses = is_one_of(opcode, kChoices);
  flow.subtracts = opcode == "sub";
  flow.copies = opcode == "cp" && std::find(parts.begin(), parts.end(), "bulk") == parts.end();
}

void AddressBases::write(std::uint32_t row) {
  if (nothing_to_tell()) return;
  flows_.back().writes.push_back(row);
}

void AddressBases::read(std::uint32_t row) {
  if (nothing_to_tell()) return;
  Flow& flow = flows_.back();
  flow.reads.push_back(row);
  if (in_address_ && flow.addresses == 1) flow.address_reads.push_back(row);
}

void AddressBases::read_base(Base base) {
  Flow& flow = flows_.back();
  flow.named = flow.chooses ? either(flow.named, base) : both(flow.named, base);
  if (in_address_ && flow.addresses == 1) flow.address_named = both(flow.address_named, base);
}

void AddressBases::read_variable(std::uint32_t address) {
  if (nothing_to_tell()) return;
  const auto at = variables_.find(address);
  read_base(at == variables_.end() ? kSeveral : at->second);
}

void AddressBases::read_other(bool shared) {
  if (nothing_to_tell()) return;
  read_base(shared ? kSeveral : kUnknown);
}

void AddressBases::begin_address() {
  if (nothing_to_tell()) return;
  in_address_ = true;
  ++flows_.back().addresses;
}

AddressBases::Base AddressBases::result_of(const Flow& flow, const Rows& rows) {
  if (flow.numbers) return 0;
  if (flow.loads) return kUnknown;
  Base result = flow.named;
  int addresses = result != 0 && result != kUnknown ? 1 : 0;
  for (const std::uint32_t row : flow.reads) {
    const auto at = rows.find(row);
    if (at == rows.end()) continue;
    result = flow.chooses ? either(result, at->second) : both(result, at->second);
    if (at->second != 0 && at->second != kUnknown) ++addresses;
  }
  // The distance of two places in one variable is a number.
  const bool distance = flow.subtracts && addresses == 2 && result != kSeveral;
  return distance ? 0 : result;
}

std::vector<std::uint32_t> AddressBases::of_addresses() const {
  if (nothing_to_tell()) return {};
  // Rows have one value for the whole kernel: that of any instruction that writes there. Values go
  // down the code in one pass and around each loop in one more.
  Rows rows;
  bool changed = true;
  for (int pass = 0; changed; ++pass) {
    if (pass == kMostPasses) return {};
    changed = false;
    for (const Flow& flow : flows_) {
      if (flow.writes.empty()) continue;
      const Base result = result_of(flow, rows);
      if (result == 0) continue;
      for (const std::uint32_t row : flow.writes) {
        Base& at = rows[row];
        const Base any = either(at, result);
        changed = changed || any != at;
        at = any;
      }
    }
  }
  std::vector<std::uint32_t> bases;
  bases.reserve(flows_.size());
  for (const Flow& flow : flows_) {
    Base base = flow.address_named;
    for (const std::uint32_t row : flow.address_reads) {
      const auto at = rows.find(row);
      if (at != rows.end()) base = both(base, at->second);
    }
    // Of other instructions with two addresses one is an mbarrier's.
    const bool is_one = flow.addresses == 1 || (flow.addresses == 2 && flow.copies);
    bases.push_back(!is_one || base == kSeveral || base == kUnknown ? 0 : base);
  }
  return bases;
}

}  // namespace kiln::emulated
