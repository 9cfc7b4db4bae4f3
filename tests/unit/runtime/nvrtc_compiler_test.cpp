// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The real compiler; it needs no GPU.
#include "runtime/compile/nvrtc_compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/cuda_paths.hpp"
#include "runtime/compile/ptx_limit.hpp"
#include "templates/compile_options.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class NvrtcCompilerTest : public ::testing::Test {
 protected:
  static CompileRequest request() {
    CompileRequest request;
    request.source =
        "#include <cuda_fp16.h>\n"
        "struct Config { int a; int b; };\n"
        "template <Config C> __global__ void scale(__half* p) {\n"
        "  __shared__ float s[128]; s[threadIdx.x] = __half2float(p[threadIdx.x]);\n"
        "  __syncthreads(); p[threadIdx.x] = __float2half(s[127 - threadIdx.x] * C.a);\n"
        "}\n"
        "extern \"C\" __global__ void plain(int* p) { *p = 1; }\n";
    request.name_expressions = {"scale<Config{.a = 3, .b = 4}>"};
    request.plain_names = {"plain"};
    request.arch = "sm_90a";
    return request;
  }
  const std::unique_ptr<Compiler> compiler_ = make_nvrtc_compiler();
};

TEST_F(NvrtcCompilerTest, GivesMachineCodeNamesAndResources) {
  const CompileResult result = compiler_->compile(request());
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_GT(result.cubin.size(), 100U);
  ASSERT_EQ(result.lowered_names.size(), 2U);
  EXPECT_THAT(result.lowered_names[0], HasSubstr("scale"));
  EXPECT_EQ(result.lowered_names[0].substr(0, 2), "_Z");
  EXPECT_EQ(result.lowered_names[1], "plain");
  EXPECT_GT(result.resources.registers, 0);
  EXPECT_EQ(result.resources.smem_static_bytes, 512);
  EXPECT_EQ(result.resources.spill_store_bytes, 0);
  EXPECT_GT(result.seconds, 0.0);
  EXPECT_FALSE(result.from_store);
}

TEST_F(NvrtcCompilerTest, FailureIsAValueWithALog) {
  CompileRequest broken = request();
  broken.source = "__global__ void k() { undeclared = 1; }";
  broken.source_name = "broken.cu";
  broken.name_expressions = {"k"};
  const CompileResult result = compiler_->compile(broken);
  EXPECT_FALSE(result.ok);
  EXPECT_THAT(result.log, HasSubstr("broken.cu(1)"));
  EXPECT_THAT(result.log, HasSubstr("undeclared"));
  EXPECT_TRUE(result.cubin.empty());
}

// Each level takes some kilobytes of stack, and where that ends the process does.
TEST_F(NvrtcCompilerTest, ASourceThatIsNestedTooDeepIsRefusedWithItsPlace) {
  CompileRequest nested = request();
  nested.source = "\n__global__ void k(int* p, int x) { *p = " + std::string(20'000, '(') + "x" +
                  std::string(20'000, ')') + "; }";
  nested.source_name = "nested.cu";
  nested.name_expressions = {"k"};
  CompileResult result = compiler_->compile(nested);
  EXPECT_FALSE(result.ok);
  EXPECT_THAT(result.log, HasSubstr("nested.cu(2): error: brackets"));
  nested.source = "__global__ void k(int* p, int x) { *p = x; }";
  nested.name_expressions = {std::string(20'000, '(') + "k" + std::string(20'000, ')')};
  nested.plain_names.clear();
  result = compiler_->compile(nested);
  EXPECT_FALSE(result.ok);
  EXPECT_THAT(result.log, HasSubstr("the kernel's name(1): error: brackets"));
}

TEST_F(NvrtcCompilerTest, AnApplicationsThreadNeedsLittleStackForWhatIsNested) {
  CompileRequest nested = request();
  nested.source =
      "__device__ int f(int x) { return x + 1; }\nextern \"C\" __global__ void plain(int* p) { *p "
      "= ";
  for (int i = 0; i < 900; ++i) nested.source += "f(";
  nested.source += "*p" + std::string(900, ')') + "; }";
  nested.name_expressions.clear();
  struct Work {
    Compiler& compiler;
    const CompileRequest& request;
    CompileResult result;
  } work{*compiler_, nested, {}};
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 << 10);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, &small,
                [](void* argument) -> void* {
                  auto& mine = *static_cast<Work*>(argument);
                  mine.result = mine.compiler.compile(mine.request);
                  return nullptr;
                },
                &work),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&small);
  EXPECT_TRUE(work.result.ok) << work.result.log;
}

TEST_F(NvrtcCompilerTest, UnknownArchitectureAndNameAreValuesToo) {
  CompileRequest bad = request();
  bad.arch = "sm_1";
  EXPECT_FALSE(compiler_->compile(bad).ok);
  bad = request();
  bad.name_expressions = {"absent<1>"};
  const CompileResult result = compiler_->compile(bad);
  EXPECT_FALSE(result.ok);
  EXPECT_FALSE(result.log.empty());
}

TEST_F(NvrtcCompilerTest, SpillsAreReported) {
  CompileRequest spilling = request();
  spilling.source =
      "__global__ void __launch_bounds__(1024, 2) k(float* p) { float v[96];\n"
      "for (int i = 0; i < 96; ++i) v[i] = p[i * 7 + threadIdx.x];\n"
      "for (int r = 0; r < 9; ++r) { __syncthreads();\n"
      "_Pragma(\"unroll\") for (int i = 0; i < 96; ++i) v[i] = v[i] * v[(i * 5 + 1) % 96] + p[r]; "
      "}\n"
      "for (int i = 0; i < 96; ++i) p[i * 1024 + threadIdx.x] = v[i]; }";
  spilling.name_expressions = {"k"};
  spilling.plain_names.clear();
  const CompileResult result = compiler_->compile(spilling);
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_GT(result.resources.spill_store_bytes + result.resources.stack_bytes, 0) << result.log;
}

TEST_F(NvrtcCompilerTest, ThreadsCompileSideBySide) {
  const CompileResult alone = compiler_->compile(request());
  CompileResult first, second;
  std::thread thread([&] { first = compiler_->compile(request()); });
  second = compiler_->compile(request());
  thread.join();
  EXPECT_EQ(first.cubin, alone.cubin);
  EXPECT_EQ(second.cubin, alone.cubin);
}

TEST_F(NvrtcCompilerTest, KnowsItsVersionAndArchitectures) {
  EXPECT_THAT(compiler_->identity(), ::testing::MatchesRegex("nvrtc 1[2-9]\\.[0-9]+"));
  EXPECT_THAT(compiler_->supported_archs(), Contains("sm_90a"));
  EXPECT_THAT(compiler_->supported_archs(), Contains("sm_80"));
}

TEST_F(NvrtcCompilerTest, OptionsTextHasNoPaths) {
  CompileRequest lined = request();
  EXPECT_EQ(compiler_->options_text(lined), "--gpu-architecture=sm_90a --std=c++20");
  lined.line_info = true;
  EXPECT_EQ(compiler_->options_text(lined),
            "--gpu-architecture=sm_90a --std=c++20 --generate-line-info");
  EXPECT_TRUE(compiler_->compile(lined).ok);
}

TEST_F(NvrtcCompilerTest, GivesPtxInPlaceOfMachineCode) {
  CompileRequest request;
  request.source = "extern \"C\" __global__ void k(float* x) { *x = 1.0F; }";
  request.plain_names = {"k"};
  request.arch = "sm_90a";
  const std::string cubin_options = compiler_->options_text(request);
  request.code = CodeKind::ptx;
  EXPECT_NE(compiler_->options_text(request), cubin_options) << "one key would mix the two up";
  const CompileResult result = compiler_->compile(request);
  ASSERT_TRUE(result.ok) << result.log;
  const std::string text(reinterpret_cast<const char*>(result.cubin.data()), result.cubin.size());
  EXPECT_NE(text.find(".visible .entry k("), std::string::npos);
  EXPECT_NE(text.find(".loc"), std::string::npos) << "findings name source lines";
  EXPECT_EQ(text.find('\0'), std::string::npos);
}

TEST_F(NvrtcCompilerTest, GivesACandidatesOptionsToTheCompiler) {
  CompileRequest divides;
  divides.source = "extern \"C\" __global__ void k(float* x) { *x = 1.0F / *x; }";
  divides.plain_names = {"k"};
  divides.arch = "sm_90a";
  divides.code = CodeKind::ptx;
  const auto ptx_with = [&](std::vector<std::string> options) {
    divides.options = std::move(options);
    const CompileResult result = compiler_->compile(divides);
    EXPECT_TRUE(result.ok) << result.log;
    return std::string(reinterpret_cast<const char*>(result.cubin.data()), result.cubin.size());
  };
  EXPECT_THAT(ptx_with({}), HasSubstr("rcp.rn.f32"));
  EXPECT_THAT(ptx_with({"--ftz=true"}), HasSubstr("rcp.rn.ftz.f32"));
  EXPECT_THAT(ptx_with({"--use_fast_math", "--prec-div=true"}), HasSubstr("rcp.rn.ftz.f32"))
      << "what says more counts, whatever it is implied by";
  EXPECT_EQ(compiler_->options_text(divides),
            "--gpu-architecture=sm_90a --std=c++20 --generate-line-info --use_fast_math "
            "--prec-div=true ptx noted by kernel");
}

// Each option that a compile line may give, with a value that it may have.
TEST_F(NvrtcCompilerTest, UnderstandsEveryOptionOfACompileLine) {
  for (const CompileOptionRule& rule : compile_option_rules()) {
    if (rule.name == kRouteOption) continue;
    CompileRequest one = request();
    std::string option(rule.name);
    if (rule.value == OptionValue::truth) option += "=true";
    if (rule.value == OptionValue::number) option += "=" + std::to_string(rule.most);
    if (rule.value == OptionValue::word) option += "=" + std::string(rule.words.substr(0, 2));
    one.options = {option};
    const CompileResult result = compiler_->compile(one);
    EXPECT_TRUE(result.ok) << option << "\n" << result.log;
    EXPECT_THAT(result.log, Not(HasSubstr("warning"))) << option;
  }
}

TEST_F(NvrtcCompilerTest, GivesADriverPtxWithTheLimitOfRegisters) {
  CompileRequest request;
  request.source =
      "extern \"C\" __global__ void k(float* x) { *x = 1.0F; }\n"
      "extern \"C\" __global__ void __launch_bounds__(256) bounded(float* x) { *x = 1.0F; }";
  request.plain_names = {"k", "bounded"};
  request.arch = "sm_90a";
  request.options = {"--maxrregcount=40"};
  const std::string cubin_options = compiler_->options_text(request);
  request.code = CodeKind::driver_ptx;
  EXPECT_NE(compiler_->options_text(request), cubin_options);
  const CompileResult result = compiler_->compile(request);
  ASSERT_TRUE(result.ok) << result.log;
  const std::string text(reinterpret_cast<const char*>(result.cubin.data()), result.cubin.size());
  EXPECT_EQ(text.find('\0'), text.size() - 1) << "the driver needs it";
  EXPECT_THAT(text, Not(HasSubstr(".loc")));
  const std::size_t limit = text.find(".maxnreg 40");
  ASSERT_NE(limit, std::string::npos) << text;
  EXPECT_EQ(text.find(".maxnreg", limit + 1), std::string::npos) << "one kernel has bounds";
  EXPECT_GT(result.resources.registers, 0) << "of the machine code that NVRTC made";
}

TEST(PtxLimit, StandsBetweenParametersAndBody) {
  EXPECT_EQ(with_register_limit(".visible .entry k(\n.param .u64 p\n)\n{\nret;\n}\n", 64),
            ".visible .entry k(\n.param .u64 p\n)\n.maxnreg 64\n{\nret;\n}\n");
  EXPECT_EQ(with_register_limit(".entry k()\n{ret;}\n.entry l\n{ret;}", 32),
            ".entry k()\n.maxnreg 32\n{ret;}\n.entry l\n.maxnreg 32\n{ret;}");
  for (const std::string text :
       {".entry k()\n.maxntid 128, 1, 1\n{ret;}", ".entry k()\n.reqntid 32\n{ret;}",
        ".extern .entry k();\n.func f() {ret;}"}) {
    EXPECT_EQ(with_register_limit(text, 64), text);
  }
}

TEST(CudaPathsTest, MissingHeadersSayWhatToInstall) {
  try {
    static_cast<void>(cuda_include_folders("/nonexistent/include", ""));
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::compiler);
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/include"));
    EXPECT_THAT(error.what(), HasSubstr("nvidia-cuda-runtime"));
  }
}

TEST_F(NvrtcCompilerTest, PrecompiledHeadersChangeNothingButTheTime) {
  const testing::TemporaryFolder folder;
  ::setenv("XDG_CACHE_HOME", folder.file("cache").c_str(), 1);
  ::setenv("TMPDIR", "/nonexistent", 1);
  CompileRequest wanted = request();
  wanted.source.insert(wanted.source.find("struct"), "#pragma nv_hdrstop\n");
  const CompileResult plain = compiler_->compile(wanted);
  std::string warning;
  auto precompiling = make_nvrtc_compiler("", SystemHeaders::precompile,
                                          [&](const std::string& text) { warning = text; });
  const auto headers = [&] {
    int count = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder.file("cache/kiln/tmp"))) {
      count += entry.path().extension() == ".pch" ? 1 : 0;
    }
    return count;
  };
  const CompileResult first = precompiling->compile(wanted);
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("TMPDIR");
  EXPECT_EQ(headers(), 1);
  const CompileResult second = precompiling->compile(wanted);
  ASSERT_TRUE(plain.ok && first.ok && second.ok) << first.log << second.log;
  EXPECT_EQ(first.cubin, plain.cubin);
  EXPECT_EQ(second.cubin, plain.cubin);
  for (const std::string& log : {first.log, second.log}) {
    EXPECT_THAT(log, HasSubstr("Used"));
    EXPECT_THAT(log, Not(HasSubstr("precompiled")));
  }
  EXPECT_EQ(precompiling->options_text(wanted), compiler_->options_text(wanted));
  EXPECT_EQ(warning, "");
  precompiling.reset();
  EXPECT_EQ(headers(), 0);
}

TEST_F(NvrtcCompilerTest, AFolderThatVanishedIsOneWarningAndNoFaultOfTheKernel) {
  const testing::TemporaryFolder folder;
  ::setenv("XDG_CACHE_HOME", folder.file("cache").c_str(), 1);
  std::vector<std::string> warnings;
  const auto precompiling = make_nvrtc_compiler(
      "", SystemHeaders::precompile, [&](const std::string& text) { warnings.push_back(text); });
  ::unsetenv("XDG_CACHE_HOME");
  std::filesystem::remove_all(folder.file("cache"));
  CompileRequest broken = request();
  broken.source = "__global__ void k() { undeclared = 1; }";
  EXPECT_FALSE(precompiling->compile(broken).ok);
  EXPECT_TRUE(precompiling->compile(request()).ok);
  EXPECT_TRUE(precompiling->compile(request()).ok);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("no longer precompiled"));
}

TEST_F(NvrtcCompilerTest, OneThatCannotBeKeptFromSignalsIsOneWarningAndCompiles) {
  NvrtcApi api = NvrtcApi::load();
  EXPECT_EQ(api.unshielded, "");
  api.unshielded = "planted reason";
  std::vector<std::string> warnings;
  NvrtcCompiler compiler(api, cuda_include_folders("", api.folder), nullptr,
                         [&](const std::string& text) { warnings.push_back(text); });
  EXPECT_TRUE(compiler.compile(request()).ok);
  EXPECT_TRUE(compiler.compile(request()).ok);
  EXPECT_THAT(warnings, ::testing::ElementsAre(
                            ::testing::AllOf(HasSubstr("planted reason"), HasSubstr("Next: "))));
}

/// How NVRTC would behave that sets handlers by a function that Kiln does not know.
template <bool kRestores>
int compile_with_a_handler(NvrtcApi::Program program, int count, const char* const* options) {
  static NvrtcApi api = NvrtcApi::load();
  struct sigaction before {};
  sigaction(SIGTERM, nullptr, &before);
  std::signal(SIGTERM, [](int) {});
  const int status = api.compile_program(program, count, options);
  if (kRestores) sigaction(SIGTERM, &before, nullptr);
  return status;
}

TEST_F(NvrtcCompilerTest, AChangedActionOfASignalIsOneWarningAfterTheFirstCompilation) {
  struct sigaction before {};
  sigaction(SIGTERM, nullptr, &before);
  const auto warnings_of = [&](auto compile_program, bool is_shielded) {
    NvrtcApi api = NvrtcApi::load();
    EXPECT_TRUE(api.is_shielded) << "NVRTC no longer imports signal()";
    api.compile_program = compile_program;
    api.is_shielded = is_shielded;
    std::vector<std::string> warnings;
    NvrtcCompiler compiler(api, cuda_include_folders("", api.folder), nullptr,
                           [&](const std::string& text) { warnings.push_back(text); });
    EXPECT_TRUE(compiler.compile(request()).ok);
    EXPECT_TRUE(compiler.compile(request()).ok);
    sigaction(SIGTERM, &before, nullptr);
    return warnings;
  };
  const auto warning = ::testing::ElementsAre(
      ::testing::AllOf(HasSubstr("the signal action of SIGTERM"), HasSubstr("Next: ")));
  EXPECT_THAT(warnings_of(compile_with_a_handler<false>, true), warning);
  EXPECT_THAT(warnings_of(compile_with_a_handler<true>, false), warning) << "seen meanwhile";
  EXPECT_THAT(warnings_of(NvrtcApi::load().compile_program, false), ::testing::IsEmpty());
}

TEST_F(NvrtcCompilerTest, WithoutRoomHeadersAreNotPrecompiledAndOneWarningSaysSo) {
  const testing::TemporaryFolder folders;
  const std::string parent = folders.file("tmp");
  std::string why;
  auto folder = PrivateFolder::make(parent, why);
  ASSERT_NE(folder, nullptr) << why;
  const std::string path = folder->path();
  const NvrtcApi api = NvrtcApi::load();
  std::vector<std::string> warnings;
  NvrtcCompiler compiler(
      api, cuda_include_folders("", api.folder), std::move(folder),
      [&](const std::string& text) { warnings.push_back(text); }, std::uintmax_t{1} << 60);
  EXPECT_TRUE(compiler.compile(request()).ok);
  EXPECT_TRUE(compiler.compile(request()).ok);
  EXPECT_THAT(warnings, ::testing::ElementsAre(
                            ::testing::AllOf(HasSubstr(parent + " has "), HasSubstr("Next: "))));
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    EXPECT_NE(entry.path().extension(), ".pch");
  }
}

TEST_F(NvrtcCompilerTest, ProcessesThatCompileSideBySideShareTheRoomForTheirHeaders) {
  const testing::TemporaryFolder folders;
  const std::string parent = folders.file("tmp");
  const NvrtcApi api = NvrtcApi::load();
  const auto warnings_of_one = [&] {
    std::string why;
    auto folder = PrivateFolder::make(parent, why);
    EXPECT_NE(folder, nullptr) << why;
    std::vector<std::string> warnings;
    NvrtcCompiler compiler(
        api, cuda_include_folders("", api.folder), std::move(folder),
        [&](const std::string& text) { warnings.push_back(text); },
        std::filesystem::space(folders.file("")).available / 2);
    EXPECT_TRUE(compiler.compile(request()).ok);
    return warnings;
  };
  EXPECT_THAT(warnings_of_one(), ::testing::IsEmpty());
  std::string why;
  std::vector<std::unique_ptr<PrivateFolder>> others;
  for (int i = 0; i < 3; ++i) others.push_back(PrivateFolder::make(parent, why));
  EXPECT_THAT(warnings_of_one(),
              ::testing::ElementsAre(HasSubstr("but 4 processes compile there")));
}

TEST(NvrtcApi, GoesOnToALibraryThatWillDo) {
  // The C library's libm opens, and has none of the functions.
  std::vector<std::string> files = cuda_library_files("cuda_nvrtc", {"libnvrtc.so.13"});
  files.insert(files.begin(), "libm.so.6");
  const NvrtcApi api = NvrtcApi::load(files);
  EXPECT_GE(api.major, 12);
  try {
    (void)NvrtcApi::load({"libm.so.6", "libnot-there.so.1"});
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::compiler);
    EXPECT_THAT(error.what(), HasSubstr("libm.so.6: lacks a function"));
    EXPECT_THAT(error.what(), HasSubstr("libnot-there.so.1"));
  }
}

}  // namespace
}  // namespace kiln
