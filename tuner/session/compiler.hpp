// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "tuner/evaluator.hpp"

namespace kiln {

/// A compiler as one phase of a session uses it: what it compiles is given up when the session must
/// end, when the phase is over, and when it takes longer than the phase allows. Thread-safe.
class SessionCompiler : public Compiler {
 public:
  /// `must_end` is called from every thread that compiles.
  SessionCompiler(Compiler& compiler, GiveUp must_end)
      : compiler_(compiler), must_end_(std::move(must_end)) {}

  [[nodiscard]] CompileResult compile(const CompileRequest& request) override {
    CompileRequest wanted = request;
    const auto start = std::chrono::steady_clock::now();
    const auto taken_s = [start] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    wanted.give_up = [this, taken_s] { return over_ || taken_s() > most_s_ || must_end_(); };
    if (wanted.give_up()) return given_up_result();
    CompileResult result = compiler_.compile(wanted);
    if (result.given_up) result.seconds = taken_s();
    return result;
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
  /// Compilations that take longer, also those under way, are given up.
  void allow(double seconds) { most_s_ = seconds; }

 private:
  Compiler& compiler_;
  GiveUp must_end_;
  std::atomic<bool> over_{false};
  std::atomic<double> most_s_{std::numeric_limits<double>::infinity()};
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
