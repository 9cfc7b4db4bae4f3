// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How look-ups, lists and the start of a tuning run grow with the database: fills one with trials
// of many problems, a hundred each, and times what a person and an application wait for. The device
// is idle and the compiler makes fake code, so that only Kiln's own share remains.
#include <fmt/format.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "cache/store/store.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/bench/idle_library.hpp"

namespace kiln::testing {
namespace {

constexpr int kTrialsPerProblem = 100;

/// Wall-clock time; or, where other work shares the machine, KILN_BENCH_CPU=1 for processor time.
double now_ms() {
  static const bool cpu = std::getenv("KILN_BENCH_CPU") != nullptr;
  timespec now{};
  ::clock_gettime(cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

template <class Call>
double ms_of(Call&& call) {
  const double begin = now_ms();
  call();
  return now_ms() - begin;
}

/// The `i`-th tuned problem: layers of a network with many numbers of tokens.
Gemm tuned(std::int64_t i) {
  const std::int64_t layer = i % 10;
  return Gemm::of(DType::f16, 16 + 8 * (i / 10), 1024 + 512 * layer, 4096 - 256 * layer, Storage::n,
                  Storage::t);
}

/// The `i`-th size near those of that many problems that was never tuned; all differ.
Gemm unknown(std::int64_t i, std::int64_t problems) {
  Gemm gemm = tuned(i * 7 % problems);
  const std::int64_t round = i / problems;
  gemm.m += 1 + round % 7;
  gemm.n += 8 * (round / 7);
  return gemm;
}

detail::LibraryParts library_parts(const std::string& database) {
  detail::LibraryParts parts;
  parts.device = std::make_unique<IdleDevice>();
  parts.compiler = {
      [] { return std::make_unique<FakeCompiler>(); },
      [](const CompileRequest& request) { return FakeCompiler().options_text(request); }};
  parts.database = database;
  parts.cubin_store = database + ".cubins";
  parts.cubins = std::make_shared<CubinStore>(parts.cubin_store, std::int64_t{1} << 30, nullptr);
  return parts;
}

class Filler {
 public:
  Filler() {
    const ParamSpace space = Catalog::builtin()
                                 .at("gemm_wmma")
                                 .space(to_problem(tuned(5000)), fake_device_info().limits);
    while (configs_.size() < kTrialsPerProblem) configs_.push_back(space.sample(random_).value());
  }

  void fill(const std::string& path, std::int64_t problems) {
    TuningStore store = TuningStore::open(path, OpenMode::read_write);
    std::vector<Trial> batch;
    for (std::int64_t i = 0; i < problems; ++i) {
      SessionRecord session;
      session.id = random_id();
      session.problem = to_problem(tuned(i));
      session.device = fake_device_info().device_class;
      session.environment = environment();
      session.strategy = "random seed=1";
      session.budget = "time=50s count=-";
      session.state = "budget";
      session.space_size = 1907;
      session.evaluated = kTrialsPerProblem;
      session.started_unix_ms = next_unix_ms();
      session.ended_unix_ms = session.started_unix_ms + 50'000;
      sessions_.push_back(session);
      for (const Config& config : configs_) batch.push_back(trial(session, config));
      if (batch.size() >= 20'000 || i + 1 == problems) {
        (void)store.adopt_sessions(sessions_);
        (void)store.record_all(batch);
        sessions_.clear();
        batch.clear();
      }
    }
  }

 private:
  static Environment environment() {
    return {fake_device_info().driver, "nvrtc 99.0", "cold l2x3 graph"};
  }

  Trial trial(const SessionRecord& session, const Config& config) {
    Trial trial;
    trial.id = random_id();
    trial.key = {session.problem, session.device, "gemm_wmma",
                 Catalog::builtin().digest("gemm_wmma"), config};
    trial.environment = session.environment;
    trial.resources =
        KernelResources{.registers = static_cast<int>(64 + random_() % 160), .occupancy = 0.25};
    trial.rendered_digest = "0123456789abcdef0123456789abcdef";
    trial.compile_seconds = 0.5;
    trial.session_id = session.id;
    trial.created_unix_ms = next_unix_ms();
    if (random_() % 20 == 0) {
      trial.outcome = random_() % 2 == 0 ? Outcome::crashed : Outcome::rejected;
      trial.message = "it spills 120 bytes of registers";
      return trial;
    }
    const double median_ns = 20'000.0 + static_cast<double>(random_() % 80'000);
    trial.verification = Verification{true, 0.5, ""};
    trial.timing =
        Timing{std::vector<double>(15, median_ns), median_ns, median_ns / 300, 1755, 350.0, 45};
    return trial;
  }

  std::mt19937_64 random_{1};
  std::vector<Config> configs_;
  std::vector<SessionRecord> sessions_;
};

struct Figures {
  double open_and_get_ms = 0.0;
  double new_size_ms = 0.0;
  double list_ms = 0.0;
  double open_to_write_ms = 0.0;
  double one_problem_ms = 0.0;
};

Figures measure(const std::string& path, std::int64_t problems) {
  Figures figures;
  const Gemm known = tuned(problems / 2);
  // The kernels' code comes from the store: another process compiled them.
  const auto get_all = [&](const Library& library, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      static_cast<void>(library.get(unknown(i, problems)));
    }
  };
  constexpr std::int64_t kNewSizes = 300;
  {
    const Library library = detail::LibraryState::make_library(library_parts(path));
    static_cast<void>(library.get(known));
    get_all(library, kNewSizes);
  }
  figures.open_and_get_ms = ms_of([&] {
    const Library library = detail::LibraryState::make_library(library_parts(path));
    const Kernel kernel = library.get(known);
    if (kernel.match() != Match::exact) std::abort();
  });
  const Library library = detail::LibraryState::make_library(library_parts(path));
  figures.new_size_ms =
      ms_of([&] { get_all(library, kNewSizes); }) / static_cast<double>(kNewSizes);
  figures.list_ms = ms_of([&] {
    const TuningStore store = TuningStore::open(path, OpenMode::read_only);
    if (store.summaries().size() != static_cast<std::size_t>(problems)) std::abort();
  });
  const Problem problem = to_problem(known);
  const DeviceClass device = fake_device_info().device_class;
  TrialFilter filter;
  filter.problem = problem;
  filter.device = device;
  figures.one_problem_ms = ms_of([&] {
    const TuningStore store = TuningStore::open(path, OpenMode::read_only);
    if (store.latest_trials(problem, device).empty() || store.sessions(filter).empty() ||
        store.summaries({problem, ""}).empty()) {
      std::abort();
    }
  });
  figures.open_to_write_ms = ms_of([&] {
    const TuningStore store = TuningStore::open(path, OpenMode::read_write);
    static_cast<void>(store.open_attempts(problem, device));
  });
  return figures;
}

}  // namespace
}  // namespace kiln::testing

/// bench_growth FOLDER TRIALS...: fills a database in FOLDER for each number and prints a row.
int main(int argc, char** argv) {
  using namespace kiln::testing;
  if (argc < 3) {
    std::fprintf(stderr, "usage: bench_growth FOLDER TRIALS...\n");
    return 2;
  }
  std::puts(
      "   trials problems      MB  fill s  open+get ms  new size ms  list ms  show ms  "
      "open to write ms");
  for (int i = 2; i < argc; ++i) {
    const std::int64_t trials = std::atoll(argv[i]);
    const std::int64_t problems = trials / 100;
    const std::string path = fmt::format("{}/growth-{}.db", argv[1], trials);
    double fill_s = 0.0;
    if (!std::filesystem::exists(path)) {
      fill_s = ms_of([&] { Filler().fill(path, problems); }) / 1000;
    }
    const Figures f = measure(path, problems);
    std::puts(fmt::format(
                  "{:9} {:8} {:7.0f} {:7.1f} {:12.2f} {:12.3f} {:8.1f} {:8.1f} {:17.1f}", trials,
                  problems, static_cast<double>(std::filesystem::file_size(path)) / 1e6, fill_s,
                  f.open_and_get_ms, f.new_size_ms, f.list_ms, f.one_problem_ms, f.open_to_write_ms)
                  .c_str());
  }
  return 0;
}
