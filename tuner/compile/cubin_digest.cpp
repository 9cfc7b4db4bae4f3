// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/compile/cubin_digest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "templates/digest.hpp"
#include "tuner/compile/elf_image.hpp"

namespace kiln {
namespace {

/// Of symbols.
constexpr unsigned kObject = 1;
constexpr unsigned kFunction = 2;
constexpr unsigned kCudaObject = 13;
/// From here on a symbol's section is a code for something else.
constexpr std::uint16_t kReservedSections = 0xff00;

/// NVIDIA's section types. The merc ones are a second form of the code that toolkits from 12.8 on
/// add for compute capability 10 and higher.
constexpr std::uint32_t kCudaInfo = 0x70000000;
constexpr std::uint32_t kMercInfo = 0x70000083;
constexpr std::uint32_t kMercSymbols = 0x70000085;

/// Whether it is known of such a section that it refers to what the module defines by places in a
/// table of symbols, never by places in a table of names, which have no part in a digest.
bool is_known(std::uint32_t type) {
  constexpr std::array kElf{0U, 1U, 2U, 3U,
                            4U, 7U, 8U, 9U};  // none to SHT_REL, without SHT_DYNAMIC
  constexpr std::array kNvidia{
      kCudaInfo,    // what the driver must know of a kernel
      0x70000001U,  // which function calls which
      0x7000000bU,  // .nv.rel.action
      0x70000016U,  // code, merc
      0x70000082U,  // relocations, merc
      kMercInfo,   kMercSymbols,
      0x70000086U,  // .nv.compat
  };
  const auto is_between = [&](std::uint32_t first, std::uint32_t last) {
    return type >= first && type <= last;
  };
  // Global, local and shared memory, and banks of constants: bytes for kernels.
  const bool is_memory = is_between(0x70000007, 0x7000000a) || type == 0x70000015 ||
                         is_between(0x70000064, 0x7000007f);
  return is_memory || std::find(kElf.begin(), kElf.end(), type) != kElf.end() ||
         std::find(kNvidia.begin(), kNvidia.end(), type) != kNvidia.end();
}

/// Functions and variables of the module's own. The device goes by their places; their names serve
/// those who look them up, which Kiln does for the kernels only.
bool is_definition(const ElfSymbol& symbol) {
  return symbol.section != 0 &&
         (symbol.type() == kFunction || symbol.type() == kObject || symbol.type() == kCudaObject);
}

/// The attributes of a .nv.info section with zeros for the limit of registers that the assembler
/// was given: --maxrregcount or __launch_bounds__. Its result is the number of registers, an
/// attribute of its own and part of the code. As they are when there is one of an unknown form.
std::string without_register_limit(std::string_view attributes) {
  // An attribute is a byte for its form, one for its meaning, and a 16-bit value, which for the
  // last form is the length of what follows.
  constexpr unsigned char kShort = 3;
  constexpr unsigned char kSized = 4;
  constexpr unsigned char kMaxRegisters = 0x1b;
  constexpr std::size_t kHead = 4;
  std::string cleaned(attributes);
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(attributes[at]); };
  for (std::size_t at = 0; at < attributes.size();) {
    if (attributes.size() - at < kHead || byte(at) == 0 || byte(at) > kSized) {
      return std::string(attributes);
    }
    if (byte(at) == kShort && byte(at + 1) == kMaxRegisters) cleaned[at + 2] = cleaned[at + 3] = 0;
    const std::size_t payload =
        byte(at) == kSized ? byte(at + 2) | std::size_t{byte(at + 3)} << 8U : 0;
    if (payload > attributes.size() - at - kHead) return std::string(attributes);
    at += kHead + payload;
  }
  return cleaned;
}

/// Says of a module all that counts, in an order that its names have no part in.
class ModuleText {
 public:
  explicit ModuleText(const ElfImage& image) : image_(image) {}

  /// False when something is not understood.
  [[nodiscard]] bool add(const std::vector<std::string>& kernels) {
    if (!find_definitions()) return false;
    digest_.add(image_.ident)
        .add(fmt::format("{} {} {} {} {}", image_.type, image_.machine, image_.version,
                         image_.entry, image_.flags));
    for (const std::string& kernel : kernels) {
      const auto found = definitions_.find(kernel);
      if (found == definitions_.end()) return false;
      digest_.add(fmt::format("kernel {}", found->second));
    }
    return std::all_of(image_.sections.begin(), image_.sections.end(),
                       [&](const ElfSection& section) { return add(section); }) &&
           std::all_of(image_.segments.begin(), image_.segments.end(),
                       [&](const ElfSegment& segment) { return add(segment); });
  }
  [[nodiscard]] std::string hex() const { return digest_.hex(); }

 private:
  [[nodiscard]] bool find_definitions() {
    const auto table =
        std::find_if(image_.sections.begin(), image_.sections.end(),
                     [](const auto& section) { return section.type == ElfImage::kSymbols; });
    if (table == image_.sections.end()) return false;
    const auto symbols = image_.symbols(*table);
    if (!symbols) return false;
    for (std::size_t i = 0; i < symbols->size(); ++i) {
      const ElfSymbol& symbol = (*symbols)[i];
      if (is_definition(symbol)) definitions_.try_emplace(symbol.name, i);
    }
    return true;
  }

  /// The place of a definition in the table of symbols stands for its name, also at the end of a
  /// section's: ".text._Z4scan..." is ".text.#3".
  [[nodiscard]] std::string anonymous(std::string_view name) const {
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
         dot = name.find('.', dot + 1)) {
      const auto found = definitions_.find(name.substr(dot + 1));
      if (found != definitions_.end()) {
        return fmt::format("{}#{}", name.substr(0, dot + 1), found->second);
      }
    }
    return std::string(name);
  }

  [[nodiscard]] bool add(const ElfSection& section) {
    if (!is_known(section.type)) return false;
    digest_.add(anonymous(section.name))
        .add(fmt::format("{} {} {} {} {} {} {}", section.type, section.flags, section.address,
                         section.link, section.info, section.alignment, section.entry_bytes));
    if (section.type == ElfImage::kStrings) return true;
    digest_.add(fmt::format("{}", section.bytes));
    if (section.type == ElfImage::kSymbols || section.type == kMercSymbols) {
      return add_symbols(section);
    }
    if (section.type == kCudaInfo || section.type == kMercInfo) {
      digest_.add(without_register_limit(section.content));
    } else {
      digest_.add(section.content);
    }
    return true;
  }

  [[nodiscard]] bool add_symbols(const ElfSection& table) {
    const auto symbols = image_.symbols(table);
    if (!symbols) return false;
    for (const ElfSymbol& symbol : *symbols) {
      if (symbol.section >= kReservedSections) return false;
      digest_.add(is_definition(symbol) ? "#" : anonymous(symbol.name))
          .add(fmt::format("{} {} {} {} {}", symbol.info, symbol.other, symbol.section,
                           symbol.value, symbol.bytes));
    }
    return true;
  }

  /// A segment is the sections from one to another. How long that is in the file depends on the
  /// gaps between them, which depend on where the names before them end.
  [[nodiscard]] bool add(const ElfSegment& segment) {
    std::string extent;
    if (segment.offset == image_.segments_offset) {
      extent = fmt::format("table {} {}", segment.file_bytes, segment.memory_bytes);
    } else {
      const auto first = section_where(
          [&](const ElfSection& section) { return section.offset == segment.offset; });
      const auto last = section_where([&](const ElfSection& section) {
        return section.offset + section.content.size() == segment.offset + segment.file_bytes;
      });
      if (!first || !last) return false;
      extent =
          fmt::format("{} to {} and {}", *first, *last, segment.memory_bytes - segment.file_bytes);
    }
    digest_.add(fmt::format("{} {} {} {} {} {}", segment.type, segment.flags, extent,
                            segment.address, segment.physical_address, segment.alignment));
    return true;
  }
  template <class Condition>
  [[nodiscard]] std::optional<std::size_t> section_where(const Condition& condition) const {
    const auto found = std::find_if(image_.sections.begin(), image_.sections.end(), condition);
    if (found == image_.sections.end()) return std::nullopt;
    return static_cast<std::size_t>(found - image_.sections.begin());
  }

  const ElfImage& image_;
  std::map<std::string_view, std::size_t> definitions_;  ///< place in the table of symbols
  DigestBuilder digest_;
};

}  // namespace

std::string cubin_digest(std::span<const std::byte> cubin,
                         const std::vector<std::string>& kernels) {
  const auto image = ElfImage::read(cubin);
  if (!image) return "";
  ModuleText text(*image);
  return text.add(kernels) ? text.hex() : "";
}

}  // namespace kiln
