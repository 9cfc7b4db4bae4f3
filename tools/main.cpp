// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <csignal>

#include "runtime/emulated/device/make_device.hpp"
#include "tools/program.hpp"

namespace {

/// Blocks of emulated kernels come and go by the thousand. Giving their memory back to the system
/// and asking for it again took a quarter of the time of `kiln verify`.
void keep_freed_memory() {
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  // The parent process may have ignored it, and that is inherited; a tuning run must see how its
  // workers end.
  std::signal(SIGCHLD, SIG_DFL);
  // A limit on file sizes is then an error of the write, with a text, and not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  kiln::emulated::register_emulator();
  return kiln::tools::Program(kiln::tools::asked_operation(argc, argv)).run(argc, argv);
}
