// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// wgmma for every number of registers that a thread's sums can take. The instruction spells all of
/// them out, so each count has a function of its own, made by the macros below; ptx_wgmma.cuh
/// chooses among them.
///
/// The shape's n is two columns for each register of one sum, four for each that has two f16.

#include "common/annotations.cuh"

namespace kiln {

/// What an instruction multiplies; sums are f32, s32 of integers, f16 of `f16_sums`.
enum class WgmmaKind { bf16, f16, f16_sums, tf32, s8s8, s8u8, u8s8, u8u8 };

using u64 = unsigned long long;

/// A thread's sums in kRegisters registers: multiply() adds the product of the operands that two
/// descriptors find in shared memory, or takes it for the sums where `adds` is 0. kAcrossA and
/// kAcrossB: 1 if rows of the operand run across k, which 16-bit types may.
template <int kRegisters>
struct WgmmaOf;

// Eight registers at a time: as operands of the statement, and as the instruction names them.
#define KILN_FLOATS(i)                                                                        \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define KILN_WORDS(i)                                                                         \
  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), \
      "+r"(d[i + 6]), "+r"(d[i + 7])
#define KILN_NAMES_4 "%0, %1, %2, %3"
#define KILN_NAMES_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define KILN_NAMES_16 KILN_NAMES_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define KILN_NAMES_24 KILN_NAMES_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define KILN_NAMES_32 KILN_NAMES_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define KILN_NAMES_40 KILN_NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define KILN_NAMES_48 KILN_NAMES_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define KILN_NAMES_56 KILN_NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define KILN_NAMES_64 KILN_NAMES_56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define KILN_NAMES_72 KILN_NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define KILN_NAMES_80 KILN_NAMES_72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define KILN_NAMES_88 KILN_NAMES_80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define KILN_NAMES_96 KILN_NAMES_88 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define KILN_NAMES_104 KILN_NAMES_96 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define KILN_NAMES_112 KILN_NAMES_104 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define KILN_NAMES_120 KILN_NAMES_112 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define KILN_NAMES_128 KILN_NAMES_120 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define KILN_FLOATS_4 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define KILN_WORDS_4 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define KILN_FLOATS_8 KILN_FLOATS(0)
#define KILN_FLOATS_16 KILN_FLOATS_8, KILN_FLOATS(8)
#define KILN_FLOATS_24 KILN_FLOATS_16, KILN_FLOATS(16)
#define KILN_FLOATS_32 KILN_FLOATS_24, KILN_FLOATS(24)
#define KILN_FLOATS_40 KILN_FLOATS_32, KILN_FLOATS(32)
#define KILN_FLOATS_48 KILN_FLOATS_40, KILN_FLOATS(40)
#define KILN_FLOATS_56 KILN_FLOATS_48, KILN_FLOATS(48)
#define KILN_FLOATS_64 KILN_FLOATS_56, KILN_FLOATS(56)
#define KILN_FLOATS_72 KILN_FLOATS_64, KILN_FLOATS(64)
#define KILN_FLOATS_80 KILN_FLOATS_72, KILN_FLOATS(72)
#define KILN_FLOATS_88 KILN_FLOATS_80, KILN_FLOATS(80)
#define KILN_FLOATS_96 KILN_FLOATS_88, KILN_FLOATS(88)
#define KILN_FLOATS_104 KILN_FLOATS_96, KILN_FLOATS(96)
#define KILN_FLOATS_112 KILN_FLOATS_104, KILN_FLOATS(104)
#define KILN_FLOATS_120 KILN_FLOATS_112, KILN_FLOATS(112)
#define KILN_FLOATS_128 KILN_FLOATS_120, KILN_FLOATS(120)
#define KILN_WORDS_8 KILN_WORDS(0)
#define KILN_WORDS_16 KILN_WORDS_8, KILN_WORDS(8)
#define KILN_WORDS_24 KILN_WORDS_16, KILN_WORDS(16)
#define KILN_WORDS_32 KILN_WORDS_24, KILN_WORDS(24)
#define KILN_WORDS_40 KILN_WORDS_32, KILN_WORDS(32)
#define KILN_WORDS_48 KILN_WORDS_40, KILN_WORDS(40)
#define KILN_WORDS_56 KILN_WORDS_48, KILN_WORDS(48)
#define KILN_WORDS_64 KILN_WORDS_56, KILN_WORDS(56)
#define KILN_WORDS_72 KILN_WORDS_64, KILN_WORDS(64)
#define KILN_WORDS_80 KILN_WORDS_72, KILN_WORDS(72)
#define KILN_WORDS_88 KILN_WORDS_80, KILN_WORDS(80)
#define KILN_WORDS_96 KILN_WORDS_88, KILN_WORDS(88)
#define KILN_WORDS_104 KILN_WORDS_96, KILN_WORDS(96)
#define KILN_WORDS_112 KILN_WORDS_104, KILN_WORDS(104)
#define KILN_WORDS_120 KILN_WORDS_112, KILN_WORDS(112)
#define KILN_WORDS_128 KILN_WORDS_120, KILN_WORDS(120)

// One instruction for sums in `registers`; the operands after them have the numbers A to TB.
#define KILN_WGMMA(n, types, names, registers, A, B, S, more, ...)                              \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %" #S                                    \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n types " {" names "}, %" #A ", %" #B \
               ", adds" more ";\n}"                                                             \
               : registers                                                                      \
               : "l"(a), "l"(b), "r"(adds)__VA_ARGS__)

// All that sums in R registers can be of: n is N for one sum in each, N2 for two of f16.
#define KILN_WGMMA_OF(R, A, B, S, TA, TB, N, N2)                                               \
  template <>                                                                                  \
  struct WgmmaOf<R> {                                                                          \
    template <WgmmaKind kKind, int kAcrossA, int kAcrossB>                                     \
    KILN_DEVICE static void multiply(float (&d)[R], u64 a, u64 b, int adds) {                  \
      if constexpr (kKind == WgmmaKind::bf16) {                                                \
        KILN_WGMMA(N, "k16.f32.bf16.bf16", KILN_NAMES_##R, KILN_FLOATS_##R, A, B, S,           \
                   ", 1, 1, %" #TA ", %" #TB, , "n"(kAcrossA), "n"(kAcrossB));                 \
      } else if constexpr (kKind == WgmmaKind::f16) {                                          \
        KILN_WGMMA(N, "k16.f32.f16.f16", KILN_NAMES_##R, KILN_FLOATS_##R, A, B, S,             \
                   ", 1, 1, %" #TA ", %" #TB, , "n"(kAcrossA), "n"(kAcrossB));                 \
      } else {                                                                                 \
        static_assert(kKind == WgmmaKind::tf32 && kAcrossA + kAcrossB == 0, "Only along k");   \
        KILN_WGMMA(N, "k8.f32.tf32.tf32", KILN_NAMES_##R, KILN_FLOATS_##R, A, B, S, ", 1, 1"); \
      }                                                                                        \
    }                                                                                          \
    template <WgmmaKind kKind, int kAcrossA, int kAcrossB>                                     \
    KILN_DEVICE static void multiply(unsigned (&d)[R], u64 a, u64 b, int adds) {               \
      static_assert(kKind == WgmmaKind::f16_sums, "Two sums in a register");                   \
      KILN_WGMMA(N2, "k16.f16.f16.f16", KILN_NAMES_##R, KILN_WORDS_##R, A, B, S,               \
                 ", 1, 1, %" #TA ", %" #TB, , "n"(kAcrossA), "n"(kAcrossB));                   \
    }                                                                                          \
    template <WgmmaKind kKind, int kAcrossA, int kAcrossB>                                     \
    KILN_DEVICE static void multiply(int (&d)[R], u64 a, u64 b, int adds) {                    \
      static_assert(kAcrossA + kAcrossB == 0, "Only along k");                                 \
      if constexpr (kKind == WgmmaKind::s8s8) {                                                \
        KILN_WGMMA(N, "k32.s32.s8.s8", KILN_NAMES_##R, KILN_WORDS_##R, A, B, S, "");           \
      } else if constexpr (kKind == WgmmaKind::s8u8) {                                         \
        KILN_WGMMA(N, "k32.s32.s8.u8", KILN_NAMES_##R, KILN_WORDS_##R, A, B, S, "");           \
      } else if constexpr (kKind == WgmmaKind::u8s8) {                                         \
        KILN_WGMMA(N, "k32.s32.u8.s8", KILN_NAMES_##R, KILN_WORDS_##R, A, B, S, "");           \
      } else {                                                                                 \
        KILN_WGMMA(N, "k32.s32.u8.u8", KILN_NAMES_##R, KILN_WORDS_##R, A, B, S, "");           \
      }                                                                                        \
    }                                                                                          \
  }

KILN_WGMMA_OF(4, 4, 5, 6, 7, 8, 8, 16);
KILN_WGMMA_OF(8, 8, 9, 10, 11, 12, 16, 32);
KILN_WGMMA_OF(16, 16, 17, 18, 19, 20, 32, 64);
KILN_WGMMA_OF(24, 24, 25, 26, 27, 28, 48, 96);
KILN_WGMMA_OF(32, 32, 33, 34, 35, 36, 64, 128);
KILN_WGMMA_OF(40, 40, 41, 42, 43, 44, 80, 160);
KILN_WGMMA_OF(48, 48, 49, 50, 51, 52, 96, 192);
KILN_WGMMA_OF(56, 56, 57, 58, 59, 60, 112, 224);
KILN_WGMMA_OF(64, 64, 65, 66, 67, 68, 128, 256);
KILN_WGMMA_OF(72, 72, 73, 74, 75, 76, 144, 288);
KILN_WGMMA_OF(80, 80, 81, 82, 83, 84, 160, 320);
KILN_WGMMA_OF(88, 88, 89, 90, 91, 92, 176, 352);
KILN_WGMMA_OF(96, 96, 97, 98, 99, 100, 192, 384);
KILN_WGMMA_OF(104, 104, 105, 106, 107, 108, 208, 416);
KILN_WGMMA_OF(112, 112, 113, 114, 115, 116, 224, 448);
KILN_WGMMA_OF(120, 120, 121, 122, 123, 124, 240, 480);
KILN_WGMMA_OF(128, 128, 129, 130, 131, 132, 256, 512);

#undef KILN_WGMMA_OF
#undef KILN_WGMMA
#undef KILN_FLOATS
#undef KILN_WORDS
#undef KILN_NAMES_4
#undef KILN_NAMES_8
#undef KILN_NAMES_16
#undef KILN_NAMES_24
#undef KILN_NAMES_32
#undef KILN_NAMES_40
#undef KILN_NAMES_48
#undef KILN_NAMES_56
#undef KILN_NAMES_64
#undef KILN_NAMES_72
#undef KILN_NAMES_80
#undef KILN_NAMES_88
#undef KILN_NAMES_96
#undef KILN_NAMES_104
#undef KILN_NAMES_112
#undef KILN_NAMES_120
#undef KILN_NAMES_128
#undef KILN_FLOATS_4
#undef KILN_FLOATS_8
#undef KILN_FLOATS_16
#undef KILN_FLOATS_24
#undef KILN_FLOATS_32
#undef KILN_FLOATS_40
#undef KILN_FLOATS_48
#undef KILN_FLOATS_56
#undef KILN_FLOATS_64
#undef KILN_FLOATS_72
#undef KILN_FLOATS_80
#undef KILN_FLOATS_88
#undef KILN_FLOATS_96
#undef KILN_FLOATS_104
#undef KILN_FLOATS_112
#undef KILN_FLOATS_120
#undef KILN_FLOATS_128
#undef KILN_WORDS_4
#undef KILN_WORDS_8
#undef KILN_WORDS_16
#undef KILN_WORDS_24
#undef KILN_WORDS_32
#undef KILN_WORDS_40
#undef KILN_WORDS_48
#undef KILN_WORDS_56
#undef KILN_WORDS_64
#undef KILN_WORDS_72
#undef KILN_WORDS_80
#undef KILN_WORDS_88
#undef KILN_WORDS_96
#undef KILN_WORDS_104
#undef KILN_WORDS_112
#undef KILN_WORDS_120
#undef KILN_WORDS_128

}  // namespace kiln
