// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// What an application gets without any database: compiled, it must be what a tuner would let pass.
// Needs NVRTC, but no GPU. With KILN_FULL_CATALOG=1 every line of examples/everyday_suite.txt, each
// for two GPUs, and the default configurations; else a few lines that once spilled.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/choice/competitive.hpp"
#include "runtime/choice/kernel_chooser.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/library/warning_sink.hpp"
#include "runtime/model/device_profile.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/renderer.hpp"

namespace kiln {
namespace {

struct Line {
  std::string name;
  Problem problem;
};

/// Large products in every layout, long k, few rows, and types that wgmma reads only along k.
const std::set<std::string> kOnceSpilled{
    "sq_8192", "mistral_up_wgrad_2048", "qwen7b_up_dgrad_512", "mistral_vocab_fwd_197",
    "f64_500", "gemma9b_sq_fwd_8192"};

bool is_full() {
  return std::getenv("KILN_FULL_CATALOG") != nullptr;
}

std::vector<Line> everyday_lines() {
  std::ifstream file(std::string(KILN_SOURCE_DIR) + "/examples/everyday_suite.txt");
  std::vector<Line> lines;
  std::string text;
  while (std::getline(file, text)) {
    std::istringstream words(text);
    std::string name, type, layout;
    std::int64_t m = 0, n = 0, k = 0;
    if (text.starts_with('#') || !(words >> name >> type >> m >> n >> k >> layout)) continue;
    if (!is_full() && !kOnceSpilled.contains(name)) continue;
    const auto storage = parse_layout(layout).value();
    lines.push_back({name, to_problem(normalised(Gemm::of(parse_dtype(type).value(), m, n, k,
                                                          storage.first, storage.second)))});
  }
  return lines;
}

/// A request for the compiler, and who asks.
struct Asked {
  CompileRequest request;
  const KernelTemplate* kernel_template;
  std::string by;
};
using Requests = std::map<std::string, Asked>;

void add(Requests& requests, const Line& line, const detail::Choice& choice,
         const DeviceLimits& limits) {
  const RenderedKernel rendered =
      render(Catalog::builtin(), *choice.kernel_template, choice.config, line.problem, limits);
  CompileRequest request;
  request.source = rendered.text;
  request.name_expressions = rendered.name_expressions;
  request.arch = limits.arch;
  requests.try_emplace(
      rendered.digest,
      Asked{request, choice.kernel_template,
            fmt::format("{}: {} [{}], {}", line.name, choice.kernel_template->name(),
                        choice.config.canonical(), choice.reason)});
}

Requests untuned_choices() {
  Requests requests;
  detail::WarningSink warnings([](std::string_view text) { ADD_FAILURE() << text; }, "");
  for (const char* const name : {"h100", "h200"}) {
    const DeviceProfile profile = built_in_profile(name).value();
    DeviceInfo device;
    device.limits = profile.limits;
    device.device_class = profile.device_class;
    detail::KernelChooser chooser(Catalog::builtin(), device, "", {}, warnings);
    for (const Line& line : everyday_lines()) {
      add(requests, line, chooser.predicted(line.problem, {}, "").value(), device.limits);
      add(requests, line, chooser.fallback(line.problem, {}, "").value(), device.limits);
    }
  }
  return requests;
}

TEST(UntunedChoices, CompileToWhatATunerLetsPass) {
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = make_nvrtc_compiler();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const Requests requests = untuned_choices();
  ASSERT_GE(requests.size(), kOnceSpilled.size());
  std::vector<const Asked*> work;
  for (const auto& [digest, request] : requests) work.push_back(&request);
  std::vector<std::string> faults(work.size());
  std::atomic<std::size_t> next{0};
  const auto compile = [&] {
    for (std::size_t i = next++; i < work.size(); i = next++) {
      const CompileResult result = compiler->compile(work[i]->request);
      faults[i] = result.ok ? why_not_competitive(*work[i]->kernel_template, result) : result.log;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(compile);
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < work.size(); ++i) {
    EXPECT_EQ(faults[i], "") << work[i]->by;
  }
}

}  // namespace
}  // namespace kiln
