// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The worker process of the tests here: serves the first GPU.

#include <unistd.h>

#include "tuner/evaluator.hpp"

int main() {
  return kiln::worker_main(STDIN_FILENO, STDOUT_FILENO, [] { return kiln::open_device("cuda:0"); });
}
