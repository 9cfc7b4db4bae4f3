// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "tuner/evaluator.hpp"

namespace kiln {

/// An Error of the worker, to be rethrown by the session.
struct ErrorMessage {
  ErrorKind kind = ErrorKind::internal;
  std::string text;
};

/// Throws the error of a frame of that type.
[[noreturn]] void throw_as_told(std::string_view payload);

/// Answers say whether the device is lost; the worker ends after such an answer.
struct EvaluationReply {
  Evaluation evaluation;
  bool device_lost = false;
};
struct ComparisonReply {
  Comparison comparison;
  bool device_lost = false;
};

/// A compiler's process has an identity of its own: the toolkit may have been replaced.
struct CompilerGreeting {
  std::string identity;
};

/// With what the compiler had to warn of meanwhile.
struct CompileReply {
  CompileResult result;
  std::vector<std::string> warnings;
};

/// Payloads of frames: DeviceInfo, EvaluationSetup, EvaluationJob, ComparisonRequest,
/// EvaluationReply, ComparisonReply, CompilerGreeting, CompileRequest, CompileReply, ErrorMessage.
template <class Message>
[[nodiscard]] std::string encode_message(const Message& message);
/// Nothing if the bytes are not such a message.
template <class Message>
[[nodiscard]] std::optional<Message> decode_message(std::string_view payload);

}  // namespace kiln
