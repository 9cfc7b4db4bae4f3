// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// The kernels that feed and judge candidates, on the emulated GPU with every check on, against
// their twins in plain C++: the same bits. Needs NVRTC, but no GPU.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"
#include "tuner/verify/support_kernels.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kLeastNumber = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();

CompiledUnit verification_unit(Compiler& compiler, const DeviceInfo& device) {
  TuneRequest request;
  request.tuned = problem_case({Gemm::of(DType::f32, 8, 8, 8)});
  return make_setup(request, compiler, device).support;
}

/// One of the two devices, with the kernels.
class Side {
 public:
  Side(Device& device, Compiler& compiler)
      : device_(device),
        ledger_(device, std::int64_t{1} << 24),
        kernels_(ledger_, verification_unit(compiler, device.info())) {}

  [[nodiscard]] SupportKernels& kernels() { return kernels_; }
  [[nodiscard]] DevicePtr upload(const std::vector<std::uint8_t>& bytes) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    buffers_.emplace_back(ledger_, size, "a test");
    device_.copy_to_device(buffers_.back().address(), bytes.data(), size);
    return buffers_.back().address();
  }
  [[nodiscard]] std::vector<std::uint8_t> download(DevicePtr from, std::size_t size) {
    EXPECT_TRUE(device_.synchronize().ok());
    std::vector<std::uint8_t> bytes(size);
    device_.copy_to_host(bytes.data(), from, static_cast<std::int64_t>(size));
    return bytes;
  }

 private:
  Device& device_;
  MemoryLedger ledger_;
  SupportKernels kernels_;
  std::vector<DeviceBuffer> buffers_;
};

class VerifyKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    std::unique_ptr<Compiler> nvrtc;
    try {
      nvrtc = make_nvrtc_compiler("", SystemHeaders::precompile);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    EmulationOptions options;
    options.checks = true;
    emulated_ = std::make_unique<EmulatedDevice>("h200", options);
    sides_.push_back(std::make_unique<Side>(*emulated_, *nvrtc));
    sides_.push_back(std::make_unique<Side>(fake_, fake_compiler_));
  }
  void TearDown() override {
    if (emulated_ == nullptr) return;
    for (const auto& report : emulated_->take_reports()) ADD_FAILURE() << report.describe();
  }

  /// Whether both have the same result.
  template <class Run>
  void expect_same(const std::string& what, const Run& run) {
    const auto emulated = run(*sides_[0]);
    EXPECT_EQ(emulated, run(*sides_[1])) << what;
  }

  testing::FakeDevice fake_;
  testing::FakeCompiler fake_compiler_;
  std::unique_ptr<EmulatedDevice> emulated_;
  std::vector<std::unique_ptr<Side>> sides_;
};

/// But the complex ones, which are two real ones for all but comparisons.
std::vector<DType> all_types() {
  std::vector<DType> types;
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (!is_complex(static_cast<DType>(i))) types.push_back(static_cast<DType>(i));
  }
  return types;
}

/// Any bytes at all, NaN and infinities among the numbers that they are.
std::vector<std::uint8_t> any_bytes(std::size_t count, unsigned seed) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    bytes.push_back(static_cast<std::uint8_t>(seed >> 24));
  }
  return bytes;
}

TEST_F(VerifyKernels, EveryTypeIsFilledAlike) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> ranges{
      {-3, 5},
      {0, 1000},
      {7, 7},
      {std::int64_t{1} << 40, (std::int64_t{1} << 40) + 9},
      {-kMostNumber, 0},
      {kLeastNumber, kMostNumber}};
  for (const DType type : all_types()) {
    for (const int distribution :
         {kFillNormal, kFillInteger, kFillUniform, kFillPositive, kFillSorted}) {
      const bool has_range = distribution == kFillInteger || distribution == kFillSorted;
      for (std::size_t i = 0; i < (has_range ? ranges.size() : 1); ++i) {
        FillArgs args{};
        args.rows = 7;
        args.cols = 90;
        args.ld = 93;
        args.seed = 17;
        args.dtype = static_cast<int>(type);
        args.distribution = distribution;
        args.lo = ranges[i].first;
        args.hi = ranges[i].second;
        const auto size = static_cast<std::size_t>((6 * args.ld + args.cols) * size_bytes(type));
        const std::string what = std::string(to_string(type)) + " " + std::to_string(distribution) +
                                 " " + std::to_string(i);
        expect_same(what, [&](Side& side) {
          const DevicePtr at = side.upload(std::vector<std::uint8_t>(size, 0));
          args.data = reinterpret_cast<void*>(at);
          side.kernels().fill_random(args);
          return side.download(at, size);
        });
      }
    }
  }
}

TEST_F(VerifyKernels, EveryTypeIsConvertedAlike) {
  for (const DType type : all_types()) {
    if (packed_values(type) > 1) continue;
    const auto from = any_bytes(static_cast<std::size_t>(5 * 300 * size_bytes(type)), 1);
    const std::vector<std::uint8_t> zeros(5 * 301 * sizeof(double), 0);
    expect_same(std::string(to_string(type)), [&](Side& side) {
      ConvertArgs args{};
      const DevicePtr to = side.upload(zeros);
      args.from = reinterpret_cast<const void*>(side.upload(from));
      args.to = reinterpret_cast<double*>(to);
      args.rows = 5;
      args.cols = 299;
      args.ld_from = 300;
      args.ld_to = 301;
      args.dtype = static_cast<int>(type);
      side.kernels().convert(args);
      return side.download(to, zeros.size());
    });
  }
}

/// All that a comparison says, but for what is no number in both.
std::string text_of(const CompareResult& found) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", found.failures, found.first_failure,
                     found.unbounded, found.first_value, found.first_expected, found.first_bound,
                     found.worst_ratio, found.first_value_imaginary, found.first_expected_imaginary,
                     found.first_value_bits, found.first_expected_bits);
}

TEST_F(VerifyKernels, ComparisonsFindTheSame) {
  constexpr std::size_t kCount = 600;
  std::vector<double> reference, absolute;
  for (std::size_t i = 0; i < kCount; ++i) {
    reference.push_back((static_cast<double>(i % 37) - 18.0) / 7.0);
    absolute.push_back(static_cast<double>(i % 11) / 3.0);
  }
  const auto bytes_of = [](const std::vector<double>& values) {
    std::vector<std::uint8_t> bytes(values.size() * sizeof(double));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  };
  struct Rule {
    CompareMode mode;
    bool has_absolute;
    double u_out, c_factor, atol;
  };
  // Complex numbers are half as many.
  for (const DType type : {DType::f32, DType::cf32}) {
    for (const Rule& rule :
         {Rule{kCompareExact, false, 0.0, 0.0, 0.0}, Rule{kCompareBounded, true, 1e-3, 0.01, 0.0},
          Rule{kCompareBounded, false, 1e-3, 0.01, 0.0},
          Rule{kCompareBounded, false, 0.0, 0.0, 0.25},
          Rule{kCompareBounded, true, 1e-3, 0.01, 0.25}}) {
      expect_same(
          fmt::format("{} mode {} absolute {} atol {}", to_string(type),
                      static_cast<int>(rule.mode), rule.has_absolute, rule.atol),
          [&](Side& side) {
            // What is right but for every 16th, which is off by a tenth.
            std::vector<std::uint8_t> d(kCount * sizeof(float));
            for (std::size_t i = 0; i < kCount; ++i) {
              const auto value = static_cast<float>(reference[i] + (i % 16 == 5 ? 0.1 : 0.0));
              std::memcpy(d.data() + i * sizeof(value), &value, sizeof(value));
            }
            CompareArgs args{};
            args.d = reinterpret_cast<const void*>(side.upload(d));
            args.ref = reinterpret_cast<const double*>(side.upload(bytes_of(reference)));
            if (rule.has_absolute) {
              args.absolute = reinterpret_cast<const double*>(side.upload(bytes_of(absolute)));
            }
            args.rows = 20;
            args.cols = args.ld_d = args.ld_ref = args.ld_absolute = is_complex(type) ? 15 : 30;
            args.u_out = rule.u_out;
            args.c_factor = rule.c_factor;
            args.atol = rule.atol;
            args.dtype = static_cast<int>(type);
            args.mode = rule.mode;
            return text_of(side.kernels().compare(args));
          });
    }
  }
}

TEST_F(VerifyKernels, WideIntegersAndLargeElementsAreComparedAlike) {
  const auto wanted = any_bytes(20 * 30 * 8, 5);
  auto given = wanted;
  for (std::size_t i = 40; i < given.size(); i += 8 * 17) given[i] ^= 1U;
  given[8 * 100 + 7] ^= 0x80U;
  for (const DType type : {DType::s64, DType::u64}) {
    for (const double atol : {-1.0, 0.5, 1.5}) {  // below 0: exact
      expect_same(fmt::format("{} {}", to_string(type), atol), [&](Side& side) {
        CompareArgs args{};
        args.d = reinterpret_cast<const void*>(side.upload(given));
        args.own = reinterpret_cast<const void*>(side.upload(wanted));
        args.rows = 20;
        args.cols = args.ld_d = args.ld_ref = 30;
        args.atol = atol;
        args.dtype = static_cast<int>(type);
        args.mode = atol < 0.0 ? kCompareExact : kCompareBounded;
        return text_of(side.kernels().compare(args));
      });
    }
  }
  expect_same("differences of 16 bytes", [&](Side& side) {
    DifferenceArgs args{};
    args.x = reinterpret_cast<const void*>(side.upload(given));
    args.y = reinterpret_cast<const void*>(side.upload(wanted));
    args.rows = 10;
    args.cols = args.ld_x = args.ld_y = 30;
    args.element_bytes = 16;
    side.kernels().count_difference(args);
    const auto counts = side.kernels().take_counts();
    return fmt::format("{} {}", counts.at(0).count, counts.at(0).first);
  });
}

}  // namespace
}  // namespace kiln
