// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compile/blocks/block_test.hpp"

#include <utility>

#include "templates/catalog.hpp"
#include "templates/render/renderer.hpp"
#include "tests/support/host_element.hpp"

namespace kiln::testing {

void BlockTest::load(const std::string& text, const std::vector<std::string>& kernels) {
  CompileRequest request;
  request.source = inline_headers(embedded_files(), "block.cu", text);
  request.name_expressions = kernels;
  request.arch = "sm_90a";
  request.code = CodeKind::ptx;
  CompileResult compiled = nvrtc()->compile(request);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  bench_ = std::make_unique<Bench>(std::move(compiled.cubin), compiled.lowered_names);
}

void BlockTest::run(std::size_t kernel, const LaunchGeometry& geometry, const GemmArgs& args) {
  EXPECT_TRUE(bench_->launch(geometry, args, kernel));
  for (const auto& report : bench_->take_reports()) ADD_FAILURE() << report.describe();
}

const void* BlockTest::matrix(DType type, int rows, int cols, int ld, bool transposed,
                              double scale) {
  const int lines = transposed ? cols : rows;
  const int length = transposed ? rows : cols;
  const auto bytes = static_cast<std::size_t>(size_bytes(type));
  // The last line ends where the matrix does: what is read beyond is out of bounds.
  const auto count = static_cast<std::size_t>((lines - 1) * ld + length);
  std::vector<std::byte> data(count * bytes);
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      const int at = transposed ? col * ld + row : row * ld + col;
      store_element(type, data.data(), at, number_at(row, col) * scale);
    }
  }
  return reinterpret_cast<const void*>(bench_->upload(data));
}

void* BlockTest::fresh(std::size_t bytes) {
  return reinterpret_cast<void*>(bench_->fresh(static_cast<std::int64_t>(bytes)));
}

void* BlockTest::poisoned(std::size_t bytes) {
  return reinterpret_cast<void*>(bench_->upload(std::vector<std::byte>(bytes, std::byte{0xcd})));
}

std::vector<double> BlockTest::values(DType type, const void* from, std::size_t count) {
  const auto bytes = bench_->download<std::byte>(
      reinterpret_cast<DevicePtr>(from), count * static_cast<std::size_t>(size_bytes(type)));
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = load_element(type, bytes.data(), static_cast<std::int64_t>(i));
  }
  return values;
}

}  // namespace kiln::testing
