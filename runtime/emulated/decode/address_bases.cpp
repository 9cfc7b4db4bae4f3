// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/decode/address_bases.hpp"

#include <algorithm>
#include <cstddef>

namespace kiln::emulated {
namespace {

/// What no compiler would write may take very many.
constexpr int kMostPasses = 64;

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

void AddressBases::begin(Flow flow) {
  if (nothing_to_tell()) return;
  steps_.emplace_back().flow = flow;
}

void AddressBases::write(std::uint32_t row) {
  if (nothing_to_tell()) return;
  steps_.back().writes.push_back(row);
}

void AddressBases::read(std::uint32_t row) {
  if (nothing_to_tell()) return;
  Step& step = steps_.back();
  step.reads.push_back(row);
  if (in_address_ && step.addresses == 1) step.address_reads.push_back(row);
}

void AddressBases::read_base(Base base) {
  Step& step = steps_.back();
  step.named = step.flow == Flow::chosen ? either(step.named, base) : both(step.named, base);
  if (in_address_ && step.addresses == 1) step.address_named = both(step.address_named, base);
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
  ++steps_.back().addresses;
}

AddressBases::Base AddressBases::result_of(const Step& step, const Rows& rows) {
  if (step.flow == Flow::number) return 0;
  if (step.flow == Flow::loaded) return kUnknown;
  Base result = step.named;
  int addresses = result != 0 && result != kUnknown ? 1 : 0;
  for (const std::uint32_t row : step.reads) {
    const auto at = rows.find(row);
    if (at == rows.end()) continue;
    result = step.flow == Flow::chosen ? either(result, at->second) : both(result, at->second);
    if (at->second != 0 && at->second != kUnknown) ++addresses;
  }
  // The distance of two places in one variable is a number.
  const bool distance = step.flow == Flow::difference && addresses == 2 && result != kSeveral;
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
    for (const Step& step : steps_) {
      if (step.writes.empty()) continue;
      const Base result = result_of(step, rows);
      if (result == 0) continue;
      for (const std::uint32_t row : step.writes) {
        Base& at = rows[row];
        const Base any = either(at, result);
        changed = changed || any != at;
        at = any;
      }
    }
  }
  std::vector<std::uint32_t> bases;
  bases.reserve(steps_.size());
  for (const Step& step : steps_) {
    Base base = step.address_named;
    for (const std::uint32_t row : step.address_reads) {
      const auto at = rows.find(row);
      if (at != rows.end()) base = both(base, at->second);
    }
    // Of other instructions with two addresses one is an mbarrier's.
    const bool is_one = step.addresses == 1 || (step.addresses == 2 && step.flow == Flow::copied);
    bases.push_back(!is_one || base == kSeveral || base == kUnknown ? 0 : base);
  }
  return bases;
}

}  // namespace kiln::emulated
