// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kiln {

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t bytes = 0;   ///< also of a section without content
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t alignment = 0;
  std::uint64_t entry_bytes = 0;
  std::string_view content;  ///< empty when the file holds none (SHT_NOBITS)
};

struct ElfSymbol {
  std::string_view name;
  std::uint8_t info = 0;   ///< binding and type
  std::uint8_t other = 0;  ///< visibility, and flags of the architecture
  std::uint16_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t bytes = 0;
  [[nodiscard]] unsigned type() const { return info & 0xfU; }
};

struct ElfSegment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t physical_address = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t alignment = 0;
};

/// The tables of a little-endian 64-bit ELF file, which a cubin is. What it refers to are the bytes
/// that it was read from, which must live as long.
struct ElfImage {
  static constexpr std::uint32_t kSymbols = 2;    ///< SHT_SYMTAB
  static constexpr std::uint32_t kStrings = 3;    ///< SHT_STRTAB
  static constexpr std::uint32_t kNoContent = 8;  ///< SHT_NOBITS

  std::string_view ident;  ///< the first 16 bytes
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  std::uint32_t version = 0;
  std::uint64_t entry = 0;
  std::uint32_t flags = 0;
  std::uint64_t segments_offset = 0;
  std::vector<ElfSection> sections;
  std::vector<ElfSegment> segments;

  /// Nothing for bytes that are no such file, or one that refers to what lies outside of it.
  [[nodiscard]] static std::optional<ElfImage> read(std::span<const std::byte> bytes);
  /// The entries of a symbol table. Nothing when they or their names are not all there.
  [[nodiscard]] std::optional<std::vector<ElfSymbol>> symbols(const ElfSection& table) const;
};

}  // namespace kiln
