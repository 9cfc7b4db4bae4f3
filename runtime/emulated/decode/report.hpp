// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace kiln::emulated {

/// What the emulated GPU found wrong with a kernel, in the order in which findings of one launch
/// are reported: a missing barrier is often why a value is uninitialised.
enum class Finding : std::uint8_t {
  out_of_bounds,     ///< an access outside every allocation, array or window
  misaligned,        ///< an address that is no multiple of what the instruction needs
  race,              ///< two accesses that nothing orders, one of them a write
  missing_wait,      ///< memory used that an unfinished asynchronous copy or wgmma owns
  missing_fence,     ///< memory used by another proxy without a proxy fence
  divergent,         ///< a warp-wide instruction that not all its lanes reached together
  barrier_mismatch,  ///< a barrier that threads left, or reached with other counts
  uninitialised,     ///< a value read from uninitialised memory
  deadlock,          ///< everybody waits
  invalid_operand,   ///< an operand value that the instruction forbids
  trap,              ///< the kernel's own trap or failed assertion
  timed_out,         ///< more instructions or time than allowed
};

[[nodiscard]] std::string_view name_of(Finding finding);

/// The variable's own name in one that the compiler made of a C++ name: "_ZZ4sumsE5parts", which is
/// local to a function, is parts. Other names are given back.
[[nodiscard]] std::string plain_variable_name(const std::string& symbol);

/// "byte 1080 of tile, 4-byte element 270": PTX knows arrays as bytes, so what an element is, the
/// access says; 0 or 1: it does not, or elements are bytes.
[[nodiscard]] std::string place_within(std::string_view array, std::int64_t offset,
                                       int element_bytes);

/// What holds both threads of a race: which synchronisation can order them.
enum class Reach : std::uint8_t { none, warp, block, cluster, grid };

/// The other access of a race.
struct Rival {
  std::uint32_t instruction = 0;
  Reach reach = Reach::none;
};

/// As many findings of one kind and place are kept apart by the other place.
inline constexpr std::size_t kMostOthers = 8;

/// One finding, with where it was made. A source line is reported once for each kind; a race, for
/// each of up to kMostOthers other lines.
struct Report {
  Finding finding{};
  std::string kernel;
  std::array<std::uint32_t, 3> block{0, 0, 0};
  std::array<std::uint32_t, 3> thread{0, 0, 0};
  std::uint64_t address = 0;
  std::uint32_t instruction = 0;  ///< index in the program
  std::string place;              ///< "kernel.cu:37"
  std::string text;               ///< one sentence that says what and why
  std::uint64_t times = 1;        ///< how often the same was seen
  std::string caller;             ///< where the outermost inlined call of that code stands, or ""
  bool ended = false;             ///< the launch, which otherwise ran on
  std::string other;              ///< of a race: the place of the other access; else ""
  std::string other_caller;       ///< and where the outermost inlined call of that stands, or ""
  Reach reach = Reach::none;      ///< of a race between threads

  /// "out_of_bounds at kernel.cu:37 in row_sum, block (0,0,0), thread (5,0,0): ...", with the
  /// plain name of a C++ function.
  [[nodiscard]] std::string describe() const;
  /// What to do about it, "put ...", where more can be said than that the line is wrong; else "".
  [[nodiscard]] std::string_view next_step() const;
};

/// Ends a launch. Carries the finding that ended it.
class KernelFault : public std::exception {
 public:
  explicit KernelFault(Report report) : report_(std::move(report)) {}
  [[nodiscard]] const Report& report() const noexcept { return report_; }
  [[nodiscard]] const char* what() const noexcept override { return report_.text.c_str(); }

 private:
  Report report_;
};

}  // namespace kiln::emulated
