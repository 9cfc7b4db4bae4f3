// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "tuner/evaluator.hpp"

namespace kiln {

/// A compiler as one phase of a session uses it: what it compiles is given up when the session must
/// end, and when the phase is over. Thread-safe.
class SessionCompiler : public Compiler {
 public:
  /// `must_end` is called from every thread that compiles.
  SessionCompiler(Compiler& compiler, GiveUp must_end)
      : compiler_(compiler), must_end_(std::move(must_end)) {}

  [[nodiscard]] CompileResult compile(const CompileRequest& request) override {
    CompileRequest wanted = request;
    wanted.give_up = [this] { return over_ || must_end_(); };
    return wanted.give_up() ? given_up_result() : compiler_.compile(wanted);
  }
  [[nodiscard]] std::string identity() const override { return compiler_.identity(); }
  [[nodiscard]] std::string options_text(const CompileRequest& request) const override {
    return compiler_.options_text(request);
  }
  [[nodiscard]] std::vector<std::string> supported_archs() const override {
    return compiler_.supported_archs();
  }
  /// Nobody waits any longer for what is being compiled, nor for what will be.
  void end() { over_ = true; }

 private:
  Compiler& compiler_;
  GiveUp must_end_;
  std::atomic<bool> over_{false};
};

/// Ends a phase's compilations however the phase is left: declared after what waits for them.
class EndOfCompiling {
 public:
  explicit EndOfCompiling(SessionCompiler& compiler) : compiler_(compiler) {}
  ~EndOfCompiling() { compiler_.end(); }
  EndOfCompiling(const EndOfCompiling&) = delete;
  EndOfCompiling& operator=(const EndOfCompiling&) = delete;

 private:
  SessionCompiler& compiler_;
};

}  // namespace kiln
