// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a library says of what makes its kernels slower than they could be.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <fstream>

#include "tests/support/built_in_config.hpp"
#include "tests/unit/runtime/library_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LibraryWarnings : public LibraryFixture {
 protected:
  const Gemm gemm_ = Gemm::of(DType::f16, 256, 256, 128);
  /// As good for small problems as any that gemm_wgmma calls usual, or better.
  const Config small_tiles_ = built_in_config(
      "gemm_wgmma", {{"tile_m", 64}, {"tile_n", 64}, {"stages", 12}, {"consumers", 1}});
};

TEST_F(LibraryWarnings, AnUntunedKindOfProblemIsOneWarningThatNamesTheCommand) {
  {
    const Library library = open();
    static_cast<void>(library.get(gemm_));
    static_cast<void>(library.get(Gemm::of(DType::f16, 512, 256, 128)));
    static_cast<void>(library.get(Gemm::of(DType::f16, 8, 8, 0)));  // nothing to tune
    EXPECT_THAT(untuned_, ElementsAre(AllOf(HasSubstr("m=256 n=256 k=128 uses gemm_"),
                                            HasSubstr("default_config: "),
                                            HasSubstr("kiln tune gemm --m 256 --n 256 --k 128"),
                                            HasSubstr("--db " + database_))));
    static_cast<void>(library.get(Gemm::of(DType::f32, 256, 256, 128)));
    EXPECT_EQ(untuned_.size(), 2U) << "another kind";
  }
  untuned_.clear();
  store_trial(gemm_, "gemm_wgmma", small_tiles_, 2000.0);
  const Library library = open();
  EXPECT_EQ(library.get(gemm_).match(), Match::exact);
  EXPECT_EQ(library.get(Gemm::of(DType::f16, 512, 256, 128)).match(), Match::nearest_problem);
  EXPECT_THAT(untuned_, IsEmpty());
  mode_ = Mode::default_only;
  static_cast<void>(open().get(gemm_));
  EXPECT_THAT(untuned_, IsEmpty()) << "which the application asked for";
}

TEST_F(LibraryWarnings, ADatabaseThatWasNamedAndIsNotThereIsAWarning) {
  const auto warnings_for = [](Mode mode, const std::string& option) {
    std::vector<std::string> warnings;
    detail::LibraryParts parts;
    parts.mode = mode;
    parts.warnings = std::make_shared<detail::WarningSink>(
        [&](std::string_view text) { warnings.emplace_back(text); }, "");
    LibraryOptions options;
    options.database = option;
    detail::locate_files(parts, options);
    return warnings;
  };
  const std::string typo = folder_.file("tunning.db");
  EXPECT_THAT(warnings_for(Mode::use, typo),
              ElementsAre(AllOf(HasSubstr("the database " + typo +
                                          " (from LibraryOptions::database) does not exist"),
                                HasSubstr("kiln tune --db " + typo))));
  EXPECT_THAT(warnings_for(Mode::tune_on_miss, typo), IsEmpty()) << "the tuner makes it";
  EXPECT_THAT(warnings_for(Mode::default_only, typo), IsEmpty()) << "nothing is asked of it";
  std::ofstream(typo) << "x";
  EXPECT_THAT(warnings_for(Mode::use, typo), IsEmpty());
  ::setenv("KILN_DB", folder_.file("other.db").c_str(), 1);
  EXPECT_THAT(warnings_for(Mode::require, ""), ElementsAre(HasSubstr("(from KILN_DB)")));
  ::unsetenv("KILN_DB");
  ::setenv("XDG_DATA_HOME", folder_.file("data").c_str(), 1);
  EXPECT_THAT(warnings_for(Mode::use, ""), IsEmpty()) << "a machine on which nothing was tuned";
  ::unsetenv("XDG_DATA_HOME");
}

}  // namespace
}  // namespace kiln::testing
