// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/program.hpp"

int main(int argc, char** argv) {
  return kiln::tools::Program().run(argc, argv);
}
