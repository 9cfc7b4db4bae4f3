// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulated/ptx/ptx_module.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln::test {

/// One line, so that line numbers in messages are those of the sample plus one.
inline constexpr std::string_view kPtxHeader = ".version 8.7 .target sm_90a .address_size 64\n";

/// A module with these declarations.
inline ptx::Module read_declarations(std::string_view text) {
  return ptx::read_module(std::string(kPtxHeader) + std::string(text));
}

/// A kernel with these statements, some registers of each kind and some things to name. The
/// statements begin on line 3.
inline std::string kernel_text(std::string_view statements) {
  return std::string(kPtxHeader) +
         ".global .f32 data[64]; .func helper(.param .b32 a) { ret; } .entry kernel(.param .u64 "
         "pointer, .param .u32 count) { .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<99>; .reg "
         ".f32 %f<99>; .reg .b64 %rd<99>; .reg .f64 %fd<9>; .shared .align 16 .b8 tile[512];\n" +
         std::string(statements) + "\n}\n";
}

inline ptx::Function read_kernel(std::string_view statements) {
  return *ptx::read_module(kernel_text(statements)).find("kernel");
}

/// The instructions of a kernel with these statements, written back.
inline std::vector<std::string> read_back(std::string_view statements) {
  const ptx::Function kernel = read_kernel(statements);
  std::vector<std::string> lines;
  for (const auto& in : kernel.body) lines.push_back(ptx::text_of(kernel, in));
  return lines;
}

inline std::string read_back_one(std::string_view statement) {
  const auto lines = read_back(statement);
  return lines.size() == 1 ? lines.front() : "not one instruction";
}

/// The message for a text that is refused.
inline std::string refusal(const std::string& text) {
  return error_text(ErrorKind::device, [&] { (void)ptx::read_module(text); });
}

inline std::string kernel_refusal(std::string_view statements) {
  return refusal(kernel_text(statements));
}

inline std::string declaration_refusal(std::string_view text) {
  return refusal(std::string(kPtxHeader) + std::string(text));
}

}  // namespace kiln::test
