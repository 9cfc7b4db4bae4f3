// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cache/cache_fixture.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <tuple>

#include "templates/operation/gemm_problem.hpp"

namespace kiln::test {

TempFolder::TempFolder() {
  // In memory where possible: these tests are about logic, and each commit would wait for a disk.
  const bool in_memory = ::access("/dev/shm", W_OK) == 0;
  const std::filesystem::path parent =
      in_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
  std::string name = (parent / "kiln-cache-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = std::filesystem::canonical(name).string();
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(path_, ignored);
}

PlainSqlite::PlainSqlite(const std::string& path) {
  if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK) {
    throw std::runtime_error("cannot open " + path);
  }
}

PlainSqlite::~PlainSqlite() {
  sqlite3_close(handle_);
}

void PlainSqlite::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string(sqlite3_errmsg(handle_)) + " in " + sql);
  }
}

std::vector<std::vector<std::string>> PlainSqlite::rows(const std::string& sql) {
  std::vector<std::vector<std::string>> rows;
  const auto collect = [](void* target, int columns, char** values, char**) {
    std::vector<std::string> row;
    for (int i = 0; i < columns; ++i) row.emplace_back(values[i] == nullptr ? "NULL" : values[i]);
    static_cast<std::vector<std::vector<std::string>>*>(target)->push_back(std::move(row));
    return 0;
  };
  if (sqlite3_exec(handle_, sql.c_str(), collect, &rows, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string(sqlite3_errmsg(handle_)) + " in " + sql);
  }
  return rows;
}

std::string PlainSqlite::value(const std::string& sql) {
  return rows(sql).at(0).at(0);
}

Problem gemm_problem(std::int64_t m, std::int64_t n, std::int64_t k, DType type) {
  return to_problem(Gemm::of(type, m, n, k));
}

DeviceClass h200() {
  return {"NVIDIA H200", "sm_90a", 132, 62914560, ""};
}

Environment environment(const std::string& driver) {
  return {driver, "nvrtc 13.0", "cold l2x3 graph"};
}

Trial good_trial(double median_ns, int tile) {
  Trial trial;
  trial.key.problem = gemm_problem(4096, 4096, 4096);
  trial.key.device = h200();
  trial.key.template_name = "gemm_wmma";
  trial.key.template_digest = "d1";
  trial.key.config = Config{{"tile_m", tile}, {"stages", 3}};
  trial.environment = environment();
  trial.resources = KernelResources{128, 0, 0, 0, 1024, 65536, 0.25};
  trial.verification = Verification{true, 0.5, ""};
  trial.timing = Timing{{median_ns - 1, median_ns, median_ns + 1}, median_ns, 1.0, 1980, 650.5, 61};
  trial.rendered_digest = "r1";
  trial.compile_seconds = 0.75;
  trial.session_id = "s1";
  trial.created_unix_ms = 1'760'000'000'000;
  return trial;
}

SessionRecord session(const std::string& id) {
  SessionRecord session;
  session.id = id;
  session.problem = gemm_problem(4096, 4096, 4096);
  session.device = h200();
  session.environment = environment();
  session.strategy = "random seed=1";
  session.budget = "time=50s count=-";
  session.space_size = 4092;
  session.state = "running";
  session.started_unix_ms = 1'760'000'000'000;
  return session;
}

std::string random_hex(std::mt19937_64& random) {
  const std::uint64_t high = random();
  return fmt::format("{:016x}{:016x}", high, random());
}

Trial random_trial(std::mt19937_64& random) {
  const auto pick = [&](int choices) {
    return static_cast<int>(random() % static_cast<unsigned>(choices));
  };
  Trial trial = good_trial(1000.0 + pick(800) / 8.0, 32 << pick(4));
  trial.id = random_hex(random);
  trial.key.problem = gemm_problem(256 << pick(3), 256, 256 << pick(2));
  if (pick(8) == 0) trial.key.device.mig_profile = "3g.71gb";
  if (pick(3) == 0) trial.key.template_name = "gemm_tiled";
  if (pick(4) == 0) trial.key.template_digest = "d2";
  if (pick(3) == 0) trial.environment = environment("570.9");
  trial.resources->registers = 64 + 8 * pick(6);
  trial.resources->occupancy = pick(9) / 8.0;
  const double median_ns = trial.timing->median_ns;
  const double spread_ns = pick(64) / 8.0;
  trial.timing->spread_ns = spread_ns;
  trial.timing->samples_ns = {median_ns - spread_ns, median_ns, median_ns + spread_ns};
  trial.timing->interleaved = pick(3) == 0;
  trial.session_id = pick(2) == 0 ? "s1" : "s2";
  trial.created_unix_ms += pick(8);
  const int kind = pick(12);
  if (kind == 0) trial.provenance = Provenance::compiled;
  if (kind == 1) trial.provenance = Provenance::modelled;
  if (trial.provenance == Provenance::compiled) {
    trial.timing.reset();
    trial.verification.reset();
    if (pick(4) == 0) trial.resources.reset();
  }
  if (kind == 2) {
    trial.outcome = static_cast<Outcome>(1 + pick(7));
    trial.message = "line 1\nline 2";
    if (pick(3) == 0) trial.provenance = Provenance::modelled;
    if (pick(2) == 0) trial.timing.reset();
    if (pick(2) == 0) trial.resources.reset();
    trial.verification = Verification{false, 17.25, "row 3 column 4"};
  }
  if (kind == 3) trial.verification.reset();
  if (trial.provenance == Provenance::modelled && trial.verification) {
    trial.verification->checked = pick(2) == 0;
  }
  if (pick(3) == 0) {
    trial.code_digest = fmt::format("{:032x}", pick(6));
    if (pick(2) == 0) trial.shared_from = random_hex(random);
  }
  if (pick(4) == 0) trial.judge_digest = fmt::format("{:032x}", 7 + pick(2));
  return trial;
}

std::vector<Trial> random_trials(std::mt19937_64& random, std::size_t count) {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < count; ++i) trials.push_back(random_trial(random));
  return trials;
}

std::vector<Trial> oldest_first(std::vector<Trial> trials) {
  std::sort(trials.begin(), trials.end(), [](const Trial& left, const Trial& right) {
    return std::tie(left.created_unix_ms, left.id) < std::tie(right.created_unix_ms, right.id);
  });
  return trials;
}

std::string error_of(ErrorKind kind, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace kiln::test
