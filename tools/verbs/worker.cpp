// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>

#include "runtime/device.hpp"
#include "tools/verbs/verbs.hpp"
#include "tuner/compile/process_compiler.hpp"
#include "tuner/evaluator.hpp"

namespace kiln::tools {

Action add_worker(CLI::App& /*verb*/, const Operation& /*operation*/) {
  return [](Context& context) {
    // Ctrl-C is for the parent, which ends the run and closes the pipe when it is ready.
    std::signal(SIGINT, SIG_IGN);
    const auto spec = context.device().value;
    return worker_main(STDIN_FILENO, STDOUT_FILENO, [spec] { return open_device(spec); });
  };
}

Action add_compiler(CLI::App& /*verb*/, const Operation& /*operation*/) {
  return [](Context& context) {
    std::signal(SIGINT, SIG_IGN);
    return compiler_main(STDIN_FILENO, STDOUT_FILENO, [&](const ProcessCompiler::Warn& warn) {
      return make_nvrtc_compiler(context.cuda_include().value, SystemHeaders::precompile, warn);
    });
  };
}

}  // namespace kiln::tools
