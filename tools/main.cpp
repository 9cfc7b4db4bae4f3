// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "runtime/emulated/device/make_device.hpp"
#include "tools/program.hpp"

int main(int argc, char** argv) {
  // The parent process may have ignored it, and that is inherited; a tuning run must see how its
  // workers end.
  std::signal(SIGCHLD, SIG_DFL);
  // A limit on file sizes is then an error of the write, with a text, and not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  kiln::emulated::register_emulator();
  return kiln::tools::Program(kiln::tools::asked_operation(argc, argv)).run(argc, argv);
}
