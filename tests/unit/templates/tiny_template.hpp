// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kiln::test {

/// A template small enough for all of its effects to be seen.
inline constexpr std::string_view kTinyTemplate = R"(// A tiny kernel.
//@ template   tiny
//@ purpose    Adds nothing up; see https://example.org for more.
//@ operation  gemm
//@ arch       sm >= 75
//@ types      a=f16|bf16 b=a c=d d=a|f32 acc=f32
//@ types      a=f64 b=f64 c=f64 d=f64 acc=f64

#include "helper.cuh"

struct TinyConfig {  //@ config
  int tile_m;      //@ tune 32 64* 128           // rows of a block
  int tile_n;      //@ tune 32* 64
  int threads;     //@ let tile_m * tile_n / 16  // a thread has 16 elements
  int smem_bytes;  //@ let tile_m * tile_n * a_bytes
};

//@ require    threads <= device.max_threads    // of a block
//@ require    tile_m >= tile_n
//@ require    align_a >= 4                     // loads are 4 bytes wide
//@ launch     tiny
//@   grid     ceil_div(n, tile_n), ceil_div(m, tile_m)
//@   block    threads
//@   smem     smem_bytes
//@ workspace  m * 4

template <TinyConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void tiny(const kiln::GemmArgs args) {}
)";

/// A folder that is removed at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto pattern = (std::filesystem::temp_directory_path() / "kiln-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace kiln::test
