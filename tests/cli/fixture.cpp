// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/fixture.hpp"

#include <fmt/format.h>

#include "cache/store/store.hpp"
#include "kiln/gemm.hpp"
#include "templates/catalog.hpp"
#include "templates/operation/gemm_problem.hpp"

namespace kiln::cli {
namespace {

constexpr std::int64_t kStartUnixMs = 1763733600000;

DeviceClass imagined_device() {
  return {"Imagined GPU", "sm_90a", 8, 1 << 20, ""};
}
Environment imagined_environment() {
  return {"999.9 (CUDA 13.0)", "nvrtc 13.0", "cold graph"};
}

std::string numbered_id(int number) {
  return fmt::format("{:032x}", number);
}

SessionRecord session(int number, const Problem& problem, const std::string& state) {
  SessionRecord record;
  record.id = numbered_id(1000 + number);
  record.problem = problem;
  record.device = imagined_device();
  record.environment = imagined_environment();
  record.strategy = "random seed=1";
  record.budget = "time=45s count=-";
  record.space_size = 1234;
  record.evaluated = 4;
  record.state = state;
  record.started_unix_ms = kStartUnixMs;
  record.ended_unix_ms = kStartUnixMs + 45000;
  return record;
}

Trial trial(int number, const SessionRecord& session, int tile_m) {
  Trial trial;
  trial.id = numbered_id(number);
  trial.key.problem = session.problem;
  trial.key.device = session.device;
  trial.key.template_name = "gemm_tiled";
  trial.key.template_digest = Catalog::builtin().digest("gemm_tiled");
  trial.key.config = {{"tile_m", tile_m}, {"tile_n", 32},  {"tile_k", 16},
                      {"thread_m", 2},    {"thread_n", 2}, {"pad", 4},
                      {"stages", 1},      {"group_m", 1},  {"min_blocks", 1}};
  trial.environment = session.environment;
  trial.session_id = session.id;
  trial.created_unix_ms = kStartUnixMs + number;
  trial.rendered_digest = numbered_id(2000 + number);
  trial.resources = KernelResources{40 + number, 0, 0, 0, 0, 4608, 0.5};
  return trial;
}

void add_timing(Trial& trial, double median_ns) {
  trial.verification = Verification{true, 0.25, ""};
  trial.timing = Timing{};
  trial.timing->samples_ns = {median_ns - 10.0, median_ns, median_ns + 10.0};
  trial.timing->median_ns = median_ns;
  trial.timing->spread_ns = 10.0;
  trial.timing->sm_clock_mhz = 1000;
}

void add_failure(Trial& trial, Outcome outcome, const std::string& message) {
  trial.outcome = outcome;
  trial.message = message;
}

}  // namespace

void fill_database(const Sandbox& sandbox) {
  auto store = TuningStore::open(sandbox.database().string(), OpenMode::read_write);
  const auto f16 =
      session(1, to_problem(Gemm::of(DType::f16, 64, 48, 32, Storage::n, Storage::t)), "complete");
  const auto f32 = session(2, to_problem(Gemm::of(DType::f32, 100, 100, 100)), "budget");
  (void)store.adopt_sessions({f16, f32});

  Trial fast = trial(1, f16, 32);
  add_timing(fast, 2500.0);
  Trial slow = trial(2, f16, 64);
  add_timing(slow, 4000.0);
  Trial spilled = trial(3, f16, 16);
  add_failure(spilled, Outcome::rejected, "spills 64 bytes");
  Trial wrong = trial(4, f16, 128);
  add_failure(wrong, Outcome::wrong_result, "row 1 column 2: 3, expected 4, bound 0.1");
  wrong.verification = Verification{false, 10.0, "row 1 column 2: 3, expected 4, bound 0.1"};
  Trial other = trial(5, f32, 64);
  add_timing(other, 9000.0);
  (void)store.record_all({fast, slow, spilled, wrong, other});
}

}  // namespace kiln::cli
