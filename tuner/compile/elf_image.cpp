// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/compile/elf_image.hpp"

#include <string>

namespace kiln {
namespace {

/// Magic number, 64 bits, little-endian.
constexpr std::string_view kIdent("\x7f\x45LF\x02\x01", 6);
constexpr std::size_t kIdentBytes = 16;
constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kSectionBytes = 64;
constexpr std::size_t kSegmentBytes = 56;
constexpr std::size_t kSymbolBytes = 24;

/// Takes numbers from the front of bytes that are known to be enough.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  template <class Int>
  void take(Int& number) {
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(Int); i-- > 0;) {
      value = value << 8U | static_cast<unsigned char>(rest_[i]);
    }
    number = static_cast<Int>(value);
    rest_.remove_prefix(sizeof(Int));
  }

 private:
  std::string_view rest_;
};

/// `count` entries of `bytes` each from `offset` on.
std::optional<std::string_view> part(std::string_view file, std::uint64_t offset,
                                     std::uint64_t count, std::uint64_t bytes = 1) {
  if (offset > file.size() || count > (file.size() - offset) / bytes) return std::nullopt;
  return file.substr(offset, count * bytes);
}

/// The text that ends with a zero.
std::optional<std::string_view> name_at(std::string_view strings, std::uint64_t offset) {
  if (offset >= strings.size()) return std::nullopt;
  const std::size_t end = strings.find('\0', offset);
  if (end == std::string_view::npos) return std::nullopt;
  return strings.substr(offset, end - offset);
}

struct SectionRow {
  ElfSection section;
  std::uint32_t name = 0;
};

SectionRow read_section(std::string_view bytes) {
  SectionRow row;
  ElfSection& section = row.section;
  Fields fields(bytes);
  fields.take(row.name);
  fields.take(section.type);
  fields.take(section.flags);
  fields.take(section.address);
  fields.take(section.offset);
  fields.take(section.bytes);
  fields.take(section.link);
  fields.take(section.info);
  fields.take(section.alignment);
  fields.take(section.entry_bytes);
  return row;
}

ElfSegment read_segment(std::string_view bytes) {
  ElfSegment segment;
  Fields fields(bytes);
  fields.take(segment.type);
  fields.take(segment.flags);
  fields.take(segment.offset);
  fields.take(segment.address);
  fields.take(segment.physical_address);
  fields.take(segment.file_bytes);
  fields.take(segment.memory_bytes);
  fields.take(segment.alignment);
  return segment;
}

/// False when one has a place or a name outside of the file.
bool read_sections(std::string_view file, std::string_view table, std::uint16_t names_section,
                   std::vector<ElfSection>& sections) {
  std::vector<std::uint32_t> names;
  for (; !table.empty(); table.remove_prefix(kSectionBytes)) {
    auto [section, name] = read_section(table);
    if (section.type != ElfImage::kNoContent) {
      const auto content = part(file, section.offset, section.bytes);
      if (!content) return false;
      section.content = *content;
    }
    sections.push_back(section);
    names.push_back(name);
  }
  if (names_section >= sections.size()) return false;
  const std::string_view strings = sections[names_section].content;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto name = name_at(strings, names[i]);
    if (!name) return false;
    sections[i].name = *name;
  }
  return true;
}

}  // namespace

std::optional<ElfImage> ElfImage::read(std::span<const std::byte> bytes) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (file.size() < kHeaderBytes || !file.starts_with(kIdent)) return std::nullopt;
  ElfImage image;
  image.ident = file.substr(0, kIdentBytes);
  std::uint64_t sections_offset = 0;
  std::uint16_t header_bytes = 0;
  std::uint16_t segment_bytes = 0;
  std::uint16_t segment_count = 0;
  std::uint16_t section_bytes = 0;
  std::uint16_t section_count = 0;
  std::uint16_t names_section = 0;
  Fields fields(file.substr(kIdentBytes));
  fields.take(image.type);
  fields.take(image.machine);
  fields.take(image.version);
  fields.take(image.entry);
  fields.take(image.segments_offset);
  fields.take(sections_offset);
  fields.take(image.flags);
  fields.take(header_bytes);
  fields.take(segment_bytes);
  fields.take(segment_count);
  fields.take(section_bytes);
  fields.take(section_count);
  fields.take(names_section);
  if (section_bytes != kSectionBytes || (segment_count > 0 && segment_bytes != kSegmentBytes)) {
    return std::nullopt;
  }
  const auto sections = part(file, sections_offset, section_count, kSectionBytes);
  const auto segments = part(file, image.segments_offset, segment_count, kSegmentBytes);
  if (!sections || !segments) return std::nullopt;
  if (!read_sections(file, *sections, names_section, image.sections)) return std::nullopt;
  for (std::string_view table = *segments; !table.empty(); table.remove_prefix(kSegmentBytes)) {
    image.segments.push_back(read_segment(table));
  }
  return image;
}

std::optional<std::vector<ElfSymbol>> ElfImage::symbols(const ElfSection& table) const {
  if (table.entry_bytes != kSymbolBytes || table.content.size() % kSymbolBytes != 0 ||
      table.link >= sections.size() || sections[table.link].type != kStrings) {
    return std::nullopt;
  }
  const std::string_view strings = sections[table.link].content;
  std::vector<ElfSymbol> symbols;
  for (std::string_view rest = table.content; !rest.empty(); rest.remove_prefix(kSymbolBytes)) {
    ElfSymbol symbol;
    std::uint32_t name_offset = 0;
    Fields fields(rest);
    fields.take(name_offset);
    fields.take(symbol.info);
    fields.take(symbol.other);
    fields.take(symbol.section);
    fields.take(symbol.value);
    fields.take(symbol.bytes);
    const auto name = name_at(strings, name_offset);
    if (!name) return std::nullopt;
    symbol.name = *name;
    symbols.push_back(symbol);
  }
  return symbols;
}

}  // namespace kiln
