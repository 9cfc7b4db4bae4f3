// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What can be generated: templates, render, export of a chosen configuration.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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
  EXPECT_NE(run.out.find("unsupported: "), std::string::npos) << run.out;
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

TEST(Templates, AMalformedFileOfAUserNamesThePlace) {
  Sandbox sandbox;
  std::filesystem::create_directory(sandbox.folder() / "mine");
  std::string text = kUserTemplate;
  text.replace(text.find("device.max_threads"), 6, "devise");
  sandbox.write("mine/bad.cu", text);
  sandbox.set("KILN_TEMPLATE_PATH", "mine");
  const auto run = sandbox.run({"templates"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("bad.cu:6:25:"), std::string::npos) << run.err;
}

TEST(Render, IsOneTextThatDependsOnTheConfigurationAlone) {
  const Sandbox sandbox;
  const auto render = [&](const char* size) {
    return sandbox.run({"render", "gemm_naive", "--set", "block_x=16", "--m", size, "--n", size,
                        "--k", size, "--arch", "sm_90a"});
  };
  const auto small = render("64");
  ASSERT_EQ(small.exit_code, 0) << small.err;
  EXPECT_NE(small.out.find(".block_x = 16"), std::string::npos);
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
  EXPECT_NE(run.out.find("&gemm_naive<GemmNaiveConfig{.block_x = 32, .block_y = 2,"),
            std::string::npos);
  EXPECT_NE(run.out.find("nvcc"), std::string::npos);
  EXPECT_NE(run.err.find("exported gemm_naive block_x=32 block_y=2"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace kiln::cli
