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
Action add_replay(CLI::App& verb, const Operation& operation);
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
constexpr const char* kAnyDevice = "real or emulated GPU";
constexpr const char* kEmulatedByDefault = "emulated GPU by default";

}  // namespace

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all{
      {"tune", kMeasuring, "real or emulated GPU (with --compile-only, no GPU is needed)",
       "Find the fastest kernel for a problem and store the result",
       "A run skips candidates that already have a result in the database. To continue "
       "where the last run stopped, repeat the command.",
       examples("tune"), add_tune},
      {"bench", kMeasuring, kAnyDevice, "Verify a kernel, then compare its time with cuBLASLt's",
       "By default, bench uses the kernel that an application would get. To choose another "
       "kernel, name its template with --template and fix tunables with --set.",
       examples("bench"), add_bench},
      {"run", kMeasuring, kAnyDevice,
       "Run the kernel that an application would get, and check its result", "", examples("run"),
       add_run},
      {"templates", kKernels, kNoDevice, "List the templates, or describe one",
       "The description lists tunables and requirements. If you give a problem, the description "
       "also contains the number of valid configurations and the default configuration.",
       examples("templates"), add_templates},
      {"operations", kKernels, kNoDevice, "List the operations, or describe one",
       "The description lists the sizes, types, operands and tolerances of a problem. It also "
       "shows how to compute the flops and bytes of one run.",
       examples("operations"), add_operations},
      {"adopt", kKernels, kNoDevice, "Write the files that Kiln needs to tune a kernel of your own",
       "adopt writes two files: an operation that declares what the kernel computes, and a "
       "template that contains the unchanged kernel. adopt writes FILL_IN where the source does "
       "not state a fact. Replace each FILL_IN. A comment with CHECK marks a guess of adopt. adopt "
       "never overwrites a file.",
       examples("adopt"), add_adopt},
      {"render", kKernels, kNoDevice,
       "Print self-contained CUDA source for one template configuration",
       "--set fixes some tunables. The other tunables stay as close to their defaults as the "
       "requirements allow.",
       examples("render"), add_render},
      {"verify", kKernels, kEmulatedByDefault,
       "Check a kernel's results, memory accesses, barriers and waits",
       "On a real GPU, verify checks only the results. On an emulated GPU, verify also checks "
       "every memory access, barrier and wait. Each finding names the kernel, block, thread, "
       "memory location and source line. By default, verify uses the kernel that an application "
       "would get. To choose another kernel, name its template with --template and fix tunables "
       "with --set. The default device is emulated:h200. --device or KILN_DEVICE names another "
       "device.",
       examples("verify"), add_verify},
      {"inspect", kKernels, "emulated GPU", "Profile a kernel line by line on an emulated GPU",
       "inspect counts the instructions of each execution unit. For global accesses, it counts "
       "sectors. For shared-memory accesses, it counts wavefronts and bank conflicts. From these "
       "counts, inspect predicts the time of the launch. By default, inspect uses the kernel that "
       "an application would get. To choose another kernel, name its template with "
       "--template and fix tunables with --set. The default device is emulated:h200. --device or "
       "KILN_DEVICE names another emulated GPU.",
       examples("inspect"), add_inspect},
      {"list", kResults, kNoDevice, "List the problems in the database, each with its best kernel",
       "", examples("list"), add_list},
      {"show", kResults, kNoDevice, "Show the database's results for one problem",
       "show prints the best kernel, the top candidates, and the number of candidates with each "
       "outcome. It lists the tuning runs of the problem. It also prints the kernel that an "
       "application would get, the reason for this choice, and the C++ code that uses the kernel.",
       examples("show"), add_show},
      {"export", kResults, kNoDevice,
       "Write a kernel as one .cu file, or trials in several formats",
       "By default, export writes the best stored kernel. To choose another kernel, name its "
       "template with --template and fix tunables with --set. The .cu file does not need "
       "Kiln's headers. With --database or --format, export writes trials.",
       examples("export"), add_export},
      {"import", kResults, kNoDevice, "Add results of another database or another autotuner",
       "import reads JSON lines that `kiln export --database` wrote. With a problem and a "
       "template, "
       "import reads a cache file of Kernel Tuner or a T4 file, which may be compressed with gzip. "
       "Kiln has not verified such results: they only decide what `kiln tune` tries first.",
       examples("import"), add_import},
      {"merge", kResults, kNoDevice, "Add the results of other databases to one database", "",
       examples("merge"), add_merge},
      {"prune", kResults, kNoDevice, "Remove old trials, and shrink the store of compiled kernels",
       "For each problem and device, prune keeps the best trials and all trials of the newest "
       "tuning run.",
       examples("prune"), add_prune},
      {"doctor", kMachine, kNoDevice, "Check driver, compiler, device, database and settings",
       "doctor prints a remedy for each fault.", examples("doctor"), add_doctor},
      {"replay", kMachine, kNoDevice,
       "Count the evaluations that a strategy needs in a measured space",
       "The table shows how many configurations a strategy had to evaluate until it found one with "
       "95 % (98 %) of the best speed: the median over all runs, and how many runs got there.",
       examples("replay"), add_replay},
      {"devices", kMachine, kNoDevice, "List the GPUs and emulated GPUs that --device accepts",
       "To choose a device, use --device or KILN_DEVICE. To emulate a GPU from your own "
       "device profile, use --device emulated:FILE. By default, verify and inspect use "
       "emulated:h200, and other verbs use the first GPU.",
       examples("devices"), add_devices},
      {"worker",
       kHidden,
       kAnyDevice,
       "Run kernels for a tuning run: read requests from stdin, write answers to stdout",
       "",
       {},
       add_worker},
      {"compiler",
       kHidden,
       kNoDevice,
       "Compile kernels for a tuning run: read requests from stdin, write answers to stdout",
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
