// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Problems at the edges of what there is, for every template on the emulated GPU: k of 0 to 3,
// single rows and columns, D in the place of C, and rows so far apart that offsets need 64 bits.
// Needs NVRTC, but no GPU.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/library.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "runtime/emulated/device/make_device.hpp"
#include "templates/catalog.hpp"
#include "tests/support/chosen_cases.hpp"
#include "tests/support/host_element.hpp"
#include "tests/support/row_gemm.hpp"
#include "tests/support/shared_cache.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/candidate.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/local_evaluator.hpp"
#include "tuner/session/prepared_candidate.hpp"

namespace kiln {
namespace {

struct Sizes {
  std::int64_t m, n, k;
};

/// The first is what configurations are chosen for.
constexpr std::array<Sizes, 9> kSmall{{{40, 72, 0},
                                       {9, 130, 1},
                                       {40, 24, 2},
                                       {130, 9, 3},
                                       {1, 1, 0},
                                       {1, 1, 2},
                                       {1, 33, 3},
                                       {33, 1, 1},
                                       {2, 17, 40}}};

/// Kept for all tests of this program: they compile the same.
Compiler* edge_compiler() {
  static const std::unique_ptr<Compiler> compiler = []() -> std::unique_ptr<Compiler> {
    try {
      return testing::shared_compiler();
    } catch (const Error&) {
      return nullptr;
    }
  }();
  return compiler.get();
}

/// Sets sizes, with rows that are `extra` elements apart.
Gemm sized(Gemm gemm, const Sizes& sizes, std::int64_t extra) {
  gemm.m = sizes.m;
  gemm.n = sizes.n;
  gemm.k = sizes.k;
  const auto apart = [&](std::int64_t row) { return (row + 15) / 16 * 16 + extra; };
  gemm.lda = apart(gemm.storage_a == Storage::n ? gemm.k : gemm.m);
  gemm.ldb = apart(gemm.storage_b == Storage::n ? gemm.n : gemm.k);
  gemm.ldc = gemm.ldd = apart(gemm.n);
  return normalised(gemm);
}

/// A matrix on the device that only exists where its rows do: small integers, row after row.
class FarRows {
 public:
  FarRows(Device& device, const MatrixShape& shape)
      : device_(device), shape_(shape), data_(device.allocate(shape.bytes())) {}
  FarRows(const FarRows&) = delete;
  FarRows& operator=(const FarRows&) = delete;
  ~FarRows() { device_.free(data_); }

  /// Writes them and returns them, tight.
  std::vector<double> fill(int seed) {
    std::vector<double> values;
    std::vector<std::byte> row(row_bytes());
    for (std::int64_t i = 0; i < shape_.rows; ++i) {
      for (std::int64_t j = 0; j < shape_.cols; ++j) {
        values.push_back(static_cast<double>((i * 7 + j * 3 + i * j + seed) % 3));
        testing::store_element(shape_.type, row.data(), j, values.back());
      }
      device_.copy_to_device(place(i), row.data(), static_cast<std::int64_t>(row.size()));
    }
    return values;
  }
  [[nodiscard]] std::vector<double> read() const {
    std::vector<double> values;
    std::vector<std::byte> row(row_bytes());
    for (std::int64_t i = 0; i < shape_.rows; ++i) {
      device_.copy_to_host(row.data(), place(i), static_cast<std::int64_t>(row.size()));
      for (std::int64_t j = 0; j < shape_.cols; ++j) {
        values.push_back(testing::load_element(shape_.type, row.data(), j));
      }
    }
    return values;
  }
  [[nodiscard]] DevicePtr data() const { return data_; }

 private:
  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(shape_.cols * size_bytes(shape_.type));
  }
  [[nodiscard]] DevicePtr place(std::int64_t row) const {
    return data_ + static_cast<DevicePtr>(row * shape_.ld * size_bytes(shape_.type));
  }
  Device& device_;
  MatrixShape shape_;
  DevicePtr data_;
};

/// 2 op(A) op(B) - C.
std::vector<double> product(const Gemm& gemm, const std::vector<double>& a,
                            const std::vector<double>& b, const std::vector<double>& c) {
  const auto at = [](const std::vector<double>& x, Storage storage, std::int64_t rows,
                     std::int64_t cols, std::int64_t i, std::int64_t j) {
    return x[static_cast<std::size_t>(storage == Storage::n ? i * cols + j : j * rows + i)];
  };
  std::vector<double> d;
  for (std::int64_t i = 0; i < gemm.m; ++i) {
    for (std::int64_t j = 0; j < gemm.n; ++j) {
      double sum = 0.0;
      for (std::int64_t z = 0; z < gemm.k; ++z) {
        sum += at(a, gemm.storage_a, gemm.m, gemm.k, i, z) *
               at(b, gemm.storage_b, gemm.k, gemm.n, z, j);
      }
      d.push_back(2.0 * sum - c[d.size()]);
    }
  }
  return d;
}

class EdgeProblems : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (edge_compiler() == nullptr) GTEST_SKIP() << "no NVRTC here";
  }
  [[nodiscard]] static const KernelTemplate& kernel() { return Catalog::builtin().at(GetParam()); }
  /// Problems of the template that read C: one with aligned rows along k, one with rows of A across
  /// it and aligned to nothing, if it takes that.
  [[nodiscard]] static std::vector<Gemm> kinds(const DeviceLimits& limits) {
    const Gemm along = testing::gemm_of_turn(kernel(), 6);
    const Gemm across =
        testing::gemm_of_row(kernel().type_rows().front(), 0, Storage::t, Storage::n, 1, true);
    std::vector<Gemm> found;
    for (const Gemm& gemm : {along, across}) {
      found.push_back(testing::supported_gemm(kernel(), sized(gemm, kSmall[0], 0), limits));
    }
    return found;
  }
  /// Rows that give the alignments which the kind has.
  [[nodiscard]] static std::int64_t extra(const Gemm& kind) {
    return kind.alignment_a >= 16 ? 16 : 3;
  }
  [[nodiscard]] static PreparedCandidate prepare(const Config& config, const DeviceInfo& info,
                                                 const std::vector<GemmCase>& cases) {
    PreparedCandidate prepared =
        prepare_candidate({GetParam(), config}, Catalog::builtin(), *edge_compiler(), info.limits,
                          problem_cases(cases), Admission::runnable, info.code);
    EXPECT_EQ(prepared.outcome, Outcome::ok) << prepared.message;
    prepared.job.time_it = false;
    return prepared;
  }
  /// The default, and one that splits k if the template can.
  [[nodiscard]] static std::vector<Config> configs(const Gemm& gemm, const DeviceLimits& limits) {
    const ParamSpace space = kernel().space(to_problem(gemm), limits);
    std::vector<Config> found{space.default_config().value()};
    for (const Tunable& tunable : space.tunables()) {
      if (tunable.name != "splits") continue;
      found.push_back(found.front());
      found.back().set("splits", 3);
      // Where kernels are compiled for that.
      if (found.back().find("parted")) found.back().set("parted", 1);
      EXPECT_TRUE(space.contains(found.back()));
    }
    return found;
  }
};

/// Judged as candidates are: exact integers, random data against the bound, twice, the second time
/// in place; with every check of the emulated GPU on.
TEST_P(EdgeProblems, SmallestSizesAreRightAndInPlaceToo) {
  EmulationOptions options;
  options.checks = true;
  auto owned = std::make_unique<EmulatedDevice>("h200", options);
  EmulatedDevice& device = *owned;
  const DeviceInfo& info = device.info();
  LocalEvaluator evaluator(std::move(owned), BaselineSource{});
  for (const Gemm& kind : kinds(info.limits)) {
    std::vector<GemmCase> cases;
    for (const Sizes& sizes : kSmall) {
      const Gemm gemm = sized(kind, sizes, extra(kind));
      if (kernel().why_unsupported(to_problem(gemm), info.limits)) continue;
      cases.push_back({gemm, gemm.acc == DType::s32 ? 3.0 : 0.7, -1.0});
    }
    ASSERT_EQ(cases.size(), kSmall.size()) << GetParam();
    const EvaluationSetup setup = testing::setup_of_cases(cases, *edge_compiler(), info);
    evaluator.set_up(setup);
    for (const Config& config : configs(cases.front().gemm, info.limits)) {
      const std::string label = to_problem(cases.front().gemm).kind_text() + config.canonical();
      const PreparedCandidate candidate = prepare(config, info, cases);
      ASSERT_EQ(candidate.outcome, Outcome::ok) << label;
      const Evaluation result = evaluator.evaluate(candidate.job);
      EXPECT_EQ(result.outcome, Outcome::ok) << label << ": " << result.message;
      for (const auto& report : device.take_reports()) {
        ADD_FAILURE() << label << ": " << report.describe();
      }
    }
  }
}

/// Rows 2^31 elements and more apart: the last one of A begins far beyond 2^32 elements. Only what
/// is touched takes memory.
TEST_P(EdgeProblems, OffsetsHave64Bits) {
  EmulationOptions options;
  options.sparse_memory = true;
  options.memory_bytes = std::int64_t{1} << 44;
  EmulatedDevice device("h200", options);
  const DeviceInfo& info = device.info();
  MemoryLedger ledger(device, options.memory_bytes);
  for (const Gemm& kind : kinds(info.limits)) {
    const Gemm gemm = sized(kind, {35, 40, 40}, (std::int64_t{1} << 31) + extra(kind));
    ASSERT_FALSE(kernel().why_unsupported(to_problem(gemm), info.limits));
    const ProblemCase one = problem_case({gemm, 2.0, -1.0});
    FarRows a(device, one.operands[kOperandA].shape);
    FarRows b(device, one.operands[kOperandB].shape);
    FarRows c(device, one.operands[kOperandC].shape);
    FarRows d(device, one.operands[kOperandD].shape);
    const auto expected = product(gemm, a.fill(1), b.fill(2), c.fill(3));
    for (const Config& config : configs(gemm, info.limits)) {
      const std::string label = to_problem(gemm).kind_text() + " " + config.canonical();
      const PreparedCandidate prepared = prepare(config, info, {{gemm, 2.0, -1.0}});
      ASSERT_EQ(prepared.outcome, Outcome::ok) << label;
      const LoadedCandidate candidate(ledger, prepared.job);
      ASSERT_TRUE(candidate.status().ok()) << candidate.status().message;
      d.fill(4);
      const RunArguments run{
          {a.data(), b.data(), c.data(), d.data()}, one.scalars, candidate.workspace()};
      const DeviceStatus status = candidate.run(0, run, nullptr);
      ASSERT_TRUE(status.ok()) << label << ": " << status.message;
      EXPECT_EQ(d.read(), expected) << label;
    }
  }
}

std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const KernelTemplate& each : Catalog::builtin().templates()) names.push_back(each.name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Catalog, EdgeProblems, ::testing::ValuesIn(template_names()),
                         [](const auto& test) { return test.param; });

/// As an application does it.
TEST(EdgeLibrary, WorksInPlaceAndWithoutAProduct) {
  if (edge_compiler() == nullptr) GTEST_SKIP() << "no NVRTC here";
  emulated::register_emulator();
  const testing::TempFolder folder;
  LibraryOptions options;
  options.database = (folder.path() / "none.db").string();
  options.cubin_store = (folder.path() / "cubins.db").string();
  options.device = "emulated:h200";
  const Library library = Library::open(options);

  const std::vector<float> four{1, 2, 3, 4};
  const std::size_t bytes = four.size() * sizeof(float);
  const auto copy = [&] {
    DeviceMemory memory = library.allocate(bytes);
    memory.copy_from_host(four.data(), bytes);
    return memory;
  };
  const DeviceMemory a = copy();
  const DeviceMemory b = copy();
  const DeviceMemory c = copy();
  const auto values = [&](const DeviceMemory& memory) {
    std::vector<float> read(four.size());
    memory.copy_to_host(read.data(), bytes);
    return read;
  };
  Gemm gemm = Gemm::of(DType::f32, 2, 2, 2);
  gemm.reads_c = true;
  library.get(gemm).launch(nullptr, {a.get(), b.get(), c.get(), c.get(), 1.0, 2.0});
  EXPECT_EQ(values(c), (std::vector<float>{9, 14, 21, 30})) << "7 10 15 22 and twice C";

  gemm.k = 0;
  const Kernel scaling = library.get(gemm);
  EXPECT_EQ(scaling.match(), Match::exact);
  scaling.launch(nullptr, {nullptr, nullptr, c.get(), c.get(), 5.0, -1.0});
  EXPECT_EQ(values(c), (std::vector<float>{-9, -14, -21, -30}));
  scaling.launch(nullptr, {nullptr, nullptr, nullptr, c.get(), 5.0, 0.0});
  EXPECT_EQ(values(c), (std::vector<float>{0, 0, 0, 0}));

  gemm.m = 0;
  library.get(gemm).launch(nullptr, {});
  library.synchronize();
}

}  // namespace
}  // namespace kiln
