// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The public interface on a real GPU, checked against float64 on the host.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "kiln/kiln.hpp"
#include "tests/gpu/runtime_gpu.hpp"
#include "tests/support/host_element.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln::testing {
namespace {

/// A matrix in host memory: `rows` rows of `ld` elements as stored.
struct Matrix {
  DType type;
  std::int64_t rows, ld;
  std::vector<char> bytes;

  Matrix(DType element, std::int64_t row_count, std::int64_t pitch, std::mt19937_64& random)
      : type(element), rows(row_count), ld(pitch) {
    bytes.resize(static_cast<std::size_t>(rows * ld * size_bytes(type)));
    std::uniform_real_distribution<double> values(-1.0, 1.0);
    for (std::int64_t i = 0; i < rows * ld; ++i) {
      store_element(type, bytes.data(), i, values(random));
    }
  }
  [[nodiscard]] double at(std::int64_t row, std::int64_t col) const {
    return load_element(type, bytes.data(), row * ld + col);
  }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(bytes.size()); }
};

/// Device memory with the content of a matrix.
class Upload {
 public:
  Upload(Device& device, const Matrix& matrix)
      : device_(device), address_(device.allocate(matrix.size())) {
    device.copy_to_device(address_, matrix.bytes.data(), matrix.size());
  }
  ~Upload() { device_.free(address_); }
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;
  [[nodiscard]] void* pointer() const { return reinterpret_cast<void*>(address_); }
  [[nodiscard]] DevicePtr address() const { return address_; }

 private:
  Device& device_;
  DevicePtr address_;
};

double unit_roundoff(DType type) {
  return type == DType::bf16 ? 0x1p-8 : type == DType::f16 ? 0x1p-11 : 0x1p-24;
}

class RuntimeLibraryTest : public GpuTest {
 protected:
  LibraryOptions options() {
    LibraryOptions options;
    options.database = folder_.file("tuning.db");
    options.cubin_store = folder_.file("cubins.db");
    options.device = "cuda:0";
    options.mode = Mode::use;
    return options;
  }

  /// Runs one problem; returns the number of wrong elements (and of changed padding).
  int wrong_elements(const Library& library, const Gemm& gemm, double alpha, double beta,
                     std::mt19937_64& random) {
    const bool a_n = gemm.storage_a == Storage::n;
    const bool b_n = gemm.storage_b == Storage::n;
    const Matrix a(gemm.a, a_n ? gemm.m : gemm.k, gemm.lda, random);
    const Matrix b(gemm.b, b_n ? gemm.k : gemm.n, gemm.ldb, random);
    const Matrix c(gemm.c, gemm.m, gemm.ldc, random);
    Matrix d(gemm.d, gemm.m, gemm.ldd, random);
    const Matrix before = d;
    const Upload device_a(*device_, a), device_b(*device_, b), device_c(*device_, c),
        device_d(*device_, d);
    const Kernel kernel = library.get(gemm);
    kernel.launch(device_->own_stream(), {device_a.pointer(), device_b.pointer(),
                                          device_c.pointer(), device_d.pointer(), alpha, beta});
    device_->copy_to_host(d.bytes.data(), device_d.address(), d.size());
    int wrong = 0;
    std::vector<double> rows_a(static_cast<std::size_t>(gemm.k));
    for (std::int64_t i = 0; i < gemm.m; ++i) {
      for (std::int64_t l = 0; l < gemm.k; ++l) rows_a[l] = a_n ? a.at(i, l) : a.at(l, i);
      // Every row, and about forty columns of long ones: decoding is slow, rows are cheap.
      const std::int64_t step = std::max<std::int64_t>(1, gemm.n / 40);
      for (std::int64_t j = i % step; j < gemm.n; j += step) {
        double sum = 0.0, absolute = 0.0;
        for (std::int64_t l = 0; l < gemm.k; ++l) {
          const double product = rows_a[l] * (b_n ? b.at(l, j) : b.at(j, l));
          sum += product;
          absolute += std::fabs(product);
        }
        const double from_c = beta == 0.0 ? 0.0 : beta * c.at(i, j);
        const double expected = alpha * sum + from_c;
        const double magnitude = std::fabs(alpha) * absolute + std::fabs(from_c);
        const double bound = unit_roundoff(gemm.d) * std::fabs(expected) +
                             4.0 * std::sqrt(static_cast<double>(gemm.k)) * 0x1p-24 * magnitude +
                             1e-7;
        if (!(std::fabs(d.at(i, j) - expected) <= bound)) ++wrong;
      }
      for (std::int64_t j = gemm.n; j < gemm.ldd; ++j) {
        if (d.at(i, j) != before.at(i, j)) ++wrong;
      }
    }
    return wrong;
  }

  TemporaryFolder folder_;
};

TEST_F(RuntimeLibraryTest, TwoHundredRandomProblemsAreRight) {
  std::mt19937_64 random(20260101);
  const Library library = Library::open(options());
  const auto pick = [&random](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int i = 0; i < 200; ++i) {
    const DType type = std::array{DType::f16, DType::bf16, DType::f16, DType::bf16,
                                  DType::f32}[static_cast<std::size_t>(i % 5)];
    const auto storage = [&](int bit) { return (i >> bit & 1) != 0 ? Storage::t : Storage::n; };
    Gemm gemm = Gemm::of(type, pick(1, 700), pick(1, 700), pick(1, 700), storage(0), storage(1));
    const auto pitch = [&](std::int64_t row) {
      const std::int64_t kind = pick(0, 2);
      return kind == 0 ? row : kind == 1 ? row + pick(1, 9) : (row + 7) / 8 * 8 + 8 * pick(0, 3);
    };
    gemm.lda = pitch(gemm.storage_a == Storage::n ? gemm.k : gemm.m);
    gemm.ldb = pitch(gemm.storage_b == Storage::n ? gemm.n : gemm.k);
    gemm.ldc = pitch(gemm.n);
    gemm.ldd = pitch(gemm.n);
    gemm.reads_c = i % 3 == 0;
    const double alpha = i % 4 == 0 ? 1.0 : -0.75;
    const double beta = gemm.reads_c && i % 2 == 0 ? 0.5 : 0.0;
    EXPECT_EQ(wrong_elements(library, gemm, alpha, beta, random), 0)
        << "problem " << i << ": " << to_string(type) << " m=" << gemm.m << " n=" << gemm.n
        << " k=" << gemm.k << " lda=" << gemm.lda << " ldb=" << gemm.ldb << " ldc=" << gemm.ldc
        << " ldd=" << gemm.ldd << " alpha=" << alpha << " beta=" << beta
        << " template=" << library.get(gemm).template_name();
  }
}

TEST_F(RuntimeLibraryTest, TwoThreadsLaunchAtOnce) {
  const Library library = Library::open(options());
  std::atomic<int> wrong{0};
  const auto work = [&](unsigned seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 10; ++i) {
      Gemm gemm = Gemm::of(DType::f16, 64 + 8 * (i % 3), 96, 80);
      gemm.lda = gemm.k;
      gemm.ldb = gemm.ldc = gemm.ldd = gemm.n;
      wrong += wrong_elements(library, gemm, 1.0, 0.0, random);
    }
  };
  std::thread other(work, 1U);
  work(2U);
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(RuntimeLibraryTest, SecondLibraryCompilesNothing) {
  const Gemm gemm = Gemm::of(DType::f16, 256, 256, 256);
  {
    const Library first = Library::open(options());
    static_cast<void>(first.get(gemm));
    EXPECT_EQ(first.counters().compiles, 1U);
  }
  // A process of its own, because this one has NVRTC loaded.
  const std::string command = "'" KILN_FIRST_LAUNCH "' '" + folder_.file("tuning.db") + "' '" +
                              folder_.file("cubins.db") + "'";
  // The fastest of up to five processes counts, because other load can slow down any of them.
  int code = 3;
  for (int attempt = 0; attempt < 5 && code == 3; ++attempt) {
    const int status = std::system(command.c_str());
    code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  EXPECT_EQ(code, 0) << command;
}

}  // namespace
}  // namespace kiln::testing
