// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Declared operations through the public interface alone, as an application uses them: compiled by
// NVRTC and executed on the emulated GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/kiln.hpp"
#include "runtime/emulated/device/make_device.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln::testing {
namespace {

class OperationEmulated : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { emulated::register_emulator(); }

  Library open(const std::vector<std::string>& template_path = {
                   std::string(KILN_SOURCE_DIR) + "/examples/operations",
                   std::string(KILN_SOURCE_DIR) + "/examples/adopted"}) const {
    LibraryOptions options;
    options.database = folder_.file("tuning.db");
    options.cubin_store = folder_.file("cubins.db");
    options.template_path = template_path;
    options.device = "emulated:h200";
    options.mode = Mode::use;
    return Library::open(options);
  }

  static DeviceMemory upload(const Library& library, const std::vector<float>& values) {
    DeviceMemory memory = library.allocate(values.size() * sizeof(float));
    memory.copy_from_host(values.data(), memory.bytes());
    return memory;
  }
  static std::vector<float> download(const DeviceMemory& memory) {
    std::vector<float> values(memory.bytes() / sizeof(float));
    memory.copy_to_host(values.data(), memory.bytes());
    return values;
  }
  static std::vector<float> random_numbers(std::size_t count) {
    std::mt19937 generator(7);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& value : values) value = normal(generator);
    return values;
  }

  const TemporaryFolder folder_;
};

TEST_F(OperationEmulated, FilesOfTheTemplatePathThatAreLeftOutAreWarnings) {
  const TemporaryFolder files;
  std::ofstream(files.file("wrong.cu")) << "//@ template wrong\n";
  std::filesystem::create_symlink("loop.cu", files.file("loop.cu"));
  std::vector<std::string> warnings;
  LibraryOptions options;
  options.database = folder_.file("tuning.db");
  options.cubin_store = folder_.file("cubins.db");
  options.template_path = {files.file("")};
  options.device = "emulated:h200";
  options.mode = Mode::tune_on_miss;
  options.on_warning = [&](std::string_view text) { warnings.emplace_back(text); };
  static_cast<void>(Library::open(options));
  EXPECT_THAT(warnings,
              ::testing::UnorderedElementsAre(::testing::HasSubstr("loop.cu, "),
                                              ::testing::AllOf(::testing::StartsWith("left out: "),
                                                               ::testing::HasSubstr("wrong.cu:"))));
}

TEST_F(OperationEmulated, Softmax) {
  const Library library = open();
  constexpr std::size_t kRows = 5, kCols = 300;
  const OperationKernel softmax =
      library.get(OperationProblem{.operation = "softmax",
                                   .sizes = {{"cols", kCols}, {"rows", kRows}},
                                   .types = {{"x", DType::f32}, {"y", DType::f32}}});
  EXPECT_EQ(softmax.match(), Match::default_config);
  const std::vector<float> numbers = random_numbers(kRows * kCols);
  const DeviceMemory x = upload(library, numbers);
  const DeviceMemory y = library.allocate(softmax.operand_bytes(softmax.operand_index("y")));
  for (const double scale : {1.0, 0.25}) {
    softmax.launch(nullptr, {.operands = {x.get(), y.get()}, .scalars = {scale}});
    const std::vector<float> results = download(y);
    ASSERT_EQ(results.size(), kRows * kCols);
    for (std::size_t row = 0; row < kRows; ++row) {
      double sum = 0.0;
      for (std::size_t i = 0; i < kCols; ++i) sum += std::exp(scale * numbers[row * kCols + i]);
      for (std::size_t i = 0; i < kCols; ++i) {
        const double right = std::exp(scale * numbers[row * kCols + i]) / sum;
        ASSERT_NEAR(results[row * kCols + i], right, 1e-5 * right) << row << ", " << i;
      }
    }
  }
}

TEST_F(OperationEmulated, SumHasTwoLaunchesThatShareAWorkspace) {
  const Library library = open();
  constexpr std::size_t kCount = 5003;
  const OperationKernel sum =
      library.get(OperationProblem{.operation = "sum",
                                   .sizes = {{"n", kCount}},
                                   .types = {{"x", DType::f32}, {"y", DType::f32}}});
  ASSERT_EQ(sum.template_name(), "sum_partials");
  ASSERT_GT(sum.workspace_bytes(), 0U);
  const std::vector<float> numbers = random_numbers(kCount);
  double right = 0.0;
  for (const float number : numbers) right += number;
  const DeviceMemory x = upload(library, numbers);
  const DeviceMemory y = library.allocate(sizeof(float));
  sum.launch(nullptr, {.operands = {x.get(), y.get()}});
  EXPECT_NEAR(download(y)[0], right, 1e-3);
  const DeviceMemory nothing = upload(library, {0.0F});
  const DeviceMemory own = library.allocate(sum.workspace_bytes());
  sum.launch(nullptr, {.operands = {x.get(), nothing.get()}, .workspace = own.get()});
  EXPECT_EQ(download(nothing)[0], download(y)[0]) << "the same additions in memory of the caller's";
}

TEST_F(OperationEmulated, EveryLaunchFillsConstantMemory) {
  const Library library = open();
  constexpr std::size_t kHeight = 9, kWidth = 21, kInputWidth = kWidth + 6;
  const auto convolution_of = [&](std::int64_t height) {
    return library.get(OperationProblem{
        .operation = "convolution",
        .sizes = {{"height", height}, {"width", kWidth}},
        .types = {{"output", DType::f32}, {"input", DType::f32}, {"filter", DType::f32}}});
  };
  const OperationKernel convolution = convolution_of(kHeight);
  const std::vector<float> image = random_numbers((kHeight + 6) * kInputWidth);
  const DeviceMemory input = upload(library, image);
  const DeviceMemory output = library.allocate(kHeight * kWidth * sizeof(float));
  // A filter of one 1 moves the image.
  for (const std::size_t one : {std::size_t{0}, std::size_t{3 * 7 + 5}, std::size_t{48}}) {
    std::vector<float> weights(49, 0.0F);
    weights[one] = 1.0F;
    const DeviceMemory filter = upload(library, weights);
    convolution.launch(nullptr, {.operands = {output.get(), input.get(), filter.get()}});
    const std::vector<float> results = download(output);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::size_t row = i / kWidth + one / 7, col = i % kWidth + one % 7;
      ASSERT_EQ(results[i], image[row * kInputWidth + col]) << one << ": " << i;
    }
  }
}

/// y[0] = key, z[0] = shift.
constexpr std::string_view kStored = R"(//@ operation  stored
//@ purpose    Stores its scalars
//@ size       n 1..1
//@ type       y u64
//@ type       z s64
//@ scalar     key u64 = 0x9e3779b97f4a7c15
//@ scalar     shift s64 = -9223372036854775808
//@ operand    y out: n
//@ operand    z out: n
//@ right      y exact
//@ right      z exact
//@ ragged     n=1
//@ flops      0
//@ reference  stored_reference
//@   grid     1
//@   block    1
//@   args     y, z, key, shift
__global__ void stored_reference(unsigned long long* y, long long* z, unsigned long long key,
                                 long long shift) {
  *y = key;
  *z = shift;
}
)";
constexpr std::string_view kStoredTemplate = R"(//@ template   stored_once
//@ purpose    One thread
//@ operation  stored
//@ launch     stored_once
//@   grid     1
//@   block    1
//@   args     y, z, key, shift
__global__ void stored_once(unsigned long long* y, long long* z, unsigned long long key,
                            long long shift) {
  *y = key;
  *z = shift;
}
)";

TEST_F(OperationEmulated, ScalarsOf64BitsReachKernelsExactly) {
  const std::string templates = folder_.file("templates");
  std::filesystem::create_directories(templates);
  std::ofstream(templates + "/stored.cu") << kStored;
  std::ofstream(templates + "/stored_once.cu") << kStoredTemplate;
  const Library library = open({templates});
  const OperationKernel kernel = library.get(OperationProblem{
      .operation = "stored", .sizes = {{"n", 1}}, .types = {{"y", DType::u64}, {"z", DType::s64}}});
  const DeviceMemory y = library.allocate(sizeof(std::uint64_t));
  const DeviceMemory z = library.allocate(sizeof(std::int64_t));
  const auto stored = [&](const ShortList<Scalar, kMostScalars>& scalars) {
    kernel.launch(nullptr, {.operands = {y.get(), z.get()}, .scalars = scalars});
    std::pair<std::uint64_t, std::int64_t> numbers;
    y.copy_to_host(&numbers.first, sizeof(numbers.first));
    z.copy_to_host(&numbers.second, sizeof(numbers.second));
    return numbers;
  };
  constexpr std::uint64_t kKey = 0x9e3779b97f4a7c15;
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(stored({}), std::pair(kKey, kLeast)) << "as declared";
  EXPECT_EQ(stored({kKey ^ 1}), std::pair(kKey ^ 1, kLeast));
  EXPECT_EQ(stored({std::numeric_limits<std::uint64_t>::max(), kMost}),
            std::pair(std::numeric_limits<std::uint64_t>::max(), kMost));
  EXPECT_EQ(stored({9007199254740993, kLeast + 1}),
            std::pair(std::uint64_t{9007199254740993}, kLeast + 1));
  EXPECT_EQ(stored({1e18, -7}), std::pair(std::uint64_t{1000000000000000000}, std::int64_t{-7}));
  EXPECT_EQ(kernel.arguments().scalars[0], kKey);
  EXPECT_THROW(static_cast<void>(stored({-1})), Error);
  EXPECT_THROW(static_cast<void>(stored({0, kKey})), Error);
}

}  // namespace
}  // namespace kiln::testing
