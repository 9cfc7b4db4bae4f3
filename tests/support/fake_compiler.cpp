// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_compiler.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "templates/device_limits.hpp"

namespace kiln::testing {

FakeCompiler::FakeCompiler(Decide decide, std::string identity)
    : decide_(std::move(decide)), identity_(std::move(identity)) {}

CompileResult FakeCompiler::compile(const CompileRequest& request) {
  ++compilations_;
  FakeCompilation compilation;
  if (decide_) compilation = decide_(request);
  CompileResult result;
  result.ok = compilation.ok;
  result.log = compilation.log;
  result.seconds = compilation.seconds;
  if (!result.ok) return result;
  result.lowered_names = request.name_expressions;
  result.lowered_names.insert(result.lowered_names.end(), request.plain_names.begin(),
                              request.plain_names.end());
  if (compilation.code.empty()) {
    compilation.cubin.names = result.lowered_names;
    result.cubin = compilation.cubin.bytes();
  } else {
    result.lowered_names = {compilation.symbol};
    result.cubin = std::move(compilation.code);
  }
  result.resources = compilation.resources;
  result.warnings = compilation.warnings;
  return result;
}

std::string FakeCompiler::options_text(const CompileRequest& request) const {
  return fmt::format("fake arch={} lineinfo={}", request.arch, request.line_info ? 1 : 0);
}

std::vector<std::string> FakeCompiler::supported_archs() const {
  return known_archs();
}

CompileResult PatientCompiler::compile(const CompileRequest& request) {
  CompileResult result = FakeCompiler::compile(request);
  if (!takes_long_(request)) return result;
  while (!request.give_up()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return given_up_result();
}

std::int64_t config_value(const std::string& name_expression, const std::string& name) {
  const std::string key = fmt::format(".{} = ", name);
  const std::size_t at = name_expression.find(key);
  if (at == std::string::npos) return 0;
  return std::strtoll(name_expression.c_str() + at + key.size(), nullptr, 10);
}

}  // namespace kiln::testing
