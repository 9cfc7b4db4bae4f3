// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whether a change to the kernels' text changes the code that is made of them: compiles sampled
/// configurations of every template from two folders, in turns, and compares the machine code.
/// Covers all type rows, layouts and alignments, with and without C. What is identical is as right
/// and as fast as before; for the rest registers and spills are shown. Ends with the processor time
/// that either folder's compiles took.
///
///     same_code OLD NEW [--count N] [--seed N] [--arch ARCH]... [--template NAME]...

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "templates/catalog.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/renderer.hpp"
#include "tests/support/gemm_arguments.hpp"
#include "tests/support/row_gemm.hpp"

namespace kiln {
namespace {

struct Options {
  std::array<std::string, 2> folders;
  int count = 300;
  unsigned seed = 1;
  std::vector<std::string> archs;
  std::vector<std::string> templates;
};

struct Sample {
  std::string label;
  std::array<CompileRequest, 2> requests;
};

/// Sections of a cubin that decide what runs: code, constants, shared memory. They have their kind
/// for a name, without the kernel's, in which the fields of its configuration are.
std::multimap<std::string, std::string> code_of(const std::vector<std::byte>& cubin) {
  const auto* const bytes = reinterpret_cast<const char*>(cubin.data());
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    if (at + size > cubin.size()) throw Error(ErrorKind::internal, "a cubin ends too early");
    std::memcpy(&value, bytes + at, size);
    return static_cast<std::size_t>(value);
  };
  const std::size_t table = number(0x28, 8);
  const std::size_t entry = number(0x3a, 2);
  const std::size_t entries = number(0x3c, 2);
  const std::size_t names = number(table + number(0x3e, 2) * entry + 0x18, 8);
  static constexpr std::array<std::string_view, 5> kKinds{".text", ".nv.constant0", ".nv.constant2",
                                                          ".nv.constant3", ".nv.shared"};
  std::multimap<std::string, std::string> sections;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t header = table + i * entry;
    const std::string name = bytes + names + number(header, 4);
    const bool no_bits = number(header + 4, 4) == 8;
    const auto* const kind =
        std::find_if(kKinds.begin(), kKinds.end(), [&](auto one) { return name.starts_with(one); });
    if (kind == kKinds.end()) continue;
    const std::size_t size = number(header + 0x20, 8);
    sections.emplace(*kind, no_bits ? fmt::format("{} bytes", size)
                                    : std::string(bytes + number(header + 0x18, 8), size));
  }
  return sections;
}

double thread_seconds() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto of = [](const timeval& time) { return time.tv_sec + time.tv_usec * 1e-6; };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

std::vector<Sample> samples_of(const Options& options, const std::array<Catalog, 2>& catalogs) {
  std::vector<Sample> samples;
  std::mt19937_64 random(options.seed);
  constexpr std::array<int, 5> kAlignments{16, 8, 4, 2, 1};
  std::size_t turn = 0;
  while (samples.size() < static_cast<std::size_t>(options.count)) {
    for (const std::string& name : options.templates) {
      for (const std::string& arch : options.archs) {
        ++turn;
        const KernelTemplate& kernel = catalogs[0].at(name);
        const DeviceLimits limits = limits_of_arch(arch).value();
        const auto choices = testing::type_choices(kernel);
        const auto& choice = choices[random() % choices.size()];
        const auto storage = [&] { return random() % 2 == 0 ? Storage::n : Storage::t; };
        const Storage a = storage();
        const Storage b = storage();
        const int alignment = random() % 2 == 0 ? 16 : kAlignments[random() % 5];
        Gemm gemm =
            testing::gemm_of_row(*choice.row, choice.turn, a, b, alignment, random() % 2 == 0);
        gemm.m = 992;
        gemm.n = 704;
        gemm.k = 320;
        const Problem problem = to_problem(gemm);
        if (kernel.why_unsupported(problem, limits)) continue;
        const auto space = kernel.space(problem, limits);
        const auto config = random() % 8 == 0 ? space.default_config() : space.sample(random);
        if (!config) continue;
        Sample sample;
        sample.label =
            fmt::format("{} {} {} [{}]", arch, name, problem.kind_text(), config->canonical());
        for (std::size_t side = 0; side < 2; ++side) {
          const auto rendered =
              render(catalogs[side], catalogs[side].at(name), *config, problem, limits);
          sample.requests[side] = testing::request_of(rendered, arch, CodeKind::cubin);
        }
        samples.push_back(std::move(sample));
      }
    }
  }
  return samples;
}

int text_bytes(const CompileResult& result) {
  std::size_t bytes = 0;
  for (const auto& [kind, text] : code_of(result.cubin)) bytes += kind == ".text" ? text.size() : 0;
  return static_cast<int>(bytes);
}

std::string worse(int before, int after, const char* what) {
  return before == after ? "" : fmt::format(" {} {} -> {}", what, before, after);
}

int compare(const Options& options) {
  const std::array<Catalog, 2> catalogs{Catalog::with_directories({options.folders[0]}),
                                        Catalog::with_directories({options.folders[1]})};
  const auto compiler = make_nvrtc_compiler();
  const std::vector<Sample> samples = samples_of(options, catalogs);
  std::mutex mutex;
  std::array<double, 2> seconds{};
  std::map<std::string, std::array<int, 2>> same;  // of how many, by template
  int broken = 0;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < samples.size(); i = next++) {
      const Sample& sample = samples[i];
      std::array<CompileResult, 2> results;
      for (std::size_t turn = 0; turn < 2; ++turn) {
        const std::size_t side = (turn + i) % 2;
        const double begin = thread_seconds();
        results[side] = compiler->compile(sample.requests[side]);
        const double spent = thread_seconds() - begin;
        const std::lock_guard lock(mutex);
        seconds[side] += spent;
      }
      const std::lock_guard lock(mutex);
      if (!results[0].ok || !results[1].ok) {
        fmt::print("does not compile: {}\n{}\n{}\n", sample.label, results[0].log.substr(0, 1000),
                   results[1].log.substr(0, 1500));
        ++broken;
        continue;
      }
      auto& counts = same[sample.label.substr(0, sample.label.find(" gemm "))];
      ++counts[1];
      if (results[0].resources.registers == results[1].resources.registers &&
          code_of(results[0].cubin) == code_of(results[1].cubin)) {
        ++counts[0];
        continue;
      }
      const KernelResources& before = results[0].resources;
      const KernelResources& after = results[1].resources;
      fmt::print("differs: {}{}{}{}\n", sample.label,
                 worse(before.registers, after.registers, "registers"),
                 worse(before.spill_store_bytes + before.spill_load_bytes,
                       after.spill_store_bytes + after.spill_load_bytes, "spills"),
                 worse(text_bytes(results[0]), text_bytes(results[1]), "bytes"));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(work);
  }
  for (auto& thread : threads) thread.join();
  for (const auto& [name, counts] : same) {
    fmt::print("{}: {} of {} identical\n", name, counts[0], counts[1]);
  }
  fmt::print("processor time {:.2f} s -> {:.2f} s\n", seconds[0], seconds[1]);
  return broken == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  kiln::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--count")
      options.count = std::stoi(argv[++i]);
    else if (word == "--seed")
      options.seed = std::stoul(argv[++i]);
    else if (word == "--arch")
      options.archs.push_back(argv[++i]);
    else if (word == "--template")
      options.templates.push_back(argv[++i]);
    else
      options.folders[options.folders[0].empty() ? 0 : 1] = word;
  }
  if (options.archs.empty()) options.archs = {"sm_75", "sm_80", "sm_90a"};
  if (options.templates.empty()) options.templates = {"gemm_tiled", "gemm_wmma"};
  return kiln::compare(options);
}
