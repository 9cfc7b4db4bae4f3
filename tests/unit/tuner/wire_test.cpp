// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/wire.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/tuner/planted_kernels.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/worker/messages.hpp"

namespace kiln {
namespace {

EvaluationSetup sample_setup() {
  return testing::planted_setup(testing::planted_cases());
}

EvaluationReply sample_reply() {
  EvaluationReply reply;
  reply.evaluation.outcome = Outcome::wrong_result;
  reply.evaluation.message = "row 1";
  reply.evaluation.verification = {false, 1e30, "row 1"};
  reply.evaluation.timing = Timing{{1.5, 2.5, 3.5}, 2.5, 1.0, 1755, 350.5, 45};
  reply.device_lost = true;
  return reply;
}

TEST(Frames, ArriveInPiecesAndInOrder) {
  const std::string stream = encode_frame(FrameType::set_up, "first") +
                             encode_frame(FrameType::ready, "") +
                             encode_frame(FrameType::evaluate, std::string(100000, 'x'));
  FrameAssembler assembler;
  std::vector<Frame> frames;
  for (const char byte : stream) {
    assembler.feed({&byte, 1});
    while (auto frame = assembler.take()) frames.push_back(*frame);
  }
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].type, FrameType::set_up);
  EXPECT_EQ(frames[0].payload, "first");
  EXPECT_EQ(frames[1].type, FrameType::ready);
  EXPECT_EQ(frames[2].payload.size(), 100000U);
  EXPECT_EQ(assembler.broken(), "");
}

TEST(Frames, AnyFlippedBitBreaksTheStream) {
  const std::string good = encode_frame(FrameType::evaluation, "payload");
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    FrameAssembler assembler;
    assembler.feed(bad);
    const auto frame = assembler.take();
    if (!frame) continue;  // broken, or still waiting for a longer payload
    // Only the type is not covered by the digest; another known one must come out as that.
    EXPECT_EQ(frame->payload, "payload");
    EXPECT_NE(frame->type, FrameType::evaluation);
    EXPECT_LE(frame->type, FrameType::error);
  }
}

TEST(Frames, OfAnotherVersionAreRefusedWithTheReason) {
  std::string frame = encode_frame(FrameType::hello, "x");
  frame[4] = static_cast<char>(kWireVersion + 1);
  FrameAssembler assembler;
  assembler.feed(frame);
  EXPECT_FALSE(assembler.take());
  EXPECT_NE(assembler.broken().find("version"), std::string::npos);
  assembler.feed(encode_frame(FrameType::hello, "good"));
  EXPECT_FALSE(assembler.take()) << "a broken stream recovered";
}

TEST(Messages, SurviveTheTrip) {
  const EvaluationSetup setup = sample_setup();
  const auto setup_back = decode_message<EvaluationSetup>(encode_message(setup));
  ASSERT_TRUE(setup_back);
  EXPECT_EQ(encode_message(*setup_back), encode_message(setup));
  EXPECT_EQ(gemm_of(setup_back->cases[1]), gemm_of(setup.cases[1]));
  EXPECT_EQ(setup_back->support.cubin, setup.support.cubin);

  const EvaluationReply reply = sample_reply();
  const auto reply_back = decode_message<EvaluationReply>(encode_message(reply));
  ASSERT_TRUE(reply_back);
  EXPECT_EQ(reply_back->evaluation.outcome, Outcome::wrong_result);
  EXPECT_EQ(reply_back->evaluation.verification, reply.evaluation.verification);
  EXPECT_EQ(reply_back->evaluation.timing, reply.evaluation.timing);
  EXPECT_TRUE(reply_back->device_lost);

  DeviceInfo info = testing::fake_device_info();
  info.code = CodeKind::ptx;
  info.provenance = Provenance::modelled;
  const auto info_back = decode_message<DeviceInfo>(encode_message(info));
  ASSERT_TRUE(info_back);
  EXPECT_EQ(info_back->device_class, info.device_class);
  EXPECT_EQ(info_back->limits.smem_optin, info.limits.smem_optin);
  EXPECT_EQ(info_back->code, info.code);
  EXPECT_EQ(info_back->provenance, info.provenance);
}

TEST(Messages, EveryElementTypeTravels) {
  for (std::size_t i = 0; i <= kDTypeNames.size(); ++i) {
    EvaluationSetup setup = sample_setup();
    setup.cases[0].operands[kOperandA].shape.type = static_cast<DType>(i);
    const auto back = decode_message<EvaluationSetup>(encode_message(setup));
    ASSERT_EQ(back.has_value(), i < kDTypeNames.size());
    if (back) {
      EXPECT_EQ(back->cases[0].operands[kOperandA].shape.type, static_cast<DType>(i));
    }
  }
}

/// A setup of a declared operation, nothing of it as it is unless stated.
EvaluationSetup declared_sample() {
  EvaluationSetup setup = sample_setup();
  ProblemCase& one = setup.cases[1];
  one.operands = {{"y", OperandRole::inout, true, {2, 3, 4, DType::s4, 256, true}, {}}};
  one.operands.push_back({"x",
                          OperandRole::out,
                          false,
                          {},
                          {FillSpec::Kind::sorted, -5, 7},
                          true,
                          {"/x.npy", 128, "0123"}});
  one.scalars = {0.5, -1e300, std::uint64_t{0x9e3779b97f4a7c15}, std::int64_t{-9007199254740993}};
  one.products = 12.0;
  ReferencePlan plan;
  plan.argument.image = {1, 2, 255};
  plan.argument.parameters = {0, 2};
  plan.argument.patches = {
      {ArgumentPatch::Source::magnitude, NumberType::u64, 3, 8, 0},
      {ArgumentPatch::Source::workspace, NumberType::f32, 0, 16, -256},
  };
  plan.checker_argument.image = {4, 5};
  plan.checker_geometry.grid[1] = 6;
  plan.checker = "one_checker";
  plan.parts = {"rows", 4096, 16, {2, 0}};
  plan.rules = {{RightSpec::Kind::within, 1, 1e-3, 2.5, 1e-6}};
  plan.scalars = {std::uint64_t{0xffffffffffffffff}, 0.25};
  plan.integer_range = 9;
  plan.deterministic = false;
  setup.reference_plans = {{}, plan};
  return setup;
}

TEST(Messages, DeclaredOperationsSurviveTheTrip) {
  const EvaluationSetup setup = declared_sample();
  const auto back = decode_message<EvaluationSetup>(encode_message(setup));
  ASSERT_TRUE(back);
  EXPECT_EQ(encode_message(*back), encode_message(setup));
  const ProblemCase& one = back->cases[1];
  ASSERT_EQ(one.operands.size(), 2U);
  EXPECT_EQ(one.operands[0].name, "y");
  EXPECT_EQ(one.operands[0].role, OperandRole::inout);
  EXPECT_TRUE(one.operands[0].present);
  EXPECT_EQ(one.operands[0].shape.elements(), 7);
  EXPECT_EQ(one.operands[0].shape.type, DType::s4);
  EXPECT_TRUE(one.operands[0].shape.recorded);
  EXPECT_FALSE(one.operands[1].present);
  EXPECT_EQ(one.operands[1].fill.kind, FillSpec::Kind::sorted);
  EXPECT_EQ(one.operands[1].fill.low, -5);
  EXPECT_EQ(one.operands[1].fill.high, 7);
  EXPECT_EQ(one.scalars, setup.cases[1].scalars);
  EXPECT_EQ(one.products, 12.0);
  EXPECT_EQ(one.problem, setup.cases[1].problem);
  ASSERT_EQ(back->reference_plans.size(), 2U);
  const ReferencePlan& plan = back->reference_plans[1];
  EXPECT_EQ(plan.argument, setup.reference_plans[1].argument);
  EXPECT_EQ(plan.checker_argument, setup.reference_plans[1].checker_argument);
  EXPECT_EQ(plan.checker_geometry.grid[1], 6U);
  EXPECT_EQ(plan.checker, "one_checker");
  EXPECT_EQ(plan.parts.size, "rows");
  EXPECT_EQ(plan.parts.extent, 4096);
  EXPECT_EQ(plan.parts.length, 16);
  EXPECT_EQ(plan.parts.rows, setup.reference_plans[1].parts.rows);
  ASSERT_EQ(plan.rules.size(), 1U);
  EXPECT_EQ(plan.rules[0].kind, RightSpec::Kind::within);
  EXPECT_EQ(plan.rules[0].operand, 1);
  EXPECT_EQ(plan.rules[0].relative, 1e-3);
  EXPECT_EQ(plan.rules[0].magnitude, 2.5);
  EXPECT_EQ(plan.rules[0].absolute, 1e-6);
  EXPECT_EQ(plan.scalars, setup.reference_plans[1].scalars);
  EXPECT_EQ(plan.integer_range, 9);
  EXPECT_FALSE(plan.deterministic);
  EXPECT_TRUE(back->reference_plans[0].deterministic);
}

TEST(Messages, ArgumentsOfJobsSurviveTheTrip) {
  const EvaluationSetup setup = sample_setup();
  EvaluationJob job = testing::planted_job(setup, "right");
  job.arguments[1][0] = declared_sample().reference_plans[1].argument;
  const auto back = decode_message<EvaluationJob>(encode_message(job));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->arguments, job.arguments);
}

TEST(Messages, EnumeratorsThatDoNotExistAreRefused) {
  using Change = std::function<void(EvaluationSetup&)>;
  const std::vector<Change> changes{
      [](EvaluationSetup& s) { s.cases[1].operands[0].role = static_cast<OperandRole>(3); },
      [](EvaluationSetup& s) { s.cases[1].operands[1].fill.kind = static_cast<FillSpec::Kind>(6); },
      [](EvaluationSetup& s) {
        s.reference_plans[1].rules[0].kind = static_cast<RightSpec::Kind>(4);
      },
      [](EvaluationSetup& s) {
        s.reference_plans[1].argument.patches[0].type = static_cast<NumberType>(kNumberTypes);
      },
      [](EvaluationSetup& s) {
        s.reference_plans[1].argument.patches[0].declared = static_cast<NumberType>(kNumberTypes);
      },
      [](EvaluationSetup& s) {
        s.reference_plans[1].argument.patches[0].source = static_cast<ArgumentPatch::Source>(8);
      },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EvaluationSetup setup = declared_sample();
    changes[i](setup);
    EXPECT_FALSE(decode_message<EvaluationSetup>(encode_message(setup))) << i;
  }
}

TEST(Messages, ScalarsOfAnUnknownKindAreRefused) {
  EvaluationSetup setup = declared_sample();
  setup.cases[1].scalars = {std::uint64_t{0x9e3779b97f4a7c15}};
  std::string bytes = encode_message(setup);
  const std::string number("\x15\x7c\x4a\x7f\xb9\x79\x37\x9e", 8);
  const std::size_t at = bytes.find("\2" + number);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = '\3';
  EXPECT_FALSE(decode_message<EvaluationSetup>(bytes));
  bytes[at] = '\1';
  EXPECT_TRUE(decode_message<EvaluationSetup>(bytes)) << "the same bits with a sign";
}

// Messages.cpp does not compile if a struct has a member that it does not name, so what is left
// to show is that a named one arrives.
TEST(Messages, TheLastMembersOfTimingAndDeviceInfoTravelToo) {
  EvaluationReply reply = sample_reply();
  reply.evaluation.timing->interleaved = true;
  const auto reply_back = decode_message<EvaluationReply>(encode_message(reply));
  ASSERT_TRUE(reply_back);
  EXPECT_EQ(reply_back->evaluation.timing, reply.evaluation.timing);

  DeviceInfo info = testing::fake_device_info();
  info.most_products = 1 << 24;
  const auto info_back = decode_message<DeviceInfo>(encode_message(info));
  ASSERT_TRUE(info_back);
  EXPECT_EQ(info_back->most_products, info.most_products);
}

TEST(Messages, AnyTruncationIsNoticed) {
  const std::string whole = encode_message(declared_sample());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(decode_message<EvaluationSetup>(std::string_view(whole).substr(0, length)));
  }
  EXPECT_FALSE(decode_message<EvaluationSetup>(whole + "x"));
}

// Malformed messages must be refused or read as something valid, but never crash, never allocate
// beyond their size, and never yield an enumerator that does not exist.
RC_GTEST_PROP(Messages, MutatedBytesNeverCrash, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  std::string bytes = encode_message(sample_reply());
  const int mutations = 1 + static_cast<int>(random() % 8);
  for (int i = 0; i < mutations; ++i) {
    bytes[random() % bytes.size()] = static_cast<char>(random());
  }
  const auto reply = decode_message<EvaluationReply>(bytes);
  if (reply) RC_ASSERT(reply->evaluation.outcome <= Outcome::crashed);
}

RC_GTEST_PROP(Messages, RandomBytesNeverCrash, (const std::string& bytes)) {
  (void)decode_message<EvaluationSetup>(bytes);
  (void)decode_message<EvaluationJob>(bytes);
  (void)decode_message<ComparisonRequest>(bytes);
  (void)decode_message<ComparisonReply>(bytes);
  (void)decode_message<DeviceInfo>(bytes);
  (void)decode_message<ErrorMessage>(bytes);
  FrameAssembler assembler;
  assembler.feed(bytes);
  RC_ASSERT(!assembler.take());
}

}  // namespace
}  // namespace kiln
