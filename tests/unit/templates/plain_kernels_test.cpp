// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Templates without a config struct: macros, template arguments, arguments.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "templates/check/compile_diagnosis.hpp"
#include "templates/front_matter/allow_line.hpp"
#include "templates/front_matter/constant_line.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/kernel_name.hpp"
#include "templates/render/renderer.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/row_operation.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kRowOperation;
using test::kRowTemplate;
using test::row_problem;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Config kRowConfig{{"block_size", 128}, {"shift", -1}};

DeviceLimits hopper() {
  return limits_of_arch("90a").value();
}

std::string row_text(const std::string& from = "", const std::string& to = "") {
  std::string text(kRowTemplate);
  if (from.empty()) return text;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

KernelTemplate row_plain(const std::string& from = "", const std::string& to = "") {
  static_cast<void>(test::row_operation());
  return KernelTemplate::parse("row.cu", row_text(from, to));
}

std::string broken_row(const std::string& from, const std::string& to) {
  return error_text(ErrorKind::template_, [&] { (void)row_plain(from, to); });
}

/// The number at a byte of a plan's image.
template <class Number>
Number number_at(const ArgumentPlan& plan, std::size_t at) {
  Number number{};
  std::memcpy(&number, plan.image.data() + at, sizeof(number));
  return number;
}

TEST(PlainKernels, TunablesAndLetsAreMacros) {
  const auto made = row_plain();
  EXPECT_EQ(made.config_struct().type, "");
  ASSERT_EQ(made.space_spec().tunables.size(), 2U);
  EXPECT_EQ(made.space_spec().tunables[0].name, "block_size");
  EXPECT_THAT(made.space_spec().tunables[0].values, ElementsAre(64, 128, 256));
  EXPECT_EQ(made.space_spec().tunables[0].default_value, 128);
  EXPECT_EQ(made.space_spec().tunables[0].comment, "threads of a block");
  EXPECT_EQ(made.space_spec().derived[0].name, "warps");
  EXPECT_FALSE(made.is_at_launch("shift"));
  EXPECT_EQ(made.compiled_part(kRowConfig), kRowConfig);
  EXPECT_THAT(
      LaunchPlanner(made, row_problem(2, 3), hopper()).config_fields(kRowConfig),
      ElementsAre(NamedValue{"block_size", 128}, NamedValue{"warps", 4}, NamedValue{"shift", -1}))
      << "in the order of the file";
}

TEST(PlainKernels, TypesAreThoseOfTheOperation) {
  const auto made = row_plain();
  ASSERT_EQ(made.type_rows().size(), 1U);
  for (const DType type : {DType::f16, DType::f32}) {
    EXPECT_EQ(made.why_unsupported(row_problem(2, 3, type, DType::f32), hopper()), std::nullopt);
  }
  EXPECT_THAT(
      made.why_unsupported(row_problem(2, 3, DType::f64, DType::f32), hopper()).value_or(""),
      HasSubstr("x=f64"));
  EXPECT_THAT(broken_row("//@ tune       shift", "//@ types x=f32|f64 y=x\n//@ tune shift"),
              HasSubstr("the operation row_scale does not allow the type f64 for \"x\""));
}

TEST(PlainKernels, ArgumentsArePlanned) {
  const auto plans =
      LaunchPlanner(row_plain(), row_problem(7, 33), hopper()).argument_plans(kRowConfig);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_THAT(plans[0].parameters, ElementsAre(0, 8));
  EXPECT_EQ(plans[0].image.size(), 16U);
  ASSERT_EQ(plans[0].patches.size(), 1U);
  EXPECT_EQ(plans[0].patches[0].source, ArgumentPatch::Source::workspace);
  EXPECT_EQ(plans[0].patches[0].offset, 4);
  EXPECT_EQ(number_at<std::int32_t>(plans[0], 8), 7);
  EXPECT_EQ(number_at<float>(plans[0], 12), 33.0F);
  EXPECT_THAT(plans[1].parameters, ElementsAre(0, 8, 16, 20, 24)) << "the default list";
  EXPECT_EQ(number_at<std::int32_t>(plans[1], 20), 33);
}

TEST(PlainKernels, ALaunchThatIsLeftOutHasNoParameters) {
  const auto made = row_plain();
  const auto plans = LaunchPlanner(made, row_problem(7, 1), hopper()).argument_plans(kRowConfig);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_TRUE(plans[0].parameters.empty());
  EXPECT_TRUE(LaunchPlanner(made, row_problem(7, 1), hopper()).geometry(kRowConfig)[0].left_out());
  EXPECT_EQ(plans[1].parameters.size(), 5U);
}

TEST(PlainKernels, AnArgumentThatDoesNotFitNamesTheLaunch) {
  const auto wide = row_plain("{rows, (float) cols}", "rows * 1000000, 1");
  EXPECT_THAT(
      error_text(
          ErrorKind::template_,
          [&] {
            (void)LaunchPlanner(wide, row_problem(65536, 2), hopper()).argument_plans(kRowConfig);
          }),
      AllOf(StartsWith(
                "row.cu:10: launch of fill_sums (configuration \"block_size=128 shift=-1\"; sizes "
                "rows=65536 cols=2)"),
            HasSubstr("(long long)")));
  const auto undefined = row_plain("{rows, (float) cols}", "rows / (cols - 2)");
  EXPECT_THAT(
      error_text(
          ErrorKind::template_,
          [&] {
            (void)LaunchPlanner(undefined, row_problem(5, 2), hopper()).argument_plans(kRowConfig);
          }),
      HasSubstr("argument \"rows / (cols - 2)\""));
}

TEST(PlainKernels, TemplatesOfGemmHaveNoPlans) {
  const auto tiny = KernelTemplate::parse("tiny.cu", std::string(test::kTinyTemplate));
  const auto problem = to_problem(Gemm::of(DType::f16, 64, 64, 64));
  EXPECT_TRUE(LaunchPlanner(tiny, problem, hopper())
                  .argument_plans({{"tile_m", 64}, {"tile_n", 32}})
                  .empty());
  EXPECT_TRUE(tiny.launches()[0].args.empty());
}

TEST(PlainKernels, AConfigStructAndOneAtLaunchAreAllowed) {
  const auto made = row_plain("//@ require",
                              "struct RowLaunch {  //@ at launch\n  int splits;  //@ tune 1* 2\n"
                              "  int parts;  //@ let splits * rows\n};\n//@ require");
  EXPECT_TRUE(made.is_at_launch("splits"));
  Config config = kRowConfig;
  config.set("splits", 2);
  const auto plans = LaunchPlanner(made, row_problem(7, 33), hopper()).argument_plans(config);
  EXPECT_THAT(plans[0].parameters, ElementsAre(0, 8, 16)) << "the struct comes last";
  EXPECT_EQ(number_at<std::int32_t>(plans[0], 16), 2);
  EXPECT_EQ(number_at<std::int32_t>(plans[0], 20), 14);
  EXPECT_EQ(LaunchPlanner(made, row_problem(7, 33), hopper()).geometry(config)[0].values.count, 0U)
      << "it is in the plan";
  EXPECT_EQ(made.compiled_part(config), kRowConfig);

  std::string text = row_text();
  const auto begin = text.find("//@ tune       block_size");
  text.replace(begin, text.find("//@ require") - begin,
               "struct RowConfig {  //@ config\n  int block_size;  //@ tune 64 128*\n"
               "  int shift;  //@ tune -1* 0\n};\n");
  const auto with_config = KernelTemplate::parse("row.cu", text);
  EXPECT_EQ(with_config.config_struct().type, "RowConfig");
  EXPECT_EQ(
      LaunchPlanner(with_config, row_problem(7, 33), hopper()).argument_plans(kRowConfig).size(),
      2U);
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] {
                           text.insert(0, "//@ tune warps = 1 2\n");
                           (void)KernelTemplate::parse("row.cu", text);
                         }),
              HasSubstr("row.cu:1:5: \"tune\""));
}

class RenderedRowTest : public ::testing::Test {
 protected:
  void load(const std::string& text) {
    folder_.write("a_template.cu", text);
    folder_.write("row_scale.cu", kRowOperation);
    catalog_.emplace(Catalog::with_directories({folder_.path()}));
  }
  RenderedKernel render_row(const Config& config, const Problem& problem) {
    return render(*catalog_, catalog_->at("row_plain"), config, problem, hopper());
  }
  TemporaryFolder folder_;
  std::optional<Catalog> catalog_;
};

TEST_F(RenderedRowTest, MacrosFollowWhatAllConfigurationsShare) {
  load(row_text());
  const auto rendered = render_row(kRowConfig, row_problem(7, 33));
  EXPECT_THAT(rendered.text,
              HasSubstr("#pragma nv_hdrstop\n#endif\n#define kernel_tuner 1\n"
                        "#define block_size 128\n#define warps 4\n#define shift -1\n#line 1 "));
  EXPECT_THAT(rendered.name_expressions,
              ElementsAre("fill_sums", "mine::scale_rows<__half, float, 128, 128 + (-1)>"));
  EXPECT_EQ(render_row(kRowConfig, row_problem(9, 5)).text, rendered.text) << "no sizes";
}

TEST_F(RenderedRowTest, AFileThatDefinesATunableAnewIsRefused) {
  const auto refusal = [&](const std::string& text) {
    return error_text(ErrorKind::template_, [&] { load(text); });
  };
  const std::string anew = "#define block_size 64\nstruct Sizes {";
  EXPECT_THAT(refusal(row_text("struct Sizes {", anew)),
              AllOf(StartsWith(folder_.path() + "/a_template.cu:20:9: "),
                    HasSubstr("\"block_size\""), HasSubstr("#ifndef kernel_tuner")));
  EXPECT_THAT(refusal(row_text("struct Sizes {", "#undef warps\nstruct Sizes {")),
              AllOf(HasSubstr("/a_template.cu:20:"), HasSubstr("\"warps\"")));
  // As Kernel Tuner's users write it.
  load(row_text("struct Sizes {",
                "#ifndef kernel_tuner\n#define block_size 64\n#endif\nstruct Sizes {"));
  EXPECT_THAT(render_row(kRowConfig, row_problem(7, 33)).text, Not(HasSubstr("#error")));
  // Only the compiler knows: it is asked behind the file.
  load(row_text("struct Sizes {", "#ifdef HOST\n#define block_size 64\n#endif\nstruct Sizes {"));
  EXPECT_THAT(render_row(kRowConfig, row_problem(7, 33)).text,
              AllOf(HasSubstr("#if !defined(block_size) || (block_size) != (128)\n#line 21 "),
                    HasSubstr("#error \"block_size is tuned")));
  load(row_text("struct Sizes {", "#ifdef HOST\n#undef kernel_tuner\n#endif\nstruct Sizes {"));
  EXPECT_THAT(render_row(kRowConfig, row_problem(7, 33)).text,
              AllOf(HasSubstr("#if !defined(kernel_tuner)\n#line 21 "),
                    HasSubstr("#error \"Kiln defines kernel_tuner for its own builds")));
  // In a header as well.
  folder_.write("tiles.cuh", "\n#define block_size 64\n");
  EXPECT_THAT(refusal(row_text("struct Sizes {", "#include \"tiles.cuh\"\nstruct Sizes {")),
              AllOf(StartsWith("tiles.cuh:2:9: "), HasSubstr("\"block_size\"")));
  folder_.write("tiles.cuh", "\nconstexpr int block_size = 64;\n");
  EXPECT_THAT(refusal(row_text("struct Sizes {", "#include \"tiles.cuh\"\nstruct Sizes {")),
              AllOf(StartsWith("tiles.cuh:2:15: "), HasSubstr("\"block_size\"")));
}

TEST_F(RenderedRowTest, ExportNamesGeometryAndArguments) {
  load(row_text("{rows, (float) cols}", "{rows, (float) cols}, halves * 2"));
  const auto& made = catalog_->at("row_plain");
  const auto problem = row_problem(7, 33);
  const auto text = export_text(render_row(kRowConfig, problem), made, problem, hopper());
  EXPECT_THAT(
      text,
      AllOf(Not(HasSubstr("// traits")),
            HasSubstr("// Launch for row_scale rows=7 cols=33:\n//   fill_sums\n//     grid 1 x 1"),
            HasSubstr("//     arguments workspace + 4, {rows = 7, (float) cols = 33}, "
                      "halves * 2 = 34\n"),
            HasSubstr("//     arguments x, y, rows = 7, cols = 33, scale\n"),
            HasSubstr("// scale is 1.5 "), HasSubstr("// Workspace: 28 bytes"),
            HasSubstr("kiln_kernel_0 = &fill_sums;\n"), Not(HasSubstr("GemmArgs"))));
}

TEST_F(RenderedRowTest, TheDigestFollowsTheOperation) {
  load(row_text());
  const auto first = catalog_->digest("row_plain");
  std::string other(kRowOperation);
  other.replace(other.find("row_scale"), 9, "row_other");
  folder_.write("row_scale.cu", other);
  folder_.write("a_template.cu", row_text("row_scale", "row_other"));
  const auto changed = Catalog::with_directories({folder_.path()}).digest("row_plain");
  EXPECT_NE(changed, first);
}

TEST_F(RenderedRowTest, AnOperationThatIsDeclaredTwiceNamesBothFiles) {
  load(row_text());
  folder_.write("row_twice.cu", std::string(kRowOperation) + "\n");
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)Catalog::with_directories({folder_.path()}); }),
      AllOf(StartsWith(folder_.path() + "/row_twice.cu:1:1:"),
            HasSubstr(folder_.path() + "/row_scale.cu")));
}

TEST(PlainKernelsError, Macros) {
  EXPECT_THAT(broken_row("tune       shift = -1* 0", "tune       shift -1* 0"),
              AllOf(StartsWith("row.cu:7:16:"), HasSubstr("name = 64 128* 256")));
  EXPECT_THAT(broken_row("tune       shift = -1* 0", "tune       shift ="),
              AllOf(StartsWith("row.cu:7:23:"), HasSubstr("\"tune\"")));
  EXPECT_THAT(
      broken_row("tune       shift = -1* 0", "tune       shift = -1* x"),
      AllOf(StartsWith("row.cu:7:28:"), HasSubstr("the values of shift mix names and numbers")));
  EXPECT_THAT(broken_row("//@              256", "//@              256 64"),
              StartsWith("row.cu:5:22:"));
  EXPECT_THAT(broken_row("let        warps = block_size / 32", "let        warps"),
              HasSubstr("\"let name = expression\""));
  EXPECT_THAT(broken_row("warps = block_size / 32", "warps = block_size / rows"),
              AllOf(StartsWith("row.cu:6:37:"), HasSubstr("\"rows\"")));
  EXPECT_THAT(broken_row("warps = block_size / 32", "warps = block_size / halves"),
              AllOf(StartsWith("row.cu:6:37:"), HasSubstr("\"halves\"")));
  EXPECT_THAT(broken_row("warps = block_size / 32", "warps = blocksize / 32"),
              HasSubstr("\"block_size\"?"));
  for (const auto* taken : {"x", "y", "scale", "workspace", "rows", "halves", "warps"}) {
    EXPECT_THAT(broken_row("shift = -1* 0", fmt::format("{} = 1 2", taken)),
                HasSubstr(fmt::format("\"{}\"", taken)))
        << taken;
  }
  EXPECT_THAT(broken_row("shift = -1* 0", "fill_sums = 1 2\n//@ tune shift = 0"),
              HasSubstr("\"fill_sums\" is the name of both a kernel and a macro"));
  EXPECT_THAT(broken_row("shift = -1* 0", "9shift = 1"), StartsWith("row.cu:7:16:"));
  EXPECT_THAT(broken_row("struct Sizes {\n  int rows;", "struct Sizes {\n  int rows;  //@ tune 1"),
              HasSubstr("struct of \"rows\""));
}

TEST(PlainKernelsError, NamesOfKernels) {
  EXPECT_THAT(broken_row("block_size + shift>", "block_size + rows>"),
              AllOf(StartsWith("row.cu:16:31:"), HasSubstr("\"rows\" is known only at launch")));
  EXPECT_THAT(broken_row("block_size + shift>", "block_size + shift"),
              HasSubstr("this '<' is not closed"));
  EXPECT_THAT(broken_row("block_size + shift>", "(block_size + shift>"), HasSubstr("this '('"));
  EXPECT_THAT(broken_row("block_size + shift>", "block_size) + shift>"),
              HasSubstr("this ')' closes nothing"));
  EXPECT_THAT(broken_row("block_size + shift>", "block_size> twice"),
              HasSubstr("nothing may follow the template arguments"));
  EXPECT_THAT(broken_row("mine::scale_rows<", "mine::<"), HasSubstr("the name of a kernel"));
  EXPECT_THAT(broken_row("//@   grid     rows", "//@   grids    rows"), HasSubstr("\"grid\"?"));
}

TEST(PlainKernelsError, ArgumentsAndWhatOnlyGemmHas) {
  EXPECT_THAT(broken_row("workspace + 4, {rows", "workspace + 4, {row"),
              AllOf(StartsWith("row.cu:14:32:"), HasSubstr("\"rows\"?")));
  EXPECT_THAT(broken_row("//@   when     cols > 1", "//@   args x"),
              AllOf(StartsWith("row.cu:14:7:"), HasSubstr("two \"args\"")));
  EXPECT_THAT(broken_row("//@ workspace  4 * rows\n", ""),
              HasSubstr("the template has no workspace"));
  EXPECT_THAT(broken_row("//@ workspace  4 * rows", "//@ args x\n//@ workspace 4 * rows"),
              HasSubstr("\"args\" belongs below a \"launch\" line"));
  EXPECT_THAT(
      broken_row("//@   when     cols > 1", "//@   map x: cols, rows; box 8, 8"),
      AllOf(StartsWith("row.cu:13:7:"), HasSubstr("\"map\" lines are only for kernels of")));
  EXPECT_THAT(broken_row("//@ workspace", "//@ epilogue yes\n//@ workspace"),
              HasSubstr("cannot have epilogues"));
  std::string gemm(test::kTinyTemplate);
  gemm.insert(gemm.find("//@   smem"), "//@   args     a\n");
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)KernelTemplate::parse("tiny.cu", gemm); }),
      HasSubstr("kernels of gemm get the same struct"));
}

/// With an array in constant memory and the line that fills it.
std::string constant_row(const std::string& line, const std::string& declaration) {
  return row_text("//@ workspace", line + "\n//@ workspace") + declaration + "\n";
}

TEST(PlainKernels, ArraysInConstantMemoryHoldOperands) {
  static_cast<void>(test::row_operation());
  const auto made = KernelTemplate::parse(
      "row.cu",
      constant_row("//@ constant   d_x = x   // every row", "__constant__ float\n  d_x[99];"));
  ASSERT_EQ(made.constants().size(), 1U);
  EXPECT_EQ(made.constants()[0].array, "d_x");
  EXPECT_EQ(made.constants()[0].operand, 0);
  EXPECT_THAT(made.constant_fills(row_problem(2, 3)), ElementsAre(ConstantFill{"d_x", 0, 12}));
  EXPECT_EQ(made.launches()[1].args.size(), 4U) << "x is no argument then";
  EXPECT_TRUE(row_plain().constant_fills(row_problem(2, 3)).empty());
}

TEST(PlainKernels, ConstantsOfNamespacesAreNamedWithThem) {
  static_cast<void>(test::row_operation());
  const std::string declared =
      "namespace phys::si {\nint helper() { return 1; }\n__constant__ float k[4] = {1}, "
      "d_x[99];\n}";
  const auto line = [&](const std::string& text) {
    return KernelTemplate::parse("row.cu", constant_row("//@ constant   " + text, declared));
  };
  const auto made = line("phys::si::d_x = x");
  EXPECT_THAT(made.constant_fills(row_problem(2, 3)),
              ElementsAre(ConstantFill{"phys::si::d_x", 0, 12}));
  EXPECT_EQ(variable_symbol("phys::si::d_x"), "_ZN4phys2si3d_xE");
  EXPECT_EQ(variable_symbol("d_x"), "d_x");
  for (const std::string wrong : {"d_x = x", "phys::d_x = x", "::d_x = x"}) {
    const std::string text = error_text(ErrorKind::template_, [&] { (void)line(wrong); });
    EXPECT_THAT(text, wrong.starts_with("::")
                          ? HasSubstr("\"ARRAY = OPERAND\"")
                          : HasSubstr("is phys::si::d_x, not " + wrong.substr(0, wrong.find(' ')) +
                                      "; write \"constant phys::si::d_x = ...\""));
  }
  const auto hidden = [](const std::string& declaration) {
    return error_text(ErrorKind::template_, [&] {
      (void)KernelTemplate::parse("row.cu", constant_row("//@ constant   d_x = x", declaration));
    });
  };
  for (const std::string declaration :
       {"namespace {\n__constant__ float d_x[99];\n}", "static __constant__ float d_x[99];"}) {
    EXPECT_THAT(hidden(declaration), HasSubstr("or the unnamed namespace")) << declaration;
  }
}

TEST(PlainKernels, CooperativeLaunchesMayDependOnTheConfiguration) {
  const std::string part = "//@   args     workspace";
  EXPECT_FALSE(
      LaunchPlanner(row_plain(), row_problem(2, 3), hopper()).geometry(kRowConfig)[0].cooperative);
  const auto always = row_plain(part, "//@   cooperative\n" + part);
  EXPECT_TRUE(
      LaunchPlanner(always, row_problem(2, 3), hopper()).geometry(kRowConfig)[0].cooperative);
  EXPECT_FALSE(
      LaunchPlanner(always, row_problem(2, 3), hopper()).geometry(kRowConfig)[1].cooperative);
  const auto some = row_plain(part, "//@   cooperative block_size > 128  // why\n" + part);
  EXPECT_FALSE(
      LaunchPlanner(some, row_problem(2, 3), hopper()).geometry(kRowConfig)[0].cooperative);
  EXPECT_THAT(broken_row(part, "//@   cooperative\n//@   cooperative 0\n" + part),
              HasSubstr("two \"cooperative\""));
  EXPECT_THAT(broken_row(part, "//@   cooperative\n//@   overlap  1\n" + part),
              HasSubstr("cannot overlap with the previous launch"));
  const auto both = row_plain(part, "//@   cooperative\n//@   overlap  block_size > 1\n" + part);
  EXPECT_THAT(
      error_text(
          ErrorKind::template_,
          [&] { (void)LaunchPlanner(both, row_problem(2, 3), hopper()).geometry(kRowConfig); }),
      HasSubstr("\"overlap\" expression 0 for every cooperative launch"));
}

TEST(PlainKernels, AllowedFindingsHaveAReason) {
  const std::string part = "//@   args     workspace";
  const auto made = row_plain(part,
                              "//@   allow    race same_value   // all store the same\n"
                              "//@   allow    uninitialised unused   // masked later\n" +
                                  part);
  const auto launches = LaunchPlanner(made, row_problem(2, 3), hopper()).geometry(kRowConfig);
  EXPECT_TRUE(allows(launches[0].allowed, Allowed::race_same_value));
  EXPECT_TRUE(allows(launches[0].allowed, Allowed::uninitialised_unused));
  EXPECT_EQ(launches[1].allowed, 0);
  EXPECT_EQ(accepted_text(made.launches()),
            "accepted in fill_sums: race same_value (all store the same); accepted in fill_sums: "
            "uninitialised unused (masked later)");
  EXPECT_THAT(broken_row(part, "//@   allow    race same_value\n" + part),
              HasSubstr("an \"allow\" line needs a reason"));
  EXPECT_THAT(broken_row(part, "//@   allow    race same_valu  // so\n" + part),
              HasSubstr("\"race same_value\"?"));
  EXPECT_THAT(broken_row(part,
                         "//@   allow    race same_value  // a\n"
                         "//@   allow    race same_value  // b\n" +
                             part),
              HasSubstr("already has a line \"allow race same_value\""));
}

TEST(PlainKernels, TexturesAreRefusedWithTheirLine) {
  EXPECT_THAT(
      broken_row("fill_sums(int* sums, Sizes sizes)",
                 "fill_sums(int* sums,\n    cudaTextureObject_t image)"),
      AllOf(StartsWith("row.cu:26:5: "), HasSubstr("does not support textures and surfaces"),
            HasSubstr("pass the array to the kernel as an operand")));
  EXPECT_NO_THROW((void)row_plain("extern \"C\" __global__ void fill_sums",
                                  "__global__ void other(cudaSurfaceObject_t);\n"
                                  "extern \"C\" __global__ void fill_sums"))
      << "a kernel that is not launched";
}

TEST(PlainKernels, FaultyConstantsAreRefused) {
  static_cast<void>(test::row_operation());
  const auto refused = [](const std::string& line) {
    return error_text(ErrorKind::template_, [&] {
      (void)KernelTemplate::parse("row.cu", constant_row(line, "__constant__ float d_x[99];"));
    });
  };
  EXPECT_THAT(refused("//@ constant   x"),
              HasSubstr("\"ARRAY = OPERAND\", as in \"d_filter = filter\""));
  EXPECT_THAT(
      refused("//@ constant   d_y = x"),
      AllOf(StartsWith("row.cu:9:16: "), HasSubstr("declares no __constant__ array \"d_y\"")));
  EXPECT_THAT(refused("//@ constant   d = x"), HasSubstr("array \"d\"")) << "a part of a name";
  EXPECT_THAT(refused("//@ constant   d_x ="), HasSubstr("row_scale has no operand \"\""));
  EXPECT_THAT(refused("//@ constant   d_x = X"),
              AllOf(StartsWith("row.cu:9:22: "), HasSubstr("\"x\"?")));
  EXPECT_THAT(refused("//@ constant   d_x = y"), HasSubstr("\"y\" is an output"));
  EXPECT_THAT(refused("//@ constant   d_x = x\n//@ constant d_x = x"),
              HasSubstr("already fills d_x"));
  std::string gemm(test::kTinyTemplate);
  gemm.insert(gemm.find("//@ launch"), "//@ constant d_a = a\n");
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)KernelTemplate::parse("tiny.cu", gemm); }),
      HasSubstr("get all operands in one struct"));
}

TEST(KernelNames, OnlyNamesThatStandAloneAreReplaced) {
  const auto replacement = [](std::string_view name) -> std::optional<std::string> {
    if (name == "x") return "__half";
    return std::nullopt;
  };
  EXPECT_EQ(expand_kernel_name("x<x, 0x10, std::x, x::y, a.x, xx, l<x >, 'x', 1'000>", replacement),
            "x<__half, 0x10, std::x, x::y, a.x, xx, l<__half >, 'x', 1'000>");
  EXPECT_EQ(expand_kernel_name("x", replacement), "x");
  EXPECT_EQ(expand_kernel_name("a::x<>", replacement), "a::x<>");
}

constexpr const char* kNameLog = "__nv_name_map(2): error: no instance\n";

TEST(PlainKernels, LogsAreExplained) {
  EXPECT_THAT(explain_compile_log(row_plain("void fill_sums(", "void fill_sum("), kNameLog),
              HasSubstr("\"fill_sums\""));
  EXPECT_THAT(explain_compile_log(row_plain(", int kMore>", ">"), kNameLog),
              AllOf(StartsWith("row.cu:15: the launch passes 4 template arguments to the kernel "
                               "scale_rows, but the kernel has 3"),
                    HasSubstr("launch mine::scale_rows<...>")));
  EXPECT_THAT(explain_compile_log(row_plain(), kNameLog), StartsWith("row.cu: "));
  const std::string number =
      "row.cu(30): error: expected an identifier\n  Mine block_size = 4;\n       ^\n";
  EXPECT_THAT(explain_compile_log(row_plain(), number),
              AllOf(StartsWith("row.cu:30: "), HasSubstr("\"block_size\""),
                    HasSubstr("#ifndef kernel_tuner"), EndsWith(number)));
  EXPECT_EQ(explain_compile_log(row_plain(), number.substr(0, number.find('\n') + 1)),
            number.substr(0, number.find('\n') + 1));
}

TEST(PlainKernels, ParametersAreComparedWithArguments) {
  const auto made = row_plain();
  const auto why = [&](const std::string& second) {
    return why_wrong_parameters(made, {"fill_sums", second});
  };
  const std::string head = "_ZN4mine10scale_rowsI6__halffLi128ELi127EEEv";
  EXPECT_EQ(why(head + "PKT_PT0_iif"), "");
  EXPECT_EQ(why(head + "PKvmiif"), "") << "an address as a number";
  EXPECT_EQ(why(head + "PKT_PT0_jif"), "") << "signs do not matter";
  EXPECT_EQ(why("scale_rows"), "") << "extern \"C\": nothing is known";
  EXPECT_THAT(why(head + "PKT_PT0_iiff"),
              AllOf(StartsWith("row.cu:15: the launch passes 5 arguments to mine::scale_rows (x, "
                               "y, rows, cols, scale), but the kernel has 6 parameters (__half "
                               "const*, float*, int, int, float, float)"),
                    HasSubstr("Next:")));
  EXPECT_THAT(
      why(head + "PKT_PT0_xif"),
      AllOf(HasSubstr("argument 3 of mine::scale_rows, \"rows\", is an integer of 4 bytes"),
            HasSubstr("\"long long\" (line 33)"),
            HasSubstr("\"args x, y, (long long) rows, cols, scale\""), HasSubstr("\"int\".")));
  EXPECT_THAT(why(head + "PKT_PT0_iii"), HasSubstr("\"scale\", is a float"));
  EXPECT_THAT(why(head + "PKT_iPT0_if"), HasSubstr("\"y\", is an address"));
  EXPECT_THAT(why(head + "RKT_PT0_iif"), HasSubstr("argument 1"));
  EXPECT_THAT(why(head + "v"), HasSubstr("has 0 parameters"));
  EXPECT_EQ(why("_Zgarbage"), "");
}

TEST(PlainKernels, PointersAreComparedWithTheTypesOfOperands) {
  const auto why = [](const std::string& from, const std::string& to, const std::string& lowered,
                      DType x = DType::f16) {
    const Problem problem = row_problem(3, 5, x);
    return why_wrong_parameters(row_plain(from, to), {"fill_sums", lowered}, &problem);
  };
  const std::string head = "_ZN4mine10scale_rowsI6__halffLi128ELi127EEEv";
  EXPECT_EQ(why("", "", head + "PKT_PT0_iif"), "");
  EXPECT_EQ(why("", "", head + "PKvPT0_iif"), "") << "anything";
  EXPECT_THAT(why("", "", head + "PKhPT0_iif"),
              AllOf(HasSubstr("parameter 1 of mine::scale_rows is \"unsigned char*\""),
                    HasSubstr("\"x\""), HasSubstr("f16. Next: "),
                    HasSubstr("(to \"void*\" or \"const void*\" if the kernel casts the pointer)"),
                    HasSubstr(".cu:6, --x).")));
  EXPECT_THAT(why("", "", head + "PKT_PaiiT0_"), HasSubstr("parameter 2 of")) << "signed char";
  EXPECT_EQ(why("", "", head + "PKjPT0_iif"), "") << "two halves at a time";
  EXPECT_EQ(why("", "", head + "PK6float2PT0_iif"), "") << "a type that is not CUDA's own";
  EXPECT_THAT(why("", "", head + "PKT0_PT0_iif"),
              AllOf(StartsWith("row.cu:33: parameter 1 of mine::scale_rows is \"float*\""),
                    HasSubstr("\"x\""), HasSubstr("f16"), HasSubstr("Next:")));
  EXPECT_THAT(why("", "", head + "PKT_PdiiT0_"),
              AllOf(HasSubstr("parameter 2 of mine::scale_rows is \"double*\""), HasSubstr("\"y\""),
                    HasSubstr("f32")));
  EXPECT_THAT(why("", "", head + "PKT_PiiiT0_"), HasSubstr("is \"int*\"")) << "of the same size";
  EXPECT_NE(why("", "", head + "PKT_PT0_iif", DType::f32), "") << "half for float";
  // Of extern "C" kernels the compiler tells nothing, but the file does.
  constexpr const char* kList = "args     workspace + 4, {rows, (float) cols}";
  constexpr const char* kBegin = "void fill_sums(int* sums, Sizes sizes)";
  const auto plain = [](const std::string& parameters) {
    std::string text = row_text(kList, "args     x, rows");
    const auto at = text.find(kBegin);
    text.replace(at, std::string(kBegin).size(), "void fill_sums(" + parameters + ")");
    const auto made = KernelTemplate::parse("row.cu", text);
    const Problem problem = row_problem(3, 5, DType::f32);
    return why_wrong_parameters(made, {"fill_sums", "scale_rows"}, &problem);
  };
  EXPECT_EQ(plain("const float* __restrict__ x, int rows"), "");
  EXPECT_EQ(plain("const float x[], unsigned rows = 0"), "");
  EXPECT_EQ(plain("const Number* x, int rows"), "") << "may be a float";
  EXPECT_THAT(plain("const double* __restrict__ x, const int rows"),
              StartsWith("row.cu:25: parameter 1 of fill_sums is \"double*\""));
  EXPECT_THAT(plain("const float* x, long long rows"),
              AllOf(StartsWith("row.cu:14: argument 2 of fill_sums"),
                    HasSubstr("\"(long long) rows\""), HasSubstr("\"int\".")));
  for (const char* const type :
       {"size_t", "std::size_t", "ptrdiff_t", "uint64_t", "std::int64_t", "ulong", "unsigned long",
        "unsigned long long int", "int16_t", "uint8_t", "ushort"}) {
    EXPECT_THAT(plain(fmt::format("const float* x, {} rows", type)),
                HasSubstr("argument 2 of fill_sums"))
        << type;
  }
  for (const char* const type : {"int32_t", "std::uint32_t", "uint", "unsigned"}) {
    EXPECT_EQ(plain(fmt::format("const float* x, {} rows", type)), "") << type;
  }
  EXPECT_THAT(plain("const float* x"), HasSubstr("1 parameters"));
}

}  // namespace
}  // namespace kiln
