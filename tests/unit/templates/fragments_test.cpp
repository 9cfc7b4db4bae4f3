// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Headers whose front matter templates take over, `//@ use HEADER`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "templates/catalog.hpp"
#include "templates/kernel_template.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/renderer.hpp"
#include "templates/render/struct_text.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kUser = R"(//@ template   user
//@ purpose    Takes half of its front matter from a header.
//@ operation  gemm
//@ types      a=f16 b=f16 c=f16 d=f16 acc=f32

#include "parts.cuh"

//@ use        parts.cuh   // pieces
struct UserConfig : kiln::PiecesConfig {  //@ config
  int tile;                               //@ tune 32* 64
  int threads;                            //@ let twice * 4   // of the header, which needs tile
};
struct UserLaunch : PiecesLaunch {  //@ at launch
  int group;                        //@ tune 1* 8
};
//@ launch     user
//@   grid     blocks
//@   block    threads
//@ workspace  bytes

template <UserConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void user(const kiln::GemmArgs args, const UserLaunch launch) {}
)";

constexpr std::string_view kParts = R"(#pragma once
struct PiecesConfig {  //@ config
  int pieces;          //@ tune 1* 2 4
  int twice;           //@ let 2 * tile
};
struct PiecesLaunch {  //@ at launch
  int each;            //@ let ceil_div(k, pieces)
};
//@ let        bytes = blocks * 4294967296
//@ let        blocks = ceil_div(m, tile) * pieces
//@ require    pieces < 4 || tile == 64   // of the header
)";

std::string with_replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const auto at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return result.replace(at, from.size(), to);
}

KernelTemplate parse_user(std::string source, std::string header = std::string(kParts)) {
  return KernelTemplate::parse(
      "user.cu", std::move(source), {},
      [&](const std::string& name) -> std::optional<KernelTemplate::Fragment> {
        if (name != "parts.cuh") return std::nullopt;
        return KernelTemplate::Fragment{"parts.cuh", header};
      });
}

/// The error after one replacement in the template or in the header.
std::string broken_user(std::string_view from, std::string_view to) {
  return error_text(ErrorKind::template_,
                    [&] { (void)parse_user(with_replaced(kUser, from, to)); });
}
std::string broken_header(std::string_view from, std::string_view to) {
  return error_text(ErrorKind::template_,
                    [&] { (void)parse_user(std::string(kUser), with_replaced(kParts, from, to)); });
}

DeviceLimits device_of_fragments() {
  return limits_of_arch("90a").value();
}
Problem problem_of_fragments() {
  return to_problem(Gemm::of(DType::f16, 100, 70, 64));
}

std::vector<std::string> names_of_fields(const std::vector<ConfigField>& fields) {
  std::vector<std::string> names;
  for (const ConfigField& field : fields) names.push_back(field.name);
  return names;
}

TEST(Fragments, GiveTunablesLetsAndRequirements) {
  const KernelTemplate user = parse_user(std::string(kUser));
  EXPECT_THAT(names_of_fields(user.config_struct().fields),
              ElementsAre("pieces", "twice", "tile", "threads"));
  EXPECT_THAT(names_of_fields(user.launch_struct().fields), ElementsAre("each", "group"));
  EXPECT_TRUE(user.is_at_launch("each"));
  EXPECT_FALSE(user.is_at_launch("pieces"));
  const auto space = user.space(problem_of_fragments(), device_of_fragments());
  EXPECT_EQ(space.count(), 10U) << "3 x 2 x 2 without 4 pieces of tiles of 32";
  EXPECT_THAT(space.why_invalid({{"pieces", 4}, {"tile", 32}, {"group", 1}}).value(),
              HasSubstr("of the header"));
}

TEST(Fragments, LetsMayStandInAnyOrder) {
  const KernelTemplate user = parse_user(std::string(kUser));
  const Config config{{"pieces", 2}, {"tile", 64}, {"group", 8}};
  const auto geometry =
      LaunchPlanner(user, problem_of_fragments(), device_of_fragments()).geometry(config);
  EXPECT_EQ(geometry.at(0).grid[0], 4U);
  EXPECT_EQ(geometry.at(0).block[0], 512U);
  EXPECT_EQ(geometry.at(0).values.items[0], 32) << "each";
  EXPECT_EQ(geometry.at(0).values.items[1], 8) << "group";
}

// What only the front matter knows is neither a field nor limited to 32 bits.
TEST(Fragments, LetsOnLinesOfTheirOwnTake64Bits) {
  const KernelTemplate user = parse_user(std::string(kUser));
  EXPECT_EQ(LaunchPlanner(user, problem_of_fragments(), device_of_fragments())
                .workspace_bytes({{"pieces", 1}, {"tile", 64}, {"group", 1}}),
            2 * 4294967296);
}

TEST(Fragments, FieldsOfBasesAreNamedInsideTheirBraces) {
  const std::vector<ConfigField> fields{{.name = "a", .base = "One"},
                                        {.name = "b", .base = "One"},
                                        {.name = "c", .base = "Two"},
                                        {.name = "d"}};
  const std::vector<std::int64_t> values{1, 2, -3, 4};
  EXPECT_EQ(struct_text({"Config", fields}, values), "Config{{.a = 1, .b = 2}, {.c = -3}, 4}");
  EXPECT_EQ(struct_text({"Config", {{.name = "d"}}}, std::span(values).last(1)), "Config{.d = 4}");
}

// A user's template finds its own headers and Kiln's; both are part of its digest.
TEST(Fragments, AreFoundWhereHeadersAre) {
  const TemporaryFolder folder;
  folder.write("user.cu", with_replaced(kUser, "//@ use        parts.cuh   // pieces",
                                        "#include \"lib/output.cuh\"\n//@ use parts.cuh\n"
                                        "//@ use lib/output.cuh"));
  folder.write("parts.cuh", kParts);
  const std::string message = error_text(
      ErrorKind::template_, [&] { static_cast<void>(Catalog::with_directories({folder.path()})); });
  EXPECT_THAT(message, HasSubstr("struct UserConfig : OutputConfig {  //@ config"));
  folder.write("user.cu", kUser);
  const Catalog before = Catalog::with_directories({folder.path()});
  const Problem problem = problem_of_fragments();
  const RenderedKernel rendered =
      render(before, before.at("user"), {{"pieces", 2}, {"tile", 64}, {"group", 8}}, problem,
             device_of_fragments());
  EXPECT_THAT(rendered.name_expressions.at(0),
              StartsWith("user<UserConfig{{.pieces = 2, .twice = 128}, 64, 512}, "));
  folder.write("parts.cuh", with_replaced(kParts, "2 * tile", "tile + tile"));
  const Catalog after = Catalog::with_directories({folder.path()});
  EXPECT_NE(before.digest("user"), after.digest("user"));
}

// As `#include` does: in folders that the template names, too.
TEST(Fragments, AreFoundInFoldersOfIncludeLines) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/shared");
  folder.write("shared/parts.cuh", kParts);
  folder.write("user.cu",
               with_replaced(kUser, "//@ operation", "//@ include    shared\n//@ operation"));
  const Catalog catalog = Catalog::with_directories({folder.path()});
  EXPECT_THAT(names_of_fields(catalog.at("user").config_struct().fields),
              ElementsAre("pieces", "twice", "tile", "threads"));
}

TEST(FragmentErrors, OfUseLines) {
  EXPECT_THAT(broken_user("use        parts.cuh", "use        part.cuh"),
              AllOf(StartsWith("user.cu:8:16:"), HasSubstr("does not include this header")));
  EXPECT_THAT(broken_user("#include \"parts.cuh\"\n\n//@ use        parts.cuh",
                          "#include \"part.cuh\"\n\n//@ use        part.cuh"),
              AllOf(StartsWith("user.cu:8:16:"), HasSubstr("\"part.cuh\"")));
  EXPECT_THAT(broken_user("//@ use        parts.cuh   // pieces",
                          "//@ use        parts.cuh\n//@ use        parts.cuh"),
              AllOf(StartsWith("user.cu:9:16:"), HasSubstr("remove this line")));
  EXPECT_THAT(broken_user("//@ use        parts.cuh   // pieces", ""),
              AllOf(StartsWith("user.cu:9:8:"), HasSubstr("PiecesConfig")));
}

TEST(FragmentErrors, OfBases) {
  EXPECT_THAT(broken_user("UserConfig : kiln::PiecesConfig", "UserConfig"),
              AllOf(StartsWith("user.cu:8:16:"),
                    HasSubstr("write struct UserConfig : PiecesConfig {  //@ config")));
  EXPECT_THAT(broken_user("struct UserLaunch : PiecesLaunch {  //@ at launch\n"
                          "  int group;                        //@ tune 1* 8",
                          "struct UserLaunch : PiecesLaunch { int group;"),
              HasSubstr("declare struct Name : PiecesLaunch {  //@ at launch"));
  EXPECT_THAT(broken_user("UserLaunch : PiecesLaunch", "UserLaunch : PiecesConfig"),
              AllOf(StartsWith("user.cu:13:8:"), HasSubstr("is marked \"//@ config\"")));
  EXPECT_THAT(broken_header("struct PiecesConfig {", "struct PiecesConfig : Other {"),
              AllOf(StartsWith("parts.cuh:2:8:"), HasSubstr("cannot have base structs")));
}

TEST(FragmentErrors, OfHeaders) {
  EXPECT_THAT(broken_header("//@ require    pieces", "//@ prefer     pieces"),
              AllOf(StartsWith("parts.cuh:11:5:"),
                    HasSubstr("\"prefer\" lines are not allowed in a header")));
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [] { (void)parse_user(std::string(kUser), "#pragma once\n"); }),
              AllOf(StartsWith("user.cu:8:16:"), HasSubstr("contains no \"//@\" lines")));
  EXPECT_THAT(broken_header("int twice;           //@ let 2 * tile", "int twice; int more;"),
              HasSubstr("\"twice\""));
  EXPECT_THAT(broken_header("  int twice;", "  int more;\n  int twice;"),
              AllOf(StartsWith("user.cu:9:8:"), HasSubstr("\"more\" of PiecesConfig")));
}

TEST(FragmentErrors, OfLets) {
  EXPECT_THAT(broken_header("let 2 * tile", "let threads"),
              AllOf(StartsWith("user.cu:11:"), HasSubstr("\"threads\" depends on \"twice\"")));
  EXPECT_THAT(broken_header("let 2 * tile", "let twice"),
              HasSubstr("\"twice\" depends on \"twice\""));
  EXPECT_THAT(broken_user("let twice * 4", "let blocks"), HasSubstr("\"blocks\""));
}

// Every fragment of the catalog: each names an existing header, and the families share them.
TEST(Fragments, FamiliesShareSplitKAndRepacking) {
  for (const std::string_view name : {"gemm_mma", "gemm_wgmma"}) {
    const KernelTemplate& family = Catalog::builtin().at(name);
    EXPECT_THAT(names_of_fields(family.config_struct().fields),
                ::testing::IsSupersetOf({"repack", "k_major_a", "vec_part", "vec_d"}));
    EXPECT_THAT(names_of_fields(family.launch_struct().fields), ::testing::Contains("splits"));
  }
}

}  // namespace
}  // namespace kiln
