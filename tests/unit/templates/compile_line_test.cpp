// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Options of the compiler: those that templates give, and settings of configurations.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "templates/catalog.hpp"
#include "templates/kernel_template.hpp"
#include "templates/render/export_text.hpp"
#include "templates/render/renderer.hpp"
#include "templates/space/compile_settings.hpp"
#include "templates/space/tunable_value.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/row_operation.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::row_problem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kOptions = R"(//@ template   options
//@ purpose    A kernel with options
//@ operation  row_scale
//@ tune       regs = 0* 64 128
//@ tune       fast = false* true
//@ tune       via = cubin* ptx
//@ tune       cached = ca* cg
//@ launch     options
//@   grid     rows
//@   block    128
//@   args     x, y, rows, cols, scale
@
extern "C" __global__ void options(const float* x, float* y, int rows, int cols, float scale) {}
)";

/// The lines begin in line 12.
KernelTemplate with_lines(const std::string& lines) {
  static_cast<void>(test::row_operation());
  std::string text(kOptions);
  text.replace(text.find('@', text.find("args")), 2, lines);
  return KernelTemplate::parse("options.cu", text);
}

std::string line_error(const std::string& text) {
  return error_text(ErrorKind::template_, [&] { (void)with_lines("//@ compile " + text + "\n"); });
}

Config options_config(std::int64_t regs, bool fast, std::string_view via = "cubin",
                      std::string_view cached = "ca") {
  return {{"regs", regs},
          {"fast", value_of_bool(fast)},
          {"via", *value_of_name(via)},
          {"cached", *value_of_name(cached)}};
}

CompileOptions options_with(const KernelTemplate& made, const Config& config) {
  return made.options_of(config, row_problem(7, 100, DType::f32, DType::f32),
                         limits_of_arch("90a").value());
}

TEST(CompileLine, OptionsFollowTheConfiguration) {
  const KernelTemplate made = with_lines(
      "//@ compile --maxrregcount=regs when regs > 0\n"
      "//@ compile --use_fast_math --fmad=false when fast and regs != 64\n"
      "//@ compile --ftz=true    // always\n"
      "//@ compile --ptxas-options=--def-load-cache=cached "
      "--ptxas-options=--register-usage-level=regs/32\n"
      "//@ compile route=via\n");
  EXPECT_EQ(options_with(made, options_config(0, false)).text(),
            "--ftz=true --ptxas-options=--register-usage-level=0 "
            "--ptxas-options=--def-load-cache=ca");
  const CompileOptions fast = options_with(made, options_config(128, true, "ptx", "cg"));
  EXPECT_THAT(fast.flags,
              ElementsAre("--use_fast_math", "--ftz=true", "--fmad=false", "--maxrregcount=128",
                          "--ptxas-options=--register-usage-level=4",
                          "--ptxas-options=--def-load-cache=cg"));
  EXPECT_EQ(fast.route, CompileRoute::ptx);
  EXPECT_THAT(options_with(made, options_config(64, true)).text(), Not(HasSubstr("fast")));
}

TEST(CompileLine, TheLastOneWhoseConditionHoldsCounts) {
  const KernelTemplate made =
      with_lines("//@ compile --ftz=true\n//@ compile --ftz=false when regs == 64\n");
  EXPECT_EQ(options_with(made, options_config(0, false)).text(), "--ftz=true");
  EXPECT_EQ(options_with(made, options_config(64, false)).text(), "--ftz=false");
}

TEST(CompileLine, PointsAtWhatIsWrong) {
  EXPECT_THAT(line_error("--ftz"),
              AllOf(HasSubstr("options.cu:12:13: --ftz needs a value"), HasSubstr("--ftz=VALUE")));
  EXPECT_THAT(line_error("--restrict=true"),
              HasSubstr("options.cu:12:23: --restrict takes no value"));
  EXPECT_THAT(line_error("--ftz=true --fzt=true"),
              AllOf(HasSubstr("options.cu:12:24: \"--fzt\" is not an option of a \"compile\" line"),
                    HasSubstr("did you mean \"--ftz\""), HasSubstr("--ptxas-options=--opt-level")));
  EXPECT_THAT(line_error("-Iheaders"), AllOf(HasSubstr("12:13: a \"compile\" line cannot give "),
                                             HasSubstr("\"include\" line")));
  EXPECT_THAT(line_error("-DX=1"), HasSubstr("declare a tunable"));
  EXPECT_THAT(line_error("--gpu-architecture=sm_90"), HasSubstr("remove this option; Kiln"));
  EXPECT_THAT(line_error("-maxrregcount=64"), HasSubstr("Next: write --maxrregcount=VALUE"));
  EXPECT_THAT(line_error("-restrict"), HasSubstr("Next: write --restrict"));
  EXPECT_THAT(line_error("-O3"), HasSubstr("Next: write --ptxas-options=--opt-level=VALUE"));
  EXPECT_THAT(line_error("--ftz=yes"),
              HasSubstr("12:19: --ftz is true or false; write --ftz=true"));
  EXPECT_THAT(line_error("--maxrregcount=reg"),
              AllOf(HasSubstr("options.cu:12:28: unknown name \"reg\""), HasSubstr("regs")));
  EXPECT_THAT(line_error("--maxrregcount=cols"),
              AllOf(HasSubstr("12:13: \"cols\" is known only at launch"), HasSubstr("Next:")));
  EXPECT_THAT(line_error("--restrict when rows > 5"),
              HasSubstr("12:29: \"rows\" is known only at launch"));
  EXPECT_THAT(line_error("route=sass"),
              HasSubstr("12:19: expected after \"route=\": one of the words cubin, ptx, or a"));
  EXPECT_THAT(line_error("route=regs"), HasSubstr("the values of \"regs\" must be some of"));
  EXPECT_THAT(line_error("route=cached"), HasSubstr("tune cached = cubin ptx"));
  EXPECT_THAT(line_error("--restrict when"), HasSubstr("expected after \"when\": a condition"));
  EXPECT_THAT(line_error("when fast"), HasSubstr("expected before \"when\": an option"));
  EXPECT_THAT(line_error("--restrict --restrict"),
              HasSubstr("12:24: --restrict is given twice without a condition"));
}

TEST(CompileLine, ValuesOutOfRangeAreErrorsOfTheConfiguration) {
  const KernelTemplate made = with_lines("//@ compile --maxrregcount=regs\n");
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)options_with(made, options_config(0, false)); }),
      AllOf(HasSubstr("options.cu:12:13: --maxrregcount is 0 for this configuration"),
            HasSubstr("from 16 to 255")));
  const KernelTemplate divided = with_lines("//@ compile --ptxas-options=--opt-level=64/regs\n");
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] { (void)options_with(divided, options_config(0, false)); }),
              HasSubstr("undefined for this configuration"));
}

/// What a catalog renders of the template with these lines.
class RenderedOptions : public ::testing::Test {
 protected:
  RenderedOptions() {
    static_cast<void>(test::row_operation());
    folder_.write("row_scale.cu", test::kRowOperation);
  }
  RenderedKernel rendered(const std::string& lines, const Config& config) {
    std::string text(kOptions);
    text.replace(text.find('@', text.find("args")), 2, lines);
    folder_.write("options.cu", text);
    catalog_.emplace(Catalog::with_directories({folder_.path()}));
    return render(*catalog_, catalog_->at("options"), config, problem_, limits_);
  }
  std::string exported(const RenderedKernel& rendered) {
    return export_text(rendered, catalog_->at("options"), problem_, limits_);
  }

  test::TemporaryFolder folder_;
  std::optional<Catalog> catalog_;
  const Problem problem_ = row_problem(7, 100, DType::f32, DType::f32);
  const DeviceLimits limits_ = limits_of_arch("90a").value();
};

TEST_F(RenderedOptions, StandInTheTextAndInItsDigest) {
  const std::string lines = "//@ compile --maxrregcount=regs when regs > 0\n";
  const RenderedKernel plain = rendered(lines, options_config(0, false));
  EXPECT_THAT(plain.text, Not(HasSubstr("// compile")));
  EXPECT_TRUE(plain.options.empty());
  const RenderedKernel limited = rendered(lines, options_config(64, false));
  EXPECT_THAT(limited.text, HasSubstr("// compile  --maxrregcount=64\n"));
  EXPECT_THAT(exported(limited), HasSubstr("code=sm_90a --maxrregcount=64 -c options.cu"));
  // Of two templates that differ in a fixed option only.
  const RenderedKernel other = rendered("//@ compile --ftz=true\n", options_config(0, false));
  EXPECT_NE(other.template_digest, plain.template_digest);
  EXPECT_NE(other.digest, plain.digest);
}

TEST_F(RenderedOptions, TheDriversRouteIsPtxForNvcc) {
  const RenderedKernel by_driver =
      rendered("//@ compile route=ptx --ftz=true\n", options_config(0, false));
  EXPECT_THAT(by_driver.text, HasSubstr("// compile  --ftz=true route=ptx\n"));
  EXPECT_THAT(exported(by_driver), HasSubstr("code=compute_90a --ftz=true -c"));
}

TEST_F(RenderedOptions, SettingsGiveOptionsToo) {
  Config config = options_config(0, false);
  config.set(kRegistersSetting, 40);
  config.set(kVectorizeSetting, value_of_bool(true));
  config.set(kRouteSetting, *value_of_name("ptx"));
  const RenderedKernel set = rendered("", config);
  EXPECT_EQ(set.options.text(), "--extra-device-vectorization --maxrregcount=40 route=ptx");
  EXPECT_THAT(set.text, HasSubstr("via=cubin compile.max_registers=40 compile.route=ptx"));
  EXPECT_NE(set.digest, rendered("", options_config(0, false)).digest);
  EXPECT_THAT(
      error_text(ErrorKind::usage, [&] { (void)rendered("//@ compile route=via\n", config); }),
      HasSubstr("there is no tunable \"compile.max_registers\""))
      << "a template that says the route decides itself";
  const RenderedKernel both = rendered("//@ compile --ftz=true --maxrregcount=64\n", config);
  EXPECT_EQ(both.options.text(),
            "--ftz=true --extra-device-vectorization --maxrregcount=40 route=ptx")
      << "settings precede lines";
}

TEST(CompileSettings, AreValidWhereATemplateOfADeclaredOperationSaysNoRoute) {
  const KernelTemplate made = with_lines("");
  EXPECT_TRUE(made.takes_settings());
  EXPECT_TRUE(with_lines("//@ compile --ftz=true\n").takes_settings());
  EXPECT_FALSE(with_lines("//@ compile route=cubin\n").takes_settings());
  const ParamSpace space =
      made.space(row_problem(7, 100, DType::f32, DType::f32), limits_of_arch("90a").value());
  Config config = options_config(64, true);
  const auto why = [&](std::string_view name, std::int64_t value) {
    Config with = config;
    with.set(name, value);
    return space.why_invalid(with).value_or("valid");
  };
  EXPECT_EQ(why(kRouteSetting, *value_of_name("ptx")), "valid");
  EXPECT_EQ(why(kRegistersSetting, 255), "valid");
  EXPECT_EQ(why(kVectorizeSetting, value_of_bool(true)), "valid");
  EXPECT_THAT(why(kRouteSetting, *value_of_name("cubin")), HasSubstr("only other choice is ptx"));
  EXPECT_THAT(why(kVectorizeSetting, value_of_bool(false)), HasSubstr("choice is true"));
  EXPECT_THAT(why(kRegistersSetting, 256), HasSubstr("from 16 to 255"));
  EXPECT_THAT(why("compile.rout", 1), HasSubstr("did you mean \"compile.route\""));
}

// Otherwise a search would leave them out of what it makes of a stored configuration.
TEST(CompileSettings, StayWithWhatASpaceMakesOfAConfiguration) {
  const ParamSpace space =
      with_lines("//@ require regs < 128\n")
          .space(row_problem(7, 100, DType::f32, DType::f32), limits_of_arch("90a").value());
  Config config = options_config(64, false);
  config.set(kRouteSetting, *value_of_name("ptx"));
  for (const Config& neighbour : space.neighbours(config)) {
    EXPECT_EQ(neighbour.find(kRouteSetting), value_of_name("ptx")) << neighbour.canonical();
  }
  Config invalid = config;
  invalid.set("regs", 128);
  const std::vector<Config> repaired = space.repaired(invalid, 1);
  ASSERT_THAT(repaired, SizeIs(2));
  EXPECT_TRUE(has_settings(repaired[0]));
  EXPECT_TRUE(space.contains(repaired[0]));
  EXPECT_EQ(space.count(), 2U * 2 * 2 * 2) << "they are no part of the space";
  EXPECT_FALSE(has_settings(space.default_config().value()));
}

TEST(CompileSettings, AreTextOfAConfiguration) {
  const Config config = Config::parse("block=64 compile.max_registers=40 compile.route=ptx");
  EXPECT_EQ(config.canonical(), "block=64 compile.max_registers=40 compile.route=ptx");
  EXPECT_TRUE(has_settings(config));
  EXPECT_EQ(without_settings(config).canonical(), "block=64");
  EXPECT_EQ(with_settings_of(config, Config::parse("block=32")).canonical(),
            "block=32 compile.max_registers=40 compile.route=ptx");
  EXPECT_THAT(error_text(ErrorKind::usage, [] { (void)Config::parse("tile.m=3"); }),
              HasSubstr("invalid name"));
  EXPECT_THAT(error_text(ErrorKind::usage, [] { (void)Config::parse("compile.=3"); }),
              HasSubstr("invalid name"));
}

}  // namespace
}  // namespace kiln
