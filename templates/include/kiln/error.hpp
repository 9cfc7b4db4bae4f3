// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "kiln/export.hpp"

namespace kiln {

/// The kind of an error. Your program can handle each kind differently. The program `kiln` derives
/// its exit code from the kind.
enum class ErrorKind {
  usage,      ///< the caller made a mistake, for example in a flag, size, pointer or name
  template_,  ///< a template file is malformed; the message gives file:line:column
  device,     ///< no GPU, no driver, or a CUDA call failed
  compiler,   ///< NVRTC or its headers are missing or unusable
  database,   ///< Kiln cannot read or write the tuning database
  not_found,  ///< no kernel or result fits the request, or the mode requires a tuned kernel
  internal,   ///< a bug in Kiln: an internal check failed
};

/// The exception that Kiln throws for an error of one of these kinds. `what()` says what happened,
/// where, and what to do next. Kiln reports expected outcomes in return values, not by exceptions.
/// Examples are a candidate that fails, and a look-up that finds nothing.
class KILN_API Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace kiln
