// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/emulated/decode/decoder.hpp"
#include "runtime/emulated/engine/launch.hpp"
#include "runtime/emulated/memory/global_memory.hpp"
#include "tests/unit/emulated/refused_statement.hpp"

/// \file
/// Runs a few PTX instructions on many values: one thread for each row of inputs.

namespace kiln::emulated::lane_test {

/// The sources of one thread, as bits.
using Row = std::array<std::uint64_t, 4>;
using Rows = std::vector<Row>;

/// The registers that a body may use. Sources of 16, 32 and 64 bits are ha..he, ra..re and la..le;
/// pa, pb, pc hold the lowest bits of the sources; results are hd, rd, ld and pd, and are full of
/// ones before.
inline std::string kernel_of(std::string_view body, char result) {
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry lanes(.param .u64 in, .param .u64 out) {\n"
      ".reg .b16 %ha, %hb, %hc, %he, %hd, %h<8>;\n"
      ".reg .b32 %ra, %rb, %rc, %re, %rd, %r<8>, %me, %size, %block;\n"
      ".reg .b64 %la, %lb, %lc, %le, %ld, %l<8>, %in, %out;\n"
      ".reg .pred %pa, %pb, %pc, %pd, %p<8>;\n"
      "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"
      "mov.u32 %me, %tid.x;\nmov.u32 %block, %ctaid.x;\nmov.u32 %size, %ntid.x;\n"
      "mad.lo.u32 %me, %block, %size, %me;\n"
      "mad.wide.u32 %in, %me, 32, %in;\nmad.wide.u32 %out, %me, 8, %out;\n";
  const std::string_view names = "abce";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format(
        "ld.global.u16 %h{0}, [%in+{1}];\nld.global.u32 %r{0}, [%in+{1}];\n"
        "ld.global.u64 %l{0}, [%in+{1}];\n",
        names[i], 8 * i);
    if (names[i] != 'e') {
      text += fmt::format("and.b32 %r0, %r{0}, 1;\nsetp.ne.u32 %p{0}, %r0, 0;\n", names[i]);
    }
  }
  text += "mov.b16 %hd, 0xffff;\nmov.b32 %rd, 0xffffffff;\nmov.b64 %ld, 0xffffffffffffffff;\n";
  text += "setp.eq.u32 %pd, %me, %me;\n";
  text += body;
  text += "\nmov.b64 %l0, 0;\nst.global.u64 [%out], %l0;\n";
  switch (result) {
    case 'h':
      text += "st.global.u16 [%out], %hd;\n";
      break;
    case 'r':
      text += "st.global.u32 [%out], %rd;\n";
      break;
    case 'l':
      text += "st.global.u64 [%out], %ld;\n";
      break;
    case 'p':
      text += "selp.b64 %l0, 1, 0, %pd;\nst.global.u64 [%out], %l0;\n";
      break;
    default:
      throw std::invalid_argument("no such result");
  }
  return text + "ret;\n}\n";
}

/// The result register of every thread. `result` is h, r, l or p: its width.
inline std::vector<std::uint64_t> run(std::string_view body, char result, const Rows& rows) {
  const ptx::Module module = ptx::read_module(kernel_of(body, result));
  GlobalMemory memory(std::int64_t{1} << 30);
  const std::size_t threads = (rows.size() + 31) / 32 * 32;
  Rows padded = rows;
  padded.resize(threads);
  const auto in_bytes = static_cast<std::int64_t>(threads * sizeof(Row));
  const auto out_bytes = static_cast<std::int64_t>(threads * 8);
  const Allocation& in = memory.allocate(in_bytes);
  const Allocation& out = memory.allocate(out_bytes);
  std::memcpy(in.host(in.address), padded.data(), threads * sizeof(Row));
  LaunchState state;
  state.program = decode(module, "lanes", [](const ptx::Variable&) { return std::uint64_t{0}; });
  state.memory = &memory;
  state.grid.x = static_cast<std::uint32_t>(threads / 32);
  state.block.x = 32;
  state.parameters.resize(16);
  std::memcpy(state.parameters.data(), &in.address, 8);
  std::memcpy(state.parameters.data() + 8, &out.address, 8);
  LaunchOptions options;
  options.host_threads = 1;
  const LaunchResult launched = run_grid(std::move(state), options);
  if (launched.fault) throw std::runtime_error(launched.fault->describe());
  std::vector<std::uint64_t> results(rows.size());
  std::memcpy(results.data(), out.host(out.address), results.size() * 8);
  return results;
}

/// One thread.
inline std::uint64_t run_one(std::string_view body, char result, const Row& row) {
  return run(body, result, {row}).front();
}

/// Expects that the decoder refuses a statement, and says `why` among other things. Returns all
/// that it says.
inline std::string expect_refused(std::string_view statement, std::string_view why = "") {
  const std::string text = kernel_of(statement, 'r');
  const ptx::Module module = ptx::read_module(text);
  std::string message;
  try {
    static_cast<void>(
        decode(module, "lanes", [](const ptx::Variable&) { return std::uint64_t{0}; }));
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_TRUE(test::is_about(message, text, statement));
  EXPECT_NE(message.find(why), std::string::npos) << message;
  return message;
}

/// The values where integers of any width have their edges.
inline std::vector<std::uint64_t> integer_edges() {
  std::vector<std::uint64_t> values;
  for (const unsigned bits : {0U, 1U, 7U, 8U, 15U, 16U, 24U, 31U, 32U, 33U, 63U}) {
    const std::uint64_t power = std::uint64_t{1} << bits;
    for (const std::uint64_t value : {power, power - 1, power + 1, 0 - power, ~power}) {
      values.push_back(value);
    }
  }
  values.push_back(0x123456789ABCDEF0U);
  return values;
}

/// Every pair of edges, and as many random rows again.
inline Rows integer_rows() {
  std::mt19937_64 random(20260);
  Rows rows;
  for (const std::uint64_t a : integer_edges()) {
    for (const std::uint64_t b : integer_edges()) rows.push_back({a, b, random(), random()});
  }
  const std::size_t edges = rows.size();
  for (std::size_t i = 0; i < edges; ++i) {
    // Numbers of all lengths, because most random ones are long.
    const auto shorter = [&] { return random() >> (random() % 64); };
    rows.push_back({shorter(), shorter(), shorter(), shorter()});
  }
  return rows;
}

/// f32 where its arithmetic has edges, as bits.
inline std::vector<std::uint64_t> f32_edges() {
  std::vector<std::uint64_t> values;
  for (const std::uint32_t magnitude :
       {0x00000000U, 0x00000001U, 0x00000003U, 0x00400000U, 0x007FFFFFU, 0x00800000U, 0x00800001U,
        0x33800000U, 0x38800000U, 0x387FF000U, 0x3F000000U, 0x3F7FFFFFU, 0x3F800000U, 0x3F800001U,
        0x3FC00000U, 0x40200000U, 0x40490FDBU, 0x447A0000U, 0x477FE000U, 0x477FF000U, 0x4B000001U,
        0x4EFFFFFFU, 0x4F000000U, 0x4F800000U, 0x5F000000U, 0x7E800000U, 0x7F000001U, 0x7F7FFFFFU,
        0x7F800000U, 0x7F800001U, 0x7FC00000U}) {
    values.push_back(magnitude);
    values.push_back(magnitude | 0x80000000U);
  }
  return values;
}

inline Rows f32_rows() {
  std::mt19937 random(20261);
  Rows rows;
  for (const std::uint64_t a : f32_edges()) {
    for (const std::uint64_t b : f32_edges()) {
      rows.push_back({a, b, f32_edges()[random() % f32_edges().size()], 0});
    }
  }
  for (int i = 0; i < 2000; ++i) rows.push_back({random(), random(), random(), 0});
  // Numbers of like size, whose sums cancel and round.
  for (int i = 0; i < 2000; ++i) {
    const auto near_one = [&] { return (random() & 0x80FFFFFFU) + 0x3F000000U; };
    rows.push_back({near_one(), near_one(), near_one(), 0});
  }
  return rows;
}

}  // namespace kiln::emulated::lane_test
