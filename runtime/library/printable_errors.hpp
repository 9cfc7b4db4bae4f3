// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/error.hpp"
#include "templates/printable.hpp"

namespace kiln::detail {

/// Runs what the application requested. The text of an Error may quote templates, databases and
/// compilers, and applications print it.
template <class Work>
auto with_printable_errors(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.kind(), printable(error.what()));
  }
}

}  // namespace kiln::detail
