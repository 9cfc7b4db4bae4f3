// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which kernel a library hands out for a problem of a declared operation.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/runtime/operation_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OperationGet : public OperationFixture {
 protected:
  static std::string refusal(const Library& library, const OperationProblem& problem) {
    return error_of(ErrorKind::usage, [&] { static_cast<void>(library.get(problem)); });
  }
  Trial store_row_sums(const OperationProblem& problem, std::int64_t block_size, double ns) {
    return store_trial_of(checked(problem), "row_sums_twice", {{"block_size", block_size}}, ns);
  }
};

TEST_F(OperationGet, AnUntunedProblemGetsTheDefault) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(20, 30));
  EXPECT_EQ(kernel.match(), Match::default_config);
  EXPECT_EQ(kernel.config(), "block_size=128");
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(OperationGet, TheOrderOfFieldsMakesNoDifference) {
  const Library library = open_with_kernels();
  static_cast<void>(library.get(row_sums(20, 30)));
  OperationProblem turned = row_sums(20, 30);
  std::swap(turned.sizes[0], turned.sizes[1]);
  std::swap(turned.types[0], turned.types[2]);
  store_row_sums(turned, 64, 1000.0);
  EXPECT_EQ(library.get(turned).match(), Match::default_config) << "the table is not asked again";
  EXPECT_EQ(open_with_kernels().get(turned).match(), Match::exact);
  const Library other = open_with_kernels();
  EXPECT_EQ(other.get(turned).config(), other.get(row_sums(20, 30)).config());
  EXPECT_EQ(other.counters().database_reads, 1U);
  EXPECT_EQ(other.get(row_sums(30, 20)).match(), Match::nearest_problem);
}

TEST_F(OperationGet, AResultOfAnotherJudgeIsNoAnswerAndIsNamed) {
  Trial trial = store_row_sums(row_sums(20, 30), 64, 1000.0);
  EXPECT_EQ(open_with_kernels().get(row_sums(20, 30)).match(), Match::exact);
  trial.id.clear();
  trial.judge_digest = std::string(32, '1');
  std::filesystem::remove(database_);
  TuningStore::open(database_, OpenMode::read_write).record(trial);
  for (const auto& problem : {row_sums(20, 30), row_sums(20, 40)}) {
    const Library library = open_with_kernels();
    const OperationKernel kernel = library.get(problem);
    EXPECT_EQ(kernel.match(), Match::default_config);
    EXPECT_EQ(kernel.config(), "block_size=128");
    EXPECT_THAT(std::string(kernel.match_reason()), HasSubstr("`kiln tune --stale` verifies"));
  }
  EXPECT_EQ(warnings_.size(), 2U) << "one for each library";
}

TEST_F(OperationGet, SizesShareOneModule) {
  const Library library = open_with_kernels();
  library.prepare({row_sums(20, 30), row_sums(21, 30), row_sums(20, 31, 0, DType::f32)});
  EXPECT_EQ(library.counters().compiles, 1U);
  static_cast<void>(library.get(row_sums(20, 30, 1)));
  EXPECT_EQ(device_->loads(), 2U) << "another kind";
  EXPECT_THAT(error_of(ErrorKind::usage,
                       [&] {
                         library.prepare({row_sums(1, 1), row_sums(-1, 1)});
                       }),
              HasSubstr("rows is -1"));
}

TEST_F(OperationGet, WhatIsTunedIsExactAndItsNeighboursFollow) {
  store_row_sums(row_sums(256, 256), 64, 1000.0);
  const Library library = open_with_kernels();
  EXPECT_EQ(library.get(row_sums(256, 256)).match(), Match::exact);
  EXPECT_EQ(library.get(row_sums(256, 256)).config(), "block_size=64");
  const OperationKernel near = library.get(row_sums(256, 512));
  EXPECT_EQ(near.match(), Match::nearest_problem);
  EXPECT_EQ(near.config(), "block_size=64");
  const OperationKernel related = library.get(row_sums(256, 512, 1));
  EXPECT_EQ(related.match(), Match::related_problem);
  EXPECT_EQ(related.config(), "block_size=64");
  EXPECT_THAT(std::string(related.match_reason()), HasSubstr("with different biased"));
  EXPECT_EQ(library.get(row_sums(256, 0)).match(), Match::default_config) << "no size is near to 0";
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(OperationGet, RequireSaysHowToTune) {
  mode_ = Mode::require;
  const Library library = open_with_kernels();
  const std::string text =
      error_of(ErrorKind::not_found, [&] { static_cast<void>(library.get(row_sums(20, 30, 1))); });
  EXPECT_THAT(text, HasSubstr("kiln tune row_sums --rows 20 --cols 30 --x f32 --bias f32 --y f32 "
                              "--biased 1 "));
  EXPECT_THAT(text, HasSubstr("--template-path " + template_path_.front()));
  EXPECT_EQ(library.get(row_sums(0, 30)).match(), Match::exact) << "nothing to tune";
  store_row_sums(row_sums(20, 30, 1), 256, 1000.0);
  EXPECT_EQ(library.get(row_sums(20, 30, 1)).match(), Match::exact);
}

TEST_F(OperationGet, AMissStartsTheTunerWithTheProblem) {
  mode_ = Mode::tune_on_miss;
  tuner_program_ = folder_.file("tuner");
  const std::string said = folder_.file("said");
  std::ofstream(tuner_program_) << "#!/bin/sh\necho \"$*\" >> " << said << "\n";
  std::filesystem::permissions(tuner_program_, std::filesystem::perms::owner_all);
  const Library library = open_with_kernels();
  EXPECT_EQ(library.get(row_sums(20, 30)).match(), Match::default_config);
  std::string line;
  std::getline(std::ifstream(said) >> std::ws, line);
  EXPECT_THAT(line, ::testing::StartsWith("tune row_sums --rows 20 --cols 30 --x f32 "));
  EXPECT_THAT(line, ::testing::EndsWith("--quiet --no-wait"));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr(tuner_program_)));
}

TEST_F(OperationGet, DefaultOnlyIgnoresTheDatabase) {
  store_row_sums(row_sums(256, 256), 64, 1000.0);
  mode_ = Mode::default_only;
  EXPECT_EQ(open_with_kernels().get(row_sums(256, 256)).match(), Match::default_config);
}

TEST_F(OperationGet, ABrokenKernelGivesWayToTheDefault) {
  store_row_sums(row_sums(256, 256), 64, 1000.0);
  decide_ = [](const CompileRequest& request) {
    FakeCompilation result;
    result.ok = request.source.find("#define block_size 64") == std::string::npos;
    result.log = "planted error";
    return result;
  };
  const Library library = open_with_kernels();
  EXPECT_EQ(library.get(row_sums(256, 256)).match(), Match::default_config);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("planted error")));
}

TEST_F(OperationGet, ADefaultThatDoesNotRunGivesWayToAConfigurationNearIt) {
  decide_ = [](const CompileRequest& request) {
    FakeCompilation result;
    const auto size = request.source.find("#define block_size ");
    result.ok = request.source.find("#define block_size 64") == size;
    result.log = "planted error " + request.source.substr(size, 24);
    return result;
  };
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(20, 30));
  EXPECT_EQ(kernel.match(), Match::default_config);
  EXPECT_EQ(kernel.config(), "block_size=64");
  EXPECT_EQ(kernel.match_reason(),
            "the default configuration of row_sums_twice cannot be used, so Kiln uses a similar "
            "configuration");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("block_size=128] cannot be used")));
}

TEST_F(OperationGet, WhatFailsInEveryConfigurationIsGivenUpSoon) {
  decide_ = [](const CompileRequest&) {
    FakeCompilation result;
    result.ok = false;
    result.log = "planted error";
    return result;
  };
  const Library library = open_with_kernels();
  const std::string text =
      error_of(ErrorKind::not_found, [&] { static_cast<void>(library.get(row_sums(20, 30))); });
  EXPECT_THAT(
      text,
      HasSubstr("row_sums_twice: every configuration that Kiln tried failed (last failure: "));
  EXPECT_THAT(text, HasSubstr("try more configurations with: kiln tune row_sums --rows 20"));
  EXPECT_EQ(library.counters().compiles, 2U);
}

TEST_F(OperationGet, RefusesWhatIsNoProblem) {
  const Library library = open_with_kernels();
  OperationProblem problem = row_sums(2, 3);
  problem.operation = "row_sum";
  EXPECT_THAT(refusal(library, problem),
              AllOf(HasSubstr("operation \"row_sum\""), HasSubstr("\"row_sums\"?")));
  EXPECT_THAT(refusal(library, problem), HasSubstr(template_path_.front()));
  problem.operation = "gemm";
  EXPECT_THAT(refusal(library, problem), HasSubstr("kiln/gemm.hpp"));
  problem = row_sums(2, 3);
  problem.sizes[1].name = "colls";
  EXPECT_THAT(refusal(library, problem),
              AllOf(HasSubstr("size \"colls\""), HasSubstr("\"cols\"?")));
  problem.sizes.pop_back();
  EXPECT_THAT(refusal(library, problem), HasSubstr("lacks the size \"cols\""));
  problem.sizes = {{"rows", 2}, {"rows", 2}};
  EXPECT_THAT(refusal(library, problem), HasSubstr("the size \"rows\" twice"));
  problem = row_sums(65537, 3);
  EXPECT_THAT(refusal(library, problem), HasSubstr("rows is 65537"));
  problem = row_sums(2, 3, 2);
  EXPECT_THAT(refusal(library, problem), HasSubstr("biased is 2"));
  problem.traits.clear();
  EXPECT_THAT(refusal(library, problem), HasSubstr("the trait \"biased\""));
  problem = row_sums(2, 3, 0, DType::f64);
  EXPECT_THAT(refusal(library, problem), AllOf(HasSubstr("x is f64"), HasSubstr("f32 f16")));
  problem.types[0].type = static_cast<DType>(77);
  EXPECT_THAT(refusal(library, problem), HasSubstr("DType(77)"));
  problem.types.erase(problem.types.begin());
  EXPECT_THAT(refusal(library, problem), HasSubstr("the type \"x\""));
  EXPECT_EQ(library.counters().compiles, 0U);
}

TEST_F(OperationGet, ALibraryWithoutTemplatesOfTheOperationSaysSo) {
  catalog_ = Catalog::builtin();
  template_path_ = {};
  const Library library = open_with_kernels();
  const std::string text =
      error_of(ErrorKind::usage, [&] { static_cast<void>(library.get(row_sums(2, 3))); });
  EXPECT_THAT(text, HasSubstr("no file declares the operation \"row_sums\"; Kiln searched the "
                              "template path, which names no folder (set LibraryOptions"))
      << "what another library of the process knows";
}

TEST_F(OperationGet, AnOperationThatWasEditedIsThatOfTheLibraryOpenedThen) {
  const Library before = open_with_kernels();
  static_cast<void>(before.get(row_sums(2, 3)));
  std::string text(kRowSumsOperation);
  text.replace(text.find("cols 0..4096"), 12, "cols 0..40\n//@ size       depth");
  text.replace(text.find("rows=3 cols=5"), 13, "rows=3 cols=5 depth=2");
  std::ofstream(template_path_.front() + "/row_sums.cu") << text;
  catalog_ = Catalog::with_directories(template_path_);
  const Library after = open_with_kernels();
  EXPECT_THAT(refusal(after, row_sums(2, 3)), HasSubstr("the size \"depth\""));
  OperationProblem deep = row_sums(2, 3);
  deep.sizes.push_back({"depth", 7});
  EXPECT_EQ(after.get(deep).operand_count(), 3U);
  EXPECT_THAT(refusal(before, deep), HasSubstr("there is no size \"depth\""));
  EXPECT_EQ(before.get(row_sums(2, 300)).match(), Match::default_config);
  before.prepare({row_sums(4, 300), row_sums(5, 300)});
}

TEST_F(OperationGet, NamesThatAnApplicationAsksForAreFitForATerminal) {
  const Library library = open_with_kernels();
  const OperationKernel kernel = library.get(row_sums(2, 3));
  const std::string name = "x\x1b]0;owned\x07";
  for (const std::string& text :
       {error_of(ErrorKind::usage, [&] { static_cast<void>(kernel.operand_index(name)); }),
        error_of(ErrorKind::usage, [&] { static_cast<void>(kernel.scalar_index(name)); })}) {
    EXPECT_THAT(text, HasSubstr("\\u001b]0;owned\\u0007"));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
  const std::string text =
      error_of(ErrorKind::usage, [] { static_cast<void>(Epilogue("acc + \x1b[31m")); });
  EXPECT_THAT(text, HasSubstr("epilogue: "));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(OperationGet, ANameThatAFlagHasIsPrecededByTheOperations) {
  Problem problem = checked(row_sums(2, 3));
  problem.sizes[0].name = "top";
  const auto words = detail::operation_tuner_words(problem);
  EXPECT_EQ(words[1], "--row_sums-top");
  EXPECT_EQ(words[3], "--cols");
}

TEST_F(OperationGet, AMistakeInTheOnlyTemplateIsTheReason) {
  std::ofstream(template_path_.front() + "/row_sums_twice.cu")
      << "//@ template   row_sums_twice\n//@ operation  row_sums\n//@ tunes      x\n";
  catalog_ = Catalog::with_sound_files(template_path_);
  const Library library = open_with_kernels();
  EXPECT_THAT(
      error_of(ErrorKind::not_found, [&] { static_cast<void>(library.get(row_sums(20, 30, 1))); }),
      HasSubstr("Kiln ignores this broken file: " + template_path_.front() +
                "/row_sums_twice.cu:3:5: "));
}

TEST_F(OperationGet, EqualProblemsHaveOneKey) {
  const detail::OperationKey key(row_sums(2, 3));
  OperationProblem asked = row_sums(2, 3);
  std::swap(asked.types[0], asked.types[2]);
  EXPECT_TRUE(key == detail::OperationRequest(asked));
  asked.types[1] = asked.types[0];
  EXPECT_FALSE(key == detail::OperationRequest(asked)) << "a name twice is another problem";
  for (auto change : std::vector<void (*)(OperationProblem&)>{
           [](OperationProblem& p) { p.operation += "s"; },
           [](OperationProblem& p) { ++p.sizes[1].value; },
           [](OperationProblem& p) { std::swap(p.sizes[0].value, p.sizes[1].value); },
           [](OperationProblem& p) {
             p.sizes.push_back({"depth", 1});
           },
           [](OperationProblem& p) { p.types[0].type = DType::f16; },
           [](OperationProblem& p) { p.traits.clear(); }}) {
    OperationProblem other = row_sums(2, 3);
    change(other);
    EXPECT_FALSE(key == detail::OperationRequest(other));
    EXPECT_NE(key.hash(), detail::hash_of(other));
  }
}

}  // namespace
}  // namespace kiln::testing
