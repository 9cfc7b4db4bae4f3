// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/compile/cubin_digest.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/tuner/elf_builder.hpp"

namespace kiln {
namespace {

using kiln::testing::ElfBuilder;

constexpr std::uint8_t kObject = 0x01;
constexpr std::uint8_t kKernelSection = 0x12;
constexpr std::uint8_t kSectionSymbol = 0x03;
constexpr std::uint32_t kInfo = 0x70000000;
/// 128 registers at most, 256 threads, 40 registers.
const std::string kAttributes("\x03\x1b\x80\x00\x04\x05\x04\x00\x00\x01\x00\x00\x04\x2f\x01\x00(",
                              17);

/// A module with a kernel, and a variable that it refers to.
ElfBuilder module_of(const std::string& kernel, const std::string& variable = "_ZN1tE") {
  ElfBuilder module;
  module.sections = {
      {".text." + kernel, 1, "machine code", 6, 3, 1},
      {".nv.info." + kernel, kInfo, kAttributes, 0, 3, 4},
      {".nv.constant0." + kernel, 1, std::string(16, '\0'), 2, 0, 4},
      {".nv.global.init", 1, "\x01\x02\x03\x04", 3},
      {".rela.text." + kernel, 4, std::string(24, '\x01'), 0, 3, 4, 24},
      {".nv.shared." + kernel, 8, "", 3, 0, 4, 0, 1024},
  };
  module.symbols = {{},
                    {kernel, kKernelSection, ElfBuilder::kFirstFree, 0},
                    {".text." + kernel, kSectionSymbol, ElfBuilder::kFirstFree, 0},
                    {variable, kObject, ElfBuilder::kFirstFree + 3, 0},
                    {".nv.reservedSmem.offset0", kObject, 0, 0},
                    {"__nv_alias", 0, ElfBuilder::kFirstFree + 5, 0}};
  module.segments = {{6}, {1, ElfBuilder::kFirstFree, ElfBuilder::kFirstFree + 3}};
  return module;
}

const std::string kKernelName = "_Z4gemmILi128EEv";

std::string digest(const ElfBuilder& module,
                   const std::vector<std::string>& kernels = {kKernelName}) {
  return cubin_digest(module.bytes(), kernels);
}

TEST(CubinDigest, TheNamesOfWhatAModuleDefinesHaveNoPartInIt) {
  const std::string expected = digest(module_of(kKernelName));
  EXPECT_EQ(expected.size(), 32U);
  const std::string other = "_Z4gemmILi64ELi2EEv_with_a_longer_name";
  EXPECT_EQ(digest(module_of(other), {other}), expected);
  EXPECT_EQ(digest(module_of(kKernelName, "_ZN6other1tE")), expected);
  ElfBuilder of_cuda = module_of(kKernelName);
  of_cuda.symbols[3].info = 0x0d;
  ElfBuilder renamed = module_of(kKernelName, "_ZN6other1tE");
  renamed.symbols[3].info = 0x0d;
  EXPECT_EQ(digest(of_cuda), digest(renamed));
  ElfBuilder elsewhere = module_of(kKernelName);
  // The gaps between sections change with where they lie.
  for (int more = 0; more < 16; ++more) {
    elsewhere.section_names_before += 'n';
    elsewhere.section_names_before += '\0';
    EXPECT_EQ(digest(elsewhere), expected) << more;
  }
}

TEST(CubinDigest, TheLimitOfRegistersHasNoPartInItButTheirNumberHas) {
  ElfBuilder module = module_of(kKernelName);
  const std::string expected = digest(module);
  module.sections[1].content[2] = '\xff';
  EXPECT_EQ(digest(module), expected);
  module.sections[1].content.back() = ')';
  EXPECT_NE(digest(module), expected);
}

// What looks like the limit may be something else there.
TEST(CubinDigest, AttributesOfAnUnknownFormCountAsTheyAre) {
  for (const std::string& tail : {std::string("\x05\x01\x00\x00", 4), std::string("\x00", 1),
                                  std::string("\x04\x01\xff\x00", 4), std::string("\x01\x01", 2)}) {
    ElfBuilder module = module_of(kKernelName);
    module.sections[1].content += tail;
    const std::string before = digest(module);
    module.sections[1].content[2] = '\xff';
    EXPECT_NE(digest(module), before) << ::testing::PrintToString(tail);
  }
}

TEST(CubinDigest, EverythingElseCounts) {
  const std::vector<std::function<void(ElfBuilder&)>> changes{
      [](ElfBuilder& m) { m.machine = 191; },
      [](ElfBuilder& m) { m.sections[0].content.back() = '!'; },
      [](ElfBuilder& m) { m.sections[0].info = 2; },
      [](ElfBuilder& m) { m.sections[0].flags = 7; },
      [](ElfBuilder& m) { m.sections[0].link = 2; },
      [](ElfBuilder& m) { m.sections[0].type = 7; },
      [](ElfBuilder& m) { m.sections[1].content[10] = '\x02'; },
      [](ElfBuilder& m) { m.sections[2].content += '\0'; },
      [](ElfBuilder& m) { m.sections[2].name = ".nv.constant3"; },
      [](ElfBuilder& m) { m.sections[3].content[0] = '\x02'; },
      [](ElfBuilder& m) { m.sections[4].content[20] = '\x02'; },
      [](ElfBuilder& m) { m.sections[5].bytes = 2048; },
      [](ElfBuilder& m) { m.symbols[1].value = 128; },
      [](ElfBuilder& m) { m.symbols[1].info = 0x22; },
      [](ElfBuilder& m) { m.symbols[3].section = ElfBuilder::kFirstFree + 2; },
      [](ElfBuilder& m) { m.symbols[4].name = "vprintf"; },
      [](ElfBuilder& m) { m.symbols[5].name = "__nv_other"; },
      [](ElfBuilder& m) { m.segments[1].section = ElfBuilder::kFirstFree + 1; },
      [](ElfBuilder& m) { m.segments[1].last = ElfBuilder::kFirstFree + 2; },
      [](ElfBuilder& m) { m.segments[1].more = 1024; },
      [](ElfBuilder& m) { m.segments.pop_back(); },
      [](ElfBuilder& m) { m.segments[1].type = 2; },
      [](ElfBuilder& m) {
        m.sections.push_back({".nv.constant4", 1, "12345678"});
      },
  };
  std::set<std::string> digests{digest(module_of(kKernelName))};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    ElfBuilder module = module_of(kKernelName);
    changes[i](module);
    const std::string changed = digest(module);
    EXPECT_EQ(changed.size(), 32U) << i;
    EXPECT_TRUE(digests.insert(changed).second) << "change " << i << " goes unnoticed";
  }
}

TEST(CubinDigest, WhichKernelIsLaunchedWhenCounts) {
  ElfBuilder module = module_of("_Z1av");
  module.sections.push_back({".text._Z1bv", 1, "other code", 6, 3, 6});
  module.symbols.push_back(
      {"_Z1bv", kKernelSection, static_cast<std::uint16_t>(ElfBuilder::kFirstFree + 6), 0});
  std::set<std::string> digests;
  for (const std::vector<std::string>& kernels : std::vector<std::vector<std::string>>{
           {"_Z1av"}, {"_Z1bv"}, {"_Z1av", "_Z1bv"}, {"_Z1bv", "_Z1av"}, {"_Z1av", "_Z1av"}}) {
    EXPECT_TRUE(digests.insert(digest(module, kernels)).second);
  }
}

TEST(CubinDigest, WhatIsNotUnderstoodIsLikeNothing) {
  const std::vector<std::function<void(ElfBuilder&)>> changes{
      [](ElfBuilder& m) { m.sections[3].type = 0x70000002; },
      [](ElfBuilder& m) { m.symbols[3].section = 0xffff; },
      [](ElfBuilder& m) { m.segments[1].offset = 1; },
      [](ElfBuilder& m) { m.symbols[1].section = 0; },  // the kernel is not there
      [](ElfBuilder& m) { m.symbols[1].info = 0; },     // nor is it a function
      [](ElfBuilder& m) {
        m.sections.push_back({".nv.merc.symtab", 0x70000085, "no table", 0, 2, 0, 24});
      },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    ElfBuilder module = module_of(kKernelName);
    changes[i](module);
    EXPECT_EQ(digest(module), "") << i;
  }
  EXPECT_EQ(digest(module_of(kKernelName), {"_Z5otherv"}), "");
  EXPECT_EQ(cubin_digest({}, {}), "");
  const std::string text = "no machine code";
  EXPECT_EQ(cubin_digest(std::as_bytes(std::span(text)), {}), "");
}

}  // namespace
}  // namespace kiln
