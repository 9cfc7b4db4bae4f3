// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "tests/support/fake_device.hpp"

namespace kiln::testing {

/// The result of a fake compilation of one request.
struct FakeCompilation {
  bool ok = true;
  std::string log = {};
  KernelResources resources{.registers = 64};
  std::vector<std::string> warnings = {};
  double seconds = 0.001;  ///< reported; no time passes
  FakeCubin cubin = {};    ///< names are filled in by the compiler
  /// What the compiler gives in its place, unless empty, and the symbol of its kernel.
  std::vector<std::byte> code = {};
  std::string symbol = {};
};

/// Compiles nothing: the cubin is text for FakeDevice whose lowered names are the name expressions
/// themselves, unless `decide` has something else. `decide` chooses the result of a request (its
/// name expression has the whole configuration). Thread-safe if `decide` is.
class FakeCompiler : public Compiler {
 public:
  using Decide = std::function<FakeCompilation(const CompileRequest&)>;
  explicit FakeCompiler(Decide decide = {}, std::string identity = "nvrtc 99.0");

  [[nodiscard]] CompileResult compile(const CompileRequest& request) override;
  [[nodiscard]] std::string identity() const override { return identity_; }
  [[nodiscard]] std::string options_text(const CompileRequest& request) const override;
  [[nodiscard]] std::vector<std::string> supported_archs() const override;
  [[nodiscard]] int compilations() const { return compilations_.load(); }

 private:
  Decide decide_;
  std::string identity_;
  std::atomic<int> compilations_{0};
};

/// What it would take long to compile takes until it is given up.
class PatientCompiler : public FakeCompiler {
 public:
  explicit PatientCompiler(std::function<bool(const CompileRequest&)> takes_long)
      : takes_long_(std::move(takes_long)) {}

  [[nodiscard]] CompileResult compile(const CompileRequest& request) override;

 private:
  std::function<bool(const CompileRequest&)> takes_long_;
};

/// The value of `.name = value` in a name expression with designated initialisers; 0 when absent.
[[nodiscard]] std::int64_t config_value(const std::string& name_expression,
                                        const std::string& name);

}  // namespace kiln::testing
