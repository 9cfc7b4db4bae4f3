// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/verbs.hpp"

#include "tools/command_line/examples.hpp"

namespace kiln::tools {

// Each is defined in the verb's own file beside this one.
Action add_adopt(CLI::App& verb, const Operation& operation);
Action add_bench(CLI::App& verb, const Operation& operation);
Action add_devices(CLI::App& verb, const Operation& operation);
Action add_doctor(CLI::App& verb, const Operation& operation);
Action add_export(CLI::App& verb, const Operation& operation);
Action add_import(CLI::App& verb, const Operation& operation);
Action add_inspect(CLI::App& verb, const Operation& operation);
Action add_list(CLI::App& verb, const Operation& operation);
Action add_merge(CLI::App& verb, const Operation& operation);
Action add_operations(CLI::App& verb, const Operation& operation);
Action add_prune(CLI::App& verb, const Operation& operation);
Action add_render(CLI::App& verb, const Operation& operation);
Action add_run(CLI::App& verb, const Operation& operation);
Action add_show(CLI::App& verb, const Operation& operation);
Action add_templates(CLI::App& verb, const Operation& operation);
Action add_tune(CLI::App& verb, const Operation& operation);
Action add_verify(CLI::App& verb, const Operation& operation);
Action add_worker(CLI::App& verb, const Operation& operation);
Action add_compiler(CLI::App& verb, const Operation& operation);

namespace {

constexpr const char* kMeasuring = "Tuning and measuring";
constexpr const char* kKernels = "Kernels";
constexpr const char* kResults = "Results";
constexpr const char* kMachine = "This machine";
constexpr const char* kHidden = "";

constexpr const char* kNoDevice = "none";
constexpr const char* kAnyDevice = "GPU or emulated";
constexpr const char* kEmulated = "emulated by default";

}  // namespace

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all{
      {"tune", kMeasuring, "GPU or emulated; none with --compile-only",
       "Find the fastest kernel for a problem and keep it",
       "Candidates that already have an outcome in the database are not tried again, so the same "
       "command continues where the last run stopped.",
       examples("tune"), add_tune},
      {"bench", kMeasuring, kAnyDevice, "Verify a kernel and time it, alternating with cuBLASLt",
       "The kernel is the one that an application would get, or the one that --template and --set "
       "choose.",
       examples("bench"), add_bench},
      {"run", kMeasuring, kAnyDevice,
       "Get a kernel as an application does, run it and check the result", "", examples("run"),
       add_run},
      {"templates", kKernels, kNoDevice, "List the templates, or describe one",
       "The description has tunables and requirements. For a problem it also counts the valid "
       "configurations and names the default.",
       examples("templates"), add_templates},
      {"operations", kKernels, kNoDevice, "List the operations, or describe one",
       "The description says what a problem consists of, and what it costs.",
       examples("operations"), add_operations},
      {"adopt", kKernels, kNoDevice, "Write the front matter that a kernel of your own needs",
       "Two files are written: the operation that the kernel computes, and the kernel as a "
       "template, unchanged. FILL_IN marks what the source does not say, CHECK marks a guess. "
       "Existing files are kept.",
       examples("adopt"), add_adopt},
      {"render", kKernels, kNoDevice, "Print the self-contained CUDA text of one configuration",
       "--set fixes some tunables; the others stay as close to their defaults as is valid.",
       examples("render"), add_render},
      {"verify", kKernels, kEmulated,
       "Check a kernel's results, memory accesses, barriers and waits",
       "A GPU shows results only; an emulated one watches every access. Each finding names kernel, "
       "block, thread, place in memory and source line. The kernel is the one that an application "
       "would get, or the one that --template and --set choose. The device is emulated:h200 unless "
       "--device or KILN_DEVICE names another.",
       examples("verify"), add_verify},
      {"inspect", kKernels, kEmulated, "Profile one kernel by source line, without a GPU",
       "It counts instructions by unit, sectors of global memory, and wavefronts and bank "
       "conflicts of shared memory, and predicts the time. The kernel is the one that an "
       "application would "
       "get, or the one that --template and --set choose. The device is emulated:h200 unless "
       "--device or KILN_DEVICE names another emulated one.",
       examples("inspect"), add_inspect},
      {"list", kResults, kNoDevice, "List every problem in the database with its best kernel", "",
       examples("list"), add_list},
      {"show", kResults, kNoDevice, "Show what the database knows of one problem",
       "That is the best kernel, outcomes by kind, what an application would get and why, the top "
       "candidates, the sessions, and the C++ that uses the kernel.",
       examples("show"), add_show},
      {"export", kResults, kNoDevice,
       "Write a kernel as one .cu file, or the database as JSON lines",
       "The kernel is the best one stored, or the one that --template and --set choose; plain nvcc "
       "compiles it.",
       examples("export"), add_export},
      {"import", kResults, kNoDevice, "Add what `kiln export --database` wrote", "",
       examples("import"), add_import},
      {"merge", kResults, kNoDevice, "Add what other databases know to one", "", examples("merge"),
       add_merge},
      {"prune", kResults, kNoDevice, "Remove old trials, and compiled kernels beyond a size",
       "The best trials of each problem and device stay, and so do those of the newest session.",
       examples("prune"), add_prune},
      {"doctor", kMachine, kNoDevice, "Check driver, compiler, device, database and settings",
       "Each fault comes with a remedy.", examples("doctor"), add_doctor},
      {"devices", kMachine, kNoDevice,
       "List the GPUs and the emulated devices that --device can name",
       "The default is what --device or KILN_DEVICE names, a profile of your own included; without "
       "either it is the first GPU.",
       examples("devices"), add_devices},
      {"worker",
       kHidden,
       kAnyDevice,
       "Serve a tuning run on standard input and output",
       "",
       {},
       add_worker},
      {"compiler",
       kHidden,
       kNoDevice,
       "Compile for a tuning run on standard input and output",
       "",
       {},
       add_compiler},
  };
  return all;
}

const std::vector<std::string>& first_commands() {
  static const std::vector<std::string> commands = examples("first");
  return commands;
}

}  // namespace kiln::tools
