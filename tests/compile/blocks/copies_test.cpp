// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The copies bring every tile of a panel into shared memory, with zeros where the matrix has ended,
// and read nothing beyond it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/compile/blocks/block_test.hpp"

namespace kiln::testing {
namespace {

constexpr int kThreads = 64;

const char* const kCopyKernel = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define KILN_USES_F16 1
#define KILN_USES_BF16 1
#include "common/arithmetic.cuh"
#include "lib/copy_async.cuh"
#include "lib/copy_elements.cuh"
#include "lib/copy_registers.cuh"
#include "lib/copy_scattered.cuh"
#include "lib/copy_turned.cuh"

namespace kiln {

template <class T, class Acc, TileShape kTile, auto kLayout, int kThreads>
KILN_DEVICE void bring(CopyElements<T, Acc, kTile, kLayout, kThreads>& copy, Acc* tile, int left) {
  copy.copy(tile, left);
  copy.advance();
}
/// The same copy in its two halves.
template <class T, class Acc, TileShape kTile, auto kLayout, int kThreads>
struct HeldElements : CopyElements<T, Acc, kTile, kLayout, kThreads> {
  using CopyElements<T, Acc, kTile, kLayout, kThreads>::CopyElements;
};
template <class T, class Acc, TileShape kTile, auto kLayout, int kThreads>
KILN_DEVICE void bring(HeldElements<T, Acc, kTile, kLayout, kThreads>& copy, Acc* tile, int) {
  typename HeldElements<T, Acc, kTile, kLayout, kThreads>::Registers registers;
  copy.load(registers);
  copy.store(registers, tile);
}
template <class Chunks, int kAligned>
KILN_DEVICE void bring(CopyRegisters<Chunks, kAligned>& copy, typename Chunks::Element* tile, int) {
  typename CopyRegisters<Chunks, kAligned>::Registers registers;
  copy.load(registers);
  copy.store(registers, tile);
}
template <class Copy>
KILN_DEVICE void bring(Copy& copy, typename Copy::Element* tile, int) {
  copy.start(tile);
  commit_async_group();
  wait_async_groups<0>();
}

/// Writes every tile of the block's panel to D, row after row along k.
template <class Copy, class T, class Stored, TileShape kTile, auto kLayout>
__global__ void dump(const GemmArgs args) {
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  Stored* tile = reinterpret_cast<Stored*>(shared_memory);
  constexpr auto kPlace = kLayout;
  constexpr int kAcross = kTile.across;
  constexpr int kDepth = kTile.depth;
  constexpr bool kTransposed = !kTile.k_major;
  Copy copy(panel_of_a<kTransposed, T>(args, static_cast<int>(blockIdx.x) * kAcross));
  float* to = static_cast<float*>(args.d) +
              static_cast<int>(blockIdx.x) * ceil_div(args.k, kDepth) * kAcross * kDepth;
  for (int left = args.k; left > 0; left -= kDepth) {
    bring(copy, tile, left);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kAcross * kDepth; i += 64) {
      to[i] = static_cast<float>(tile[kPlace.offset(i / kDepth, i % kDepth)]);
    }
    __syncthreads();
    to += kAcross * kDepth;
  }
}

)";

struct CopyCase {
  std::string kind;  ///< Elements, HeldElements, Registers, Async, AsyncAhead, Scattered, Turned
  DType type;
  int across;
  int depth;
  bool k_major;
  std::string layout;  ///< an initializer: "PaddedLayout{40}"
  int vec = 1;
  bool shared_across = false;  ///< rows of the shared tile run across k, whatever memory does
  int aligned = 0;             ///< elements that rows in memory are aligned to, if fewer than `vec`
};

std::string device_type(DType type) {
  switch (type) {
    case DType::f16:
      return "__half";
    case DType::bf16:
      return "__nv_bfloat16";
    case DType::f64:
      return "double";
    case DType::s8:
      return "signed char";
    default:
      return "float";
  }
}

class CopyBlocks : public BlockTest {
 protected:
  void add(const CopyCase& one) { cases_.push_back(one); }

  /// Runs each of them over matrices whose ends lie in the middle of a tile, at its border, and
  /// before its second element.
  void check() {
    std::string text = kCopyKernel;
    std::vector<std::string> kernels;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const CopyCase& one = cases_[i];
      const std::string type = device_type(one.type);
      const std::string stored = !one.kind.ends_with("Elements") ? type
                                 : one.type == DType::s8         ? "int"
                                 : one.type == DType::f64        ? "double"
                                                                 : "float";
      text += fmt::format("constexpr TileShape kTile{}{{{}, {}, {}}};\n", i, one.across, one.depth,
                          one.k_major);
      text += fmt::format("constexpr OperandLayout kLayout{}{{{}, {}, 0}};\n", i, one.layout,
                          one.k_major && !one.shared_across);
      text += fmt::format("using Copy{} = {};\n", i, copy_type(one, type, stored, i));
      kernels.push_back(
          fmt::format("kiln::dump<kiln::Copy{0}, {1}, {2}, kiln::kTile{0}, kiln::kLayout{0}>", i,
                      type, stored));
    }
    load(text + "}  // namespace kiln\n", kernels);
    if (HasFatalFailure()) return;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const CopyCase& one = cases_[i];
      SCOPED_TRACE(kernels[i] + " " + one.layout + " vec " + std::to_string(one.vec));
      check(i, one, one.across + one.across / 2 - 1, 2 * one.depth + one.depth / 2 - 1);
      check(i, one, 2 * one.across, 2 * one.depth);
      check(i, one, one.across + 1, one.depth + 1);
      check(i, one, 1, 1);
    }
  }

 private:
  static std::string copy_type(const CopyCase& one, const std::string& type,
                               const std::string& stored, std::size_t i) {
    if (one.kind.ends_with("Elements")) {
      return fmt::format("{4}<{0}, {1}, kTile{2}, kLayout{2}, {3}>", type, stored, i, kThreads,
                         one.kind == "Elements" ? "CopyElements" : one.kind);
    }
    if (one.kind == "Scattered") {
      return fmt::format("CopyScattered<{0}, kTile{1}, kLayout{1}, {2}>", type, i, kThreads);
    }
    if (one.kind == "Turned") {
      return fmt::format("CopyTurned<{0}, kTile{1}, kLayout{1}, {2}, {3}>", type, i, one.aligned,
                         kThreads);
    }
    const bool ahead = one.kind == "AsyncAhead";
    return fmt::format("Copy{0}<TileChunks<{1}, kTile{2}, kLayout{2}, {3}, {4}>{5}>",
                       ahead ? "Async" : one.kind, type, i, one.vec, kThreads,
                       ahead              ? ", true"
                       : one.aligned == 0 ? ""
                                          : fmt::format(", {}", one.aligned));
  }

  void check(std::size_t kernel, const CopyCase& one, int rows, int depth) {
    const int blocks = (rows + one.across - 1) / one.across;
    const int tiles = (depth + one.depth - 1) / one.depth;
    const int length = one.k_major ? depth : rows;
    GemmArgs args{};
    args.m = rows;
    args.k = depth;
    // Every row is aligned as it says, and to nothing more where that is possible.
    const int unit = one.aligned == 0 ? one.vec : one.aligned;
    args.lda = (length + unit - 1) / unit * unit;
    if (one.aligned != 0 && args.lda / unit % 2 == 0) args.lda += unit;
    args.a = matrix(one.type, rows, depth, static_cast<int>(args.lda), !one.k_major);
    const auto count = static_cast<std::size_t>(blocks * tiles * one.across * one.depth);
    args.d = fresh(count * sizeof(float));
    run(kernel, {{static_cast<unsigned>(blocks), 1, 1}, {kThreads, 1, 1}, {1, 1, 1}, 32768}, args);
    const auto got = values(DType::f32, args.d, count);
    for (std::size_t i = 0; i < count; ++i) {
      const int at = static_cast<int>(i);
      const int z = at % one.depth;
      const int x = at / one.depth % one.across;
      const int tile = at / (one.depth * one.across);
      const int row = tile / tiles * one.across + x;
      const int k = tile % tiles * one.depth + z;
      const double wanted = row < rows && k < depth ? number_at(row, k) : 0.0;
      ASSERT_EQ(got[i], wanted) << "row " << row << " k " << k << " of " << rows << " x " << depth;
    }
  }

  std::vector<CopyCase> cases_;
};

TEST_F(CopyBlocks, Elements) {
  add({"Elements", DType::f32, 64, 16, true, "PaddedLayout{68}", 1, true});
  add({"Elements", DType::f32, 64, 16, false, "PaddedLayout{64}", 1, true});
  add({"Elements", DType::f16, 32, 32, true, "PaddedLayout{33}", 1, true});
  add({"Elements", DType::s8, 16, 8, true, "PaddedLayout{20}", 1, true});
  add({"Elements", DType::f64, 16, 8, false, "PaddedLayout{18}", 1, true});
  add({"Elements", DType::f32, 32, 8, true, "SwizzledLayout{32, 4}", 1, true});
  check();
}

TEST_F(CopyBlocks, ElementsInTwoHalves) {
  add({"HeldElements", DType::f32, 64, 16, true, "PaddedLayout{68}", 1, true});
  add({"HeldElements", DType::f32, 64, 16, false, "PaddedLayout{64}", 1, true});
  add({"HeldElements", DType::f16, 30, 32, true, "PaddedLayout{33}", 1, true});
  add({"HeldElements", DType::s8, 12, 8, true, "PaddedLayout{20}", 1, true});  // passes are uneven
  add({"HeldElements", DType::f64, 16, 8, false, "PaddedLayout{18}", 1, true});
  check();
}

TEST_F(CopyBlocks, Registers) {
  add({"Registers", DType::f16, 64, 32, true, "PaddedLayout{40}", 8});
  add({"Registers", DType::f16, 64, 32, false, "PaddedLayout{72}", 4});
  add({"Registers", DType::bf16, 32, 16, true, "PaddedLayout{24}", 2});
  add({"Registers", DType::f16, 32, 16, false, "PaddedLayout{32}", 1});
  add({"Registers", DType::f32, 24, 32, true, "PaddedLayout{36}", 4});  // passes are uneven
  add({"Registers", DType::f16, 64, 64, true, "SwizzledLayout{64, 8}", 8});
  add({"Registers", DType::f16, 20, 32, true, "SwizzledLayout{32, 8}", 4});
  check();
}

TEST_F(CopyBlocks, RegistersInParts) {
  add({"Registers", DType::f16, 64, 32, true, "PaddedLayout{40}", 8, false, 1});
  add({"Registers", DType::bf16, 32, 16, false, "PaddedLayout{40}", 8, false, 1});
  add({"Registers", DType::f16, 64, 64, true, "SwizzledLayout{64, 8}", 8, false, 2});
  add({"Registers", DType::f16, 64, 32, true, "PaddedLayout{40}", 8, false, 4});
  add({"Registers", DType::f32, 32, 16, true, "PaddedLayout{20}", 4, false, 1});
  add({"Registers", DType::s8, 32, 64, true, "PaddedLayout{80}", 16, false, 1});
  add({"Registers", DType::s8, 32, 64, true, "SwizzledLayout{64, 16}", 16, false, 4});
  check();
}

TEST_F(CopyBlocks, Async) {
  add({"Async", DType::f16, 64, 32, true, "PaddedLayout{40}", 8});
  add({"Async", DType::f16, 64, 32, false, "PaddedLayout{72}", 4});
  add({"Async", DType::bf16, 32, 16, true, "PaddedLayout{24}", 2});
  add({"Async", DType::f32, 24, 32, true, "PaddedLayout{36}", 1});
  add({"Async", DType::f32, 24, 32, false, "PaddedLayout{28}", 2});
  add({"Async", DType::f16, 64, 64, true, "SwizzledLayout{64, 8}", 8});
  add({"Async", DType::f16, 20, 32, true, "SwizzledLayout{32, 8}", 8});
  add({"AsyncAhead", DType::f32, 24, 32, true, "PaddedLayout{36}", 4});
  add({"AsyncAhead", DType::f64, 64, 16, false, "PaddedLayout{64}", 2});
  check();
}

TEST_F(CopyBlocks, Scattered) {
  add({"Scattered", DType::f32, 64, 16, true, "PaddedLayout{68}", 1, true});
  add({"Scattered", DType::f32, 20, 8, true, "PaddedLayout{28}", 1, true});  // passes are uneven
  add({"Scattered", DType::f64, 32, 8, true, "PaddedLayout{36}", 1, true});
  check();
}

TEST_F(CopyBlocks, Turned) {
  add({"Turned", DType::f32, 64, 16, true, "PaddedLayout{68}", 1, true, 4});
  add({"Turned", DType::f32, 64, 16, true, "PaddedLayout{68}", 1, true, 1});
  add({"Turned", DType::f32, 20, 8, true, "PaddedLayout{28}", 1, true, 2});  // passes are uneven
  add({"Turned", DType::f64, 32, 8, true, "PaddedLayout{36}", 1, true, 2});
  add({"Turned", DType::f64, 40, 4, true, "PaddedLayout{44}", 1, true, 1});
  check();
}

}  // namespace
}  // namespace kiln::testing
