// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::ptx {

/// Where a thread is and what its launch gave it: what special registers are made of.
struct ThreadPlace {
  using Three = std::array<std::uint32_t, 3>;
  Three tid{};
  Three ntid{};
  Three ctaid{};
  Three nctaid{};
  Three cluster_nctaid{1, 1, 1};
  std::uint32_t cluster_ctarank = 0;
  std::uint32_t laneid = 0;
  std::uint32_t warpid = 0;
  std::uint32_t nsmid = 1;
  std::uint32_t smem_bytes = 0;          ///< static and dynamic
  std::uint32_t dynamic_smem_bytes = 0;  ///< of these
  std::uint32_t system_smem_bytes = 0;   ///< before them, the system's own
  std::uint64_t grid_workspace = 0;      ///< address, in a cooperative launch; else 0
};

/// Which bits of a clock a register shows.
enum class Clock : std::uint8_t { none, low, high, whole };

/// A special register of PTX ISA 9.0.
struct SpecialRegister {
  std::string_view name;  ///< "tid", without %
  /// Its value, of a component if it has any. Null: it has none before the kernel runs, or the
  /// emulator does not know it.
  std::uint32_t (*value)(const ThreadPlace& place, std::size_t component) = nullptr;
  bool is_vector = false;  ///< of .x .y .z .w; the emulator knows three of them
  Clock clock = Clock::none;
  int count = 0;  ///< so many registers have its name with a number behind it
  std::string_view ending = {};
};

/// The register of that name, "tid" or "envreg7"; null if PTX has none.
[[nodiscard]] const SpecialRegister* find_special(std::string_view name);

/// A register, or a component of one.
struct SpecialUse {
  const SpecialRegister* special = nullptr;
  std::size_t component = 0;
  friend auto operator<=>(const SpecialUse&, const SpecialUse&) = default;
};

/// What an operand names, "%tid.x" or "%laneid"; nothing if PTX has none, or not that component.
[[nodiscard]] std::optional<SpecialUse> special_of(std::string_view operand);

}  // namespace kiln::ptx
