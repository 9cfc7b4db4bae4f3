// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kiln::testing {

/// Puts an ELF file together as ptxas does: string tables and symbols first, then the sections in
/// the order of their addition, then the tables of sections and segments.
class ElfBuilder {
 public:
  struct Section {
    std::string name;
    std::uint32_t type = 1;
    std::string content = {};
    std::uint64_t flags = 0;
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    std::uint64_t entry_bytes = 0;
    std::uint64_t bytes = 0;  ///< where there is no content
  };
  struct Symbol {
    std::string name;
    std::uint8_t info = 0;
    std::uint16_t section = 0;
    std::uint64_t value = 0;
  };
  struct Segment {
    std::uint32_t type = 1;
    std::uint64_t section = 0;  ///< where it begins; 0: the table of segments
    std::uint64_t last = 0;     ///< section with which it ends
    std::uint64_t offset = 0;   ///< by which it begins later
    std::uint64_t more = 0;     ///< bytes in memory only
  };
  /// Sections that every file has: none, two of names, and the symbols.
  static constexpr std::uint32_t kSectionNames = 1;
  static constexpr std::uint32_t kSymbolNames = 2;
  static constexpr std::uint16_t kFirstFree = 4;

  std::vector<Section> sections;
  std::vector<Symbol> symbols{{}};
  std::vector<Segment> segments;
  std::uint16_t machine = 190;
  std::string section_names_before;  ///< unused names at the front of the table, ended by zeros

  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::string section_names(1, '\0');
    section_names += section_names_before;
    std::string symbol_names(1, '\0');
    const auto add = [](std::string& names, const std::string& name) {
      const std::size_t at = names.size();
      names += name;
      names += '\0';
      return static_cast<std::uint32_t>(at);
    };
    std::string table;
    for (const Symbol& symbol : symbols) {
      put<std::uint32_t>(table, add(symbol_names, symbol.name));
      put<std::uint8_t>(table, symbol.info);
      put<std::uint8_t>(table, 0);
      put<std::uint16_t>(table, symbol.section);
      put<std::uint64_t>(table, symbol.value);
      put<std::uint64_t>(table, 0);
    }
    std::vector<Section> all{{"", 0}, {".shstrtab", 3}, {".strtab", 3}};
    all.push_back({".symtab", 2, table, 0, kSymbolNames, 0, 24});
    all.insert(all.end(), sections.begin(), sections.end());
    std::vector<std::uint32_t> names;
    for (const Section& section : all) names.push_back(add(section_names, section.name));
    all[kSectionNames].content = section_names;
    all[kSymbolNames].content = symbol_names;

    std::string file(64, '\0');
    std::string headers;
    std::vector<std::uint64_t> offsets;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Section& section = all[i];
      file.resize((file.size() + 15) / 16 * 16, '\0');
      const std::uint64_t offset = i == 0 ? 0 : file.size();
      offsets.push_back(offset);
      put<std::uint32_t>(headers, names[i]);
      put<std::uint32_t>(headers, section.type);
      put<std::uint64_t>(headers, section.flags);
      put<std::uint64_t>(headers, 0);
      put<std::uint64_t>(headers, offset);
      put<std::uint64_t>(headers, section.bytes > 0 ? section.bytes : section.content.size());
      put<std::uint32_t>(headers, section.link);
      put<std::uint32_t>(headers, section.info);
      put<std::uint64_t>(headers, 4);
      put<std::uint64_t>(headers, section.entry_bytes);
      file += section.content;
    }
    const std::uint64_t sections_at = file.size();
    file += headers;
    const std::uint64_t segments_at = file.size();
    for (const Segment& segment : segments) {
      put<std::uint32_t>(file, segment.type);
      put<std::uint32_t>(file, 5);
      const bool is_table = segment.section == 0;
      const std::uint64_t begin =
          is_table ? segments_at : offsets[segment.section] + segment.offset;
      const std::uint64_t end =
          is_table ? begin + 56 : offsets[segment.last] + all[segment.last].content.size();
      put<std::uint64_t>(file, begin);
      put<std::uint64_t>(file, 0);
      put<std::uint64_t>(file, 0);
      put<std::uint64_t>(file, end - begin);
      put<std::uint64_t>(file, end - begin + segment.more);
      put<std::uint64_t>(file, 8);
    }
    std::string header("\x7f\x45LF\x02\x01\x01\x41", 8);
    header.resize(16, '\0');
    put<std::uint16_t>(header, 2);
    put<std::uint16_t>(header, machine);
    put<std::uint32_t>(header, 1);
    put<std::uint64_t>(header, 0);
    put<std::uint64_t>(header, segments_at);
    put<std::uint64_t>(header, sections_at);
    put<std::uint32_t>(header, 0x5a);
    put<std::uint16_t>(header, 64);
    put<std::uint16_t>(header, 56);
    put<std::uint16_t>(header, static_cast<std::uint16_t>(segments.size()));
    put<std::uint16_t>(header, 64);
    put<std::uint16_t>(header, static_cast<std::uint16_t>(all.size()));
    put<std::uint16_t>(header, kSectionNames);
    file.replace(0, 64, header);
    std::vector<std::byte> result(file.size());
    std::memcpy(result.data(), file.data(), file.size());
    return result;
  }

 private:
  template <class Int>
  static void put(std::string& to, Int number) {
    for (std::size_t i = 0; i < sizeof(Int); ++i) {
      to += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xffU);
    }
  }
};

}  // namespace kiln::testing
