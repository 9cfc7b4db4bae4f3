// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace kiln {

/// A function that a shared library takes from others, by its name, and what is called instead.
struct Redirection {
  const char* symbol;
  void* replacement;
};

/// From here on calls of the loaded library `handle` (of dlopen) to these functions go to their
/// replacements; calls of all other code stay as they are. A function that the library does not
/// import is left out: it cannot call it. The library must have been loaded with RTLD_NOW, and the
/// code that holds the replacements stays loaded for good. Returns "", or why it could not be done.
/// Doing it again is harmless. Thread-safe.
[[nodiscard]] std::string redirect_imports(void* handle, std::span<const Redirection> redirections);

}  // namespace kiln
