// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/decode/traits.hpp"

namespace kiln::emulated {

/// Which static shared variable each address of a kernel is computed from. C++ knows no way from
/// one array into another, and compilers do not make one: an address that only one variable's takes
/// part in, whatever is added to it, has to lie in that variable. What comes out of memory may be a
/// number or the address of anything: added to an address it is a number, but where a register may
/// hold either, nothing is known of it. Filled instruction by instruction while a kernel is
/// decoded.
class AddressBases {
 public:
  /// The next variable in the order of Program::shared_variables, by its address.
  void name(std::uint32_t address);

  /// The next instruction, and then its operands.
  void begin(Flow flow);
  void write(std::uint32_t row);
  void read(std::uint32_t row);
  void read_variable(std::uint32_t address);
  /// Of a variable that is none of those: dynamic shared memory, or in another space.
  void read_other(bool shared);
  /// What is read between these is part of an address.
  void begin_address();
  void end_address() { in_address_ = false; }

  /// Program::address_bases; none if there are not two variables to tell apart.
  [[nodiscard]] std::vector<std::uint32_t> of_addresses() const;

 private:
  /// 0: a number; else a variable's index + 1, or one of these.
  using Base = std::uint32_t;
  static constexpr Base kSeveral = 0xffffffffU;
  static constexpr Base kUnknown = 0xfffffffeU;  ///< a number or an address
  /// Of a value that is computed from both, and of one that is either.
  [[nodiscard]] static Base both(Base left, Base right);
  [[nodiscard]] static Base either(Base left, Base right);
  void read_base(Base base);

  struct Step {
    Flow flow = Flow::computed;
    std::vector<std::uint32_t> writes;  ///< rows
    std::vector<std::uint32_t> reads;
    Base named = 0;  ///< by operands
    int addresses = 0;
    std::vector<std::uint32_t> address_reads;  ///< of the first address
    Base address_named = 0;
  };
  using Rows = std::unordered_map<std::uint32_t, Base>;
  [[nodiscard]] static Base result_of(const Step& step, const Rows& rows);
  [[nodiscard]] bool nothing_to_tell() const { return variables_.size() < 2; }

  std::map<std::uint32_t, Base> variables_;  ///< by address
  std::size_t named_ = 0;
  std::vector<Step> steps_;  ///< of each instruction
  bool in_address_ = false;
};

}  // namespace kiln::emulated
