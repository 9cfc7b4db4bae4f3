// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kiln {

/// A function that a shared library imports, by name, and its replacement.
struct Redirection {
  const char* symbol;
  void* replacement;
};

/// From here on calls of the loaded library `handle` (of dlopen) to these functions go to their
/// replacements; calls of all other code are unaffected. A function that the library does not
/// import is skipped: it cannot call it. The library must have been loaded with RTLD_NOW, and the
/// code that contains the replacements stays loaded for good. Returns "", or why it failed.
/// Doing it again is harmless. Thread-safe. `found` receives the symbols that it imports.
[[nodiscard]] std::string redirect_imports(void* handle, std::span<const Redirection> redirections,
                                           std::vector<std::string>* found = nullptr);

}  // namespace kiln
