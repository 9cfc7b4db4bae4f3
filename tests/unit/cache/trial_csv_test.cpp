// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/trial_csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

/// The fields of one record, by RFC 4180.
std::vector<std::string> csv_fields(const std::string& record) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const char letter = record[i];
    if (is_quoted && letter == '"' && i + 1 < record.size() && record[i + 1] == '"') {
      fields.back() += letter;
      ++i;
    } else if (letter == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && letter == ',') {
      fields.emplace_back();
    } else if (is_quoted || (letter != '\r' && letter != '\n')) {
      fields.back() += letter;
    }
  }
  EXPECT_FALSE(is_quoted);
  return fields;
}

std::map<std::string, std::string> csv_record(const Trial& trial) {
  const auto names = csv_fields(csv_header());
  const auto fields = csv_fields(csv_row(trial));
  EXPECT_EQ(names.size(), fields.size());
  std::map<std::string, std::string> record;
  for (std::size_t i = 0; i < std::min(names.size(), fields.size()); ++i) {
    record[names[i]] = fields[i];
  }
  return record;
}

TEST(TrialCsv, FieldsAreQuotedOnlyWhereTheyMustBe) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"no\""), "\"say \"\"no\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(TrialCsv, ColumnsOfEarlierVersionsStayWhereTheyAre) {
  EXPECT_TRUE(csv_header().starts_with(
      "trial_id,created_unix_ms,operation,kind,sizes,device,arch,sm_count,l2_bytes,mig_profile,"
      "template,template_digest,config,provenance,outcome,message,median_ns,spread_ns,samples_ns,"
      "interleaved,sm_clock_mhz,power_w,temperature_c,verified,worst_ratio,checked,registers,"
      "spill_store_bytes,spill_load_bytes,stack_bytes,smem_static_bytes,smem_dynamic_bytes,"
      "occupancy,compile_seconds,driver,toolkit,policy,session_id,code_digest,shared_from,"
      "judge_digest"));
  EXPECT_TRUE(csv_header().ends_with("\r\n"));
}

TEST(TrialCsv, ARowHasTheTrial) {
  Trial trial = test::good_trial(1234.5);
  trial.id = std::string(32, 'a');
  trial.message = "line 1\nsays \"a, b\"";
  trial.timing->samples_ns = {1234.5, 1240.0};
  const auto record = csv_record(trial);
  EXPECT_EQ(record.at("trial_id"), trial.id);
  EXPECT_EQ(record.at("operation"), "gemm");
  EXPECT_EQ(record.at("sizes"), trial.key.problem.sizes_text());
  EXPECT_EQ(record.at("config"), trial.key.config.canonical());
  EXPECT_EQ(record.at("message"), trial.message);
  EXPECT_EQ(record.at("median_ns"), "1234.5");
  EXPECT_EQ(record.at("samples_ns"), "1234.5 1240");
  EXPECT_EQ(record.at("verified"), "1");
  EXPECT_TRUE(csv_row(trial).ends_with("\r\n"));
}

TEST(TrialCsv, WhatATrialLacksIsEmpty) {
  Trial trial = test::good_trial(1.0);
  trial.timing.reset();
  trial.verification.reset();
  trial.resources.reset();
  const auto record = csv_record(trial);
  for (const char* const name : {"median_ns", "samples_ns", "verified", "registers", "occupancy"}) {
    EXPECT_EQ(record.at(name), "") << name;
  }
}

}  // namespace
}  // namespace kiln
