// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/nvrtc_surroundings.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "runtime/import_table.hpp"

namespace kiln {
namespace {

using Handler = void (*)(int);

thread_local const char* temporary_folder = nullptr;

/// In place of sigaction(): reports, and changes nothing.
int keep_action(int number, const struct sigaction*, struct sigaction* current) {
  return current == nullptr ? 0 : ::sigaction(number, nullptr, current);
}

/// In place of signal().
Handler keep_handler(int number, Handler) {
  struct sigaction current {};
  if (::sigaction(number, nullptr, &current) != 0) return SIG_ERR;
  return (current.sa_flags & SA_SIGINFO) != 0 ? SIG_DFL : current.sa_handler;
}

/// In place of getenv().
char* setting(const char* name) {
  if (temporary_folder != nullptr && std::strcmp(name, "TMPDIR") == 0) {
    return const_cast<char*>(temporary_folder);
  }
  return std::getenv(name);
}

}  // namespace

std::string shield_process_from_nvrtc(void* handle) {
  const std::array redirections{Redirection{"signal", reinterpret_cast<void*>(&keep_handler)},
                                Redirection{"sigaction", reinterpret_cast<void*>(&keep_action)},
                                Redirection{"getenv", reinterpret_cast<void*>(&setting)}};
  return redirect_imports(handle, redirections);
}

NvrtcTemporaries::NvrtcTemporaries(const char* folder) {
  temporary_folder = folder;
}

NvrtcTemporaries::~NvrtcTemporaries() {
  temporary_folder = nullptr;
}

}  // namespace kiln
