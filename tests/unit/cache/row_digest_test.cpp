// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/rows/row_digest.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::good_trial;

Trial fixed_trial() {
  Trial trial = good_trial(1000.0);
  trial.id = "0123456789abcdef0123456789abcdef";
  return trial;
}

TEST(RowDigest, EveryFieldOfATrialMatters) {
  const std::vector<std::function<void(Trial&)>> changes{
      [](Trial& t) { t.id[0] = '1'; },
      [](Trial& t) { t.key.problem.sizes[2].value = 4097; },
      [](Trial& t) { t.key.problem.types[1].type = DType::bf16; },
      [](Trial& t) { t.key.problem.traits[6].value = 1; },
      [](Trial& t) { t.key.device.name = "NVIDIA H100"; },
      [](Trial& t) { t.key.device.arch = "sm_90"; },
      [](Trial& t) { t.key.device.sm_count = 131; },
      [](Trial& t) { t.key.device.l2_bytes += 1; },
      [](Trial& t) { t.key.device.mig_profile = "1g"; },
      [](Trial& t) { t.key.template_name += "2"; },
      [](Trial& t) { t.key.template_digest = "d2"; },
      [](Trial& t) { t.key.config.set("stages", 4); },
      [](Trial& t) { t.environment.driver = "1"; },
      [](Trial& t) { t.environment.toolkit = "1"; },
      [](Trial& t) { t.environment.policy = "1"; },
      [](Trial& t) { t.provenance = Provenance::modelled; },
      [](Trial& t) { t.outcome = Outcome::crashed; },
      [](Trial& t) { t.message = "x"; },
      [](Trial& t) { t.resources.reset(); },
      [](Trial& t) { t.resources->registers = 1; },
      [](Trial& t) { t.resources->spill_store_bytes = 1; },
      [](Trial& t) { t.resources->spill_load_bytes = 1; },
      [](Trial& t) { t.resources->stack_bytes = 1; },
      [](Trial& t) { t.resources->smem_static_bytes = 1; },
      [](Trial& t) { t.resources->smem_dynamic_bytes = 1; },
      [](Trial& t) { t.resources->occupancy = 0.5; },
      [](Trial& t) { t.verification.reset(); },
      [](Trial& t) { t.verification->passed = false; },
      [](Trial& t) { t.verification->worst_ratio = 0.25; },
      [](Trial& t) { t.verification->evidence = "x"; },
      [](Trial& t) { t.timing.reset(); },
      [](Trial& t) { t.timing->samples_ns[1] += 1; },
      [](Trial& t) { t.timing->samples_ns.pop_back(); },
      [](Trial& t) { t.timing->median_ns += 1e-9; },
      [](Trial& t) { t.timing->spread_ns = 2; },
      [](Trial& t) { t.timing->sm_clock_mhz = 1; },
      [](Trial& t) { t.timing->power_w = 1; },
      [](Trial& t) { t.timing->temperature_c = 1; },
      [](Trial& t) { t.timing->interleaved = true; },
      [](Trial& t) { t.rendered_digest = "r2"; },
      [](Trial& t) { t.compile_seconds = 1; },
      [](Trial& t) { t.session_id = "s2"; },
      [](Trial& t) { t.created_unix_ms += 1; },
      [](Trial& t) { t.code_digest = "c1"; },
      [](Trial& t) { t.shared_from = "c1"; },
  };
  std::set<std::string> digests{row_digest(fixed_trial())};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Trial trial = fixed_trial();
    changes[i](trial);
    EXPECT_TRUE(digests.insert(row_digest(trial)).second) << "change " << i << " goes unnoticed";
  }
}

// Databases outlive programs: a digest that changed by accident would turn every stored row into a
// damaged one.
TEST(RowDigest, IsTheSameInEveryVersion) {
  EXPECT_EQ(row_digest(fixed_trial()), "8a48db9f8693a6ab6e9e3275b6bc5b64");
  EXPECT_EQ(row_digest(test::session("s1")), "b6abc7274ddd35c3d5e046a8a1097653");
  EXPECT_EQ(row_digest(fixed_trial().key, "s1"), "f29a76623dcca40a05aead35de2088b5");
}

}  // namespace
}  // namespace kiln
