// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/compile/elf_image.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/tuner/elf_builder.hpp"

namespace kiln {
namespace {

using kiln::testing::ElfBuilder;

ElfBuilder small_file() {
  ElfBuilder file;
  file.sections = {{".text.k", 1, "code", 6, 3, 1}, {".nv.shared.k", 8, "", 3, 0, 4, 0, 4096}};
  file.symbols.push_back({"k", 0x12, ElfBuilder::kFirstFree, 16});
  file.segments = {{6}, {1, ElfBuilder::kFirstFree, ElfBuilder::kFirstFree, 0, 4096}};
  return file;
}

TEST(ElfImage, ReadsSectionsSymbolsAndSegments) {
  const auto bytes = small_file().bytes();
  const auto image = ElfImage::read(bytes);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->machine, 190);
  EXPECT_EQ(image->flags, 0x5aU);
  ASSERT_EQ(image->sections.size(), 6U);
  const ElfSection& text = image->sections[4];
  EXPECT_EQ(text.name, ".text.k");
  EXPECT_EQ(text.content, "code");
  EXPECT_EQ(text.flags, 6U);
  EXPECT_EQ(text.link, 3U);
  EXPECT_EQ(text.info, 1U);
  const ElfSection& shared = image->sections[5];
  EXPECT_EQ(shared.bytes, 4096U);
  EXPECT_TRUE(shared.content.empty());
  ASSERT_EQ(image->segments.size(), 2U);
  EXPECT_EQ(image->segments[0].offset, image->segments_offset);
  EXPECT_EQ(image->segments[1].offset, text.offset);
  EXPECT_EQ(image->segments[1].file_bytes, 4U);
  EXPECT_EQ(image->segments[1].memory_bytes, 4100U);
  const auto symbols = image->symbols(image->sections[3]);
  ASSERT_TRUE(symbols);
  ASSERT_EQ(symbols->size(), 2U);
  EXPECT_EQ((*symbols)[1].name, "k");
  EXPECT_EQ((*symbols)[1].type(), 2U);
  EXPECT_EQ((*symbols)[1].section, ElfBuilder::kFirstFree);
  EXPECT_EQ((*symbols)[1].value, 16U);
}

TEST(ElfImage, OtherBytesAreNoImage) {
  EXPECT_FALSE(ElfImage::read({}));
  std::vector<std::byte> bytes = small_file().bytes();
  bytes[0] = std::byte{'x'};
  EXPECT_FALSE(ElfImage::read(bytes));
  const std::string text = "// PTX, which is longer than the header of an ELF file: 64 bytes or so";
  EXPECT_FALSE(ElfImage::read(std::as_bytes(std::span(text))));
}

TEST(ElfImage, AFileThatEndsTooSoonIsNone) {
  const std::vector<std::byte> whole = small_file().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A copy of its own, so that a sanitizer sees any access beyond.
    const std::vector<std::byte> part(whole.begin(),
                                      whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(ElfImage::read(part)) << size;
  }
}

TEST(ElfImage, ATableOfSymbolsThatDoesNotFitIsNone) {
  const std::vector<ElfBuilder::Section> misfits{
      {".symtab", 2, std::string(23, '\0'), 0, ElfBuilder::kSymbolNames, 0, 24},
      {".symtab", 2, std::string(24, '\0'), 0, ElfBuilder::kSymbolNames, 0, 16},
      {".symtab", 2, std::string(24, '\0'), 0, ElfBuilder::kFirstFree, 0, 24},
      {".symtab", 2, std::string(24, '\0'), 0, 99, 0, 24},
      {".symtab", 2, std::string(24, '\x7f'), 0, ElfBuilder::kSymbolNames, 0, 24},
  };
  for (const auto& misfit : misfits) {
    ElfBuilder file;
    file.sections.push_back(misfit);
    const auto bytes = file.bytes();
    const auto image = ElfImage::read(bytes);
    ASSERT_TRUE(image);
    EXPECT_FALSE(image->symbols(image->sections.back()));
  }
}

// For the sanitizers: what is read lies within the file, whatever the file says.
TEST(ElfImage, DamageIsNeverReadBeyondTheFile) {
  std::mt19937_64 random(1);
  const std::vector<std::byte> sound = small_file().bytes();
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes = sound;
    for (int change = 0; change < 2; ++change) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random() % 256);
    }
    const auto image = ElfImage::read(bytes);
    if (!image) continue;
    for (const auto& section : image->sections) {
      if (const auto symbols = image->symbols(section)) {
        for (const auto& symbol : *symbols) EXPECT_LE(symbol.name.size(), bytes.size());
      }
      EXPECT_LE(section.content.size(), bytes.size());
    }
  }
}

}  // namespace
}  // namespace kiln
