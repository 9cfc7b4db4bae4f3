// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>

#include "runtime/device.hpp"
#include "tools/program.hpp"
#include "tuner/evaluator.hpp"

namespace kiln::tools {

void add_worker(Program& program) {
  CLI::App* verb = program.add_verb("worker", "Serve a tuning run on standard input and output",
                                    {"kiln worker --device cuda:0"});
  verb->group("");  // started by `kiln tune`, of no use to a person
  program.set_action(verb, [](Context& context) {
    // Ctrl-C is for the parent, which ends the run and closes the pipe when it is ready.
    std::signal(SIGINT, SIG_IGN);
    const auto spec = context.device().value;
    return worker_main(STDIN_FILENO, STDOUT_FILENO, [spec] { return open_device(spec); });
  });
}

}  // namespace kiln::tools
