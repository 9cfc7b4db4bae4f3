// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What can be generated: templates, render, export of a chosen configuration.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/cli/golden.hpp"
#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kUserTemplate = R"(//@ template   twice_naive
//@ purpose    A template of a user.
//@ operation  gemm
//@ arch       sm >= 75
//@ types      a=f32 b=f32 c=f32 d=f32 acc=f32
//@ require    block <= device.max_threads   // the device's limit
//@ launch     twice_naive
//@   grid     ceil_div(m * n, block)
//@   block    block
struct TwiceConfig {  //@ config
  int block;  //@ tune 64* 128   // threads
};
template <TwiceConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void twice_naive(int) {}
)";

constexpr const char* kUserOperation = R"(//@ operation  add_one
//@ purpose    Every number and one more
//@ size       n 1..1000
//@ type       x f32 f64
//@ operand    x inout: n
//@ right      x exact
//@ ragged     n=1
//@ flops      n
//@ reference  add_one_reference<x>
//@   grid     1
//@   block    32
template <class X>
__global__ void add_one_reference(X* x, int n) {
  for (int i = threadIdx.x; i < n; i += 32) x[i] += 1;
}
)";

constexpr const char* kUserKernel = R"(//@ template   add_plainly
//@ purpose    A kernel as it is.
//@ operation  add_one
//@ tune       threads = 64* 128
//@ launch     add_plainly<x>
//@   grid     ceil_div(n, threads)
//@   block    threads
//@   args     x, (long long) n
template <class X>
__global__ void add_plainly(X* x, long long n) {
  const long long i = blockIdx.x * static_cast<long long>(threads) + threadIdx.x;
  if (i < n) x[i] += 1;
}
)";

TEST(Templates, OfAnOperationOfTheUser) {
  const Sandbox sandbox;
  std::filesystem::create_directory(sandbox.folder() / "own");
  sandbox.write("own/add_one.cu", kUserOperation);
  sandbox.write("own/add_plainly.cu", kUserKernel);
  const auto list = sandbox.run({"templates", "--template-path", "own"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.out.find("add_plainly"), std::string::npos) << list.out;
  const auto one = sandbox.run({"templates", "add_plainly", "--template-path", "own"});
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_NE(one.out.find("types      x=f32|f64\n  launch     add_plainly<x>(x, (long long) n), "
                         "grid ceil_div(n, threads), block threads\n"),
            std::string::npos)
      << one.out;
  const auto text = sandbox.run({"render", "add_plainly", "--template-path", "own", "--arch",
                                 "sm_90a", "--set", "threads=128"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("// kernel   add_plainly<float>\n"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("#define threads 128\n"), std::string::npos) << text.out;
  // The flags are those of the template's operation.
  const auto typed = sandbox.run({"render", "add_plainly", "--template-path", "own", "--arch",
                                  "sm_90a", "--n", "100", "--x", "f64"});
  EXPECT_NE(typed.out.find("// kernel   add_plainly<double>\n"), std::string::npos) << typed.err;
  const auto refused = sandbox.run(
      {"render", "add_plainly", "--template-path", "own", "--arch", "sm_90a", "--m", "64"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--m: not expected here"), std::string::npos) << refused.err;
}

TEST(Templates, ListNamesAllBuiltIns) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"templates", "--names"});
  EXPECT_EQ(run.exit_code, 0);
  for (const char* name : {"gemm_naive\n", "gemm_tiled\n", "gemm_wmma\n"}) {
    EXPECT_NE(run.out.find(name), std::string::npos) << run.out;
  }
}

TEST(Templates, OneInFull) {
  const Sandbox sandbox;
  expect_golden("templates_naive", sandbox, sandbox.run({"templates", "gemm_naive"}));
}

TEST(Templates, ForAProblem) {
  const Sandbox sandbox;
  expect_golden("templates_naive_problem", sandbox,
                sandbox.run({"templates", "gemm_naive", "--m", "64", "--n", "64", "--k", "64",
                             "--dtype", "bf16", "--arch", "sm_90a"}));
}

TEST(Templates, SaysWhyAProblemIsNotSupported) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"templates", "gemm_wmma", "--dtype", "e4m3", "--arch", "sm_90a"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.out.find("this template does not support "), std::string::npos) << run.out;
}

TEST(Templates, JsonHasASchema) {
  const Sandbox sandbox;
  const auto run =
      sandbox.run({"templates", "gemm_tiled", "--m", "64", "--arch", "sm_80", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["kiln"], "template");
  EXPECT_EQ(json["limits_of"], "sm_80");
  EXPECT_GT(json["valid_size"].get<int>(), 0);
  EXPECT_GT(json["default_config"]["tile_m"], 0);
  EXPECT_LE(json["valid_size"].get<int>(), json["raw_size"].get<int>());
}

TEST(Templates, AUsersDirectoryJoinsIn) {
  const Sandbox sandbox;
  std::filesystem::create_directory(sandbox.folder() / "mine");
  sandbox.write("mine/twice.cu", kUserTemplate);
  expect_golden("templates_user", sandbox,
                sandbox.run({"templates", "twice_naive", "--template-path", "mine"}));
}

// In text what they say, in JSON with the defaults, too.
TEST(Templates, UsualConfigurations) {
  const Sandbox sandbox;
  std::filesystem::create_directory(sandbox.folder() / "mine");
  std::string text = kUserTemplate;
  text.replace(text.find("  int block;"), 0, "  int unused;  //@ tune 1* 2\n");
  text.replace(text.find("//@ launch"), 0, "//@ usual block=128 unused=1\n//@ usual block=64\n");
  sandbox.write("mine/twice.cu", text);
  const auto one = sandbox.run({"templates", "twice_naive", "--template-path", "mine"});
  EXPECT_NE(
      one.out.find("\n\nusual configurations (each line shows only the values that differ from the "
                   "defaults)\n  "
                   "block=128\n  all defaults\n\n"),
      std::string::npos)
      << one.out << one.err;
  const auto document =
      sandbox.run({"templates", "twice_naive", "--template-path", "mine", "--json"});
  ASSERT_EQ(document.exit_code, 0) << document.err;
  const auto expected =
      nlohmann::json::array({{{"block", 128}, {"unused", 1}}, {{"block", 64}, {"unused", 1}}});
  EXPECT_EQ(nlohmann::json::parse(document.out)["usual"], expected);
}

TEST(Templates, AMalformedFileOfAUserNamesThePlace) {
  Sandbox sandbox;
  std::filesystem::create_directory(sandbox.folder() / "mine");
  std::string text = kUserTemplate;
  text.replace(text.find("device.max_threads"), 6, "devise");
  sandbox.write("mine/bad.cu", text);
  sandbox.set("KILN_TEMPLATE_PATH", "mine");
  const auto run = sandbox.run({"templates", "twice_naive"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("bad.cu:6:25:"), std::string::npos) << run.err;
  const auto others = sandbox.run({"templates"});
  EXPECT_EQ(others.exit_code, 0) << "it hides no other";
  EXPECT_NE(others.err.find("bad.cu:6:25:"), std::string::npos) << others.err;
}

TEST(Render, IsOneTextThatDependsOnTheConfigurationAlone) {
  const Sandbox sandbox;
  const auto render = [&](const char* size) {
    return sandbox.run({"render", "gemm_naive", "--set", "block_x=16", "--m", size, "--n", size,
                        "--k", size, "--arch", "sm_90a"});
  };
  const auto small = render("64");
  ASSERT_EQ(small.exit_code, 0) << small.err;
  EXPECT_NE(small.out.find("}, 16, 8, 128}"), std::string::npos) << "block_x, block_y, threads";
  EXPECT_EQ(small.out, render("512").out);
  EXPECT_EQ(small.out.find(sandbox.folder().string()), std::string::npos);
  EXPECT_EQ(small.err, "");
}

TEST(Render, WritesAFileCompleteOrNotAtAll) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"render", "gemm_naive", "--arch", "sm_90a", "-o", "naive.cu"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(sandbox.read("naive.cu"),
            sandbox.run({"render", "gemm_naive", "--arch", "sm_90a"}).out);
  const auto nowhere =
      sandbox.run({"render", "gemm_naive", "--arch", "sm_90a", "-o", "absent/naive.cu"});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_NE(nowhere.err.find("absent/naive.cu cannot be written"), std::string::npos);
}

// Replacing is for plain files: who may replace /dev/null must not do so.
TEST(Render, WritesIntoWhatIsNoPlainFile) {
  const Sandbox sandbox;
  const std::vector<std::string> render{"render", "gemm_naive", "--arch", "sm_90a"};
  const auto text = sandbox.run(render).out;
  const auto write_to = [&](const char* name) {
    auto arguments = render;
    arguments.insert(arguments.end(), {"-o", name});
    const auto run = sandbox.run(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
  };
  std::filesystem::create_symlink("target.cu", sandbox.folder() / "link.cu");
  write_to("link.cu");
  EXPECT_TRUE(std::filesystem::is_symlink(sandbox.folder() / "link.cu"));
  EXPECT_EQ(sandbox.read("target.cu"), text);

  const auto pipe = sandbox.folder() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  // More than the text, for which there is room, or the program would wait for the reader.
  ASSERT_GT(fcntl(reader, F_SETPIPE_SZ, 1 << 20), static_cast<int>(text.size()));
  write_to("pipe");
  std::string piped(text.size() + 1, ' ');
  const ssize_t length = read(reader, piped.data(), piped.size());
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  ASSERT_GE(length, 0);
  EXPECT_EQ(piped.substr(0, static_cast<std::size_t>(length)), text);
}

TEST(Export, AChosenConfigurationHasAnInstantiation) {
  const Sandbox sandbox;
  const auto run =
      sandbox.run({"export", "gemm", "--m", "64", "--n", "64", "--k", "64", "--template",
                   "gemm_naive", "--set", "block_y=2", "--arch", "sm_90a"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(
      run.out.find("&gemm_naive<GemmNaiveConfig{{.k_major_a = 1, .k_major_b = 0}, 32, 2, 64}"),
      std::string::npos);
  EXPECT_NE(run.out.find("nvcc"), std::string::npos);
  EXPECT_NE(run.err.find("exported gemm_naive block_x=32 block_y=2"), std::string::npos) << run.err;
}

TEST(Export, CubinHasTheKernelsThatTheLaunchesName) {
  const Sandbox sandbox;
  // A store of its own: other tests may have compiled this kernel.
  const Words command{
      "export", "gemm",          "--m",       "100",        "--n",        "64",    "--k",
      "64",     "--arch",        "sm_90a",    "--template", "gemm_naive", "--set", "block_y=2",
      "--json", "--cubin-store", "cubins.db", "--cubin",    "best.cubin", "-o",    "best.json"};
  for (const bool from_store : {false, true}) {
    const auto run = sandbox.run(command);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.err.find("best.cubin has the machine code of nvrtc"), std::string::npos)
        << run.err;
    const std::string cubin = sandbox.read("best.cubin");
    EXPECT_TRUE(
        cubin.starts_with("\x7f"
                          "ELF"));
    const auto json = nlohmann::json::parse(sandbox.read("best.json"));
    EXPECT_EQ(json["cubin"]["bytes"], cubin.size());
    EXPECT_EQ(json["cubin"]["from_store"], from_store);
    ASSERT_EQ(json["launches"].size(), 1U);
    const auto& launch = json["launches"][0];
    EXPECT_NE(cubin.find(launch["symbol"].get<std::string>()), std::string::npos);
    EXPECT_EQ(launch["block"], nlohmann::json({32, 2, 1}));
    EXPECT_EQ(launch["grid"][0].get<int>() * launch["grid"][1].get<int>(), 2 * 50);
    EXPECT_EQ(json["workspace_bytes"], 0);
  }
}

TEST(Export, CubinNeedsAKernelAndAFile) {
  const Sandbox sandbox;
  const auto rows = sandbox.run({"export", "--database", "--cubin", "best.cubin"});
  EXPECT_EQ(rows.exit_code, 2);
  EXPECT_NE(rows.err.find("--cubin"), std::string::npos) << rows.err;
  const auto to_stdout = sandbox.run({"export", "gemm", "--m", "64", "--n", "64", "--k", "64",
                                      "--template", "gemm_naive", "--cubin", "-"});
  EXPECT_EQ(to_stdout.exit_code, 2);
  EXPECT_NE(to_stdout.err.find("--cubin -"), std::string::npos) << to_stdout.err;
}

}  // namespace
}  // namespace kiln::cli
