// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/records.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <random>

#include "templates/operation/judge.hpp"

namespace kiln {
namespace {

template <class Enum, std::size_t N>
std::optional<Enum> parse_name(const std::array<std::string_view, N>& names,
                               std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Outcome> parse_outcome(std::string_view name) {
  return parse_name<Outcome>(kOutcomeNames, name);
}

std::optional<Provenance> parse_provenance(std::string_view name) {
  return parse_name<Provenance>(kProvenanceNames, name);
}

std::string DeviceClass::canonical() const {
  return fmt::format("{} arch={} sms={} l2_bytes={} mig={}", name, arch, sm_count, l2_bytes,
                     mig_profile.empty() ? "-" : mig_profile);
}

std::string Environment::canonical() const {
  return fmt::format("driver={} toolkit={} policy={}", driver, toolkit, policy);
}

std::string judge_of(const Trial& trial) {
  if (trial.provenance == Provenance::imported) return "";
  if (!trial.judge_digest.empty()) return trial.judge_digest;
  return judge_before_digests(trial.key.problem.operation);
}

std::int64_t next_unix_ms() {
  static std::atomic<std::int64_t> latest{0};
  using std::chrono::system_clock;
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch())
          .count();
  std::int64_t before = latest.load();
  std::int64_t next = 0;
  do {
    next = std::max(now, before + 1);
  } while (!latest.compare_exchange_weak(before, next));
  return next;
}

std::string random_id() {
  std::array<std::uint64_t, 2> bits{};
  // Never a seeded generator: two processes, or two clones of one machine, must not agree.
  if (::getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    std::random_device device;
    for (std::uint64_t& word : bits) word = (std::uint64_t{device()} << 32U) | device();
  }
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace kiln
