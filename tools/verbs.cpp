// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs.hpp"

namespace kiln::tools {

// Each is defined in the verb's own cmd_*.cpp.
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
      {"tune",
       kMeasuring,
       "GPU or emulated; none with --compile-only",
       "Find the fastest kernel for a problem and keep it",
       "Candidates that already have an outcome in the database are not tried again, so the same "
       "command continues where the last run stopped.",
       {"kiln tune gemm --m 4096 --n 4096 --k 4096 --dtype f16",
        "kiln tune gemm --m 8192 --n 8192 --k 8192 --dtype bf16 --layout nt --budget 2m",
        "kiln tune gemm --m 512 --n 512 --k 512 --templates gemm_wmma --set tile_m=64,128",
        "kiln tune --suite shapes.txt --budget 30s --json > tuned.json",
        "kiln tune --stale --budget 10s",
        "kiln tune gemm --m 1024 --n 1024 --k 1024 --device emulated:h200",
        "kiln tune gemm --m 1024 --n 1024 --k 1024 --compile-only --arch sm_90a"},
       add_tune},
      {"bench",
       kMeasuring,
       kAnyDevice,
       "Verify a kernel and time it, alternating with cuBLASLt",
       "The kernel is the one that an application would get, or the one that --template and --set "
       "choose.",
       {"kiln bench gemm --m 4096 --n 4096 --k 4096 --dtype f16 --against cublaslt",
        "kiln bench --suite shapes.txt --against cublaslt --tune 10s",
        "kiln bench gemm --m 512 --n 512 --k 512 --template gemm_wmma --set stages=2,copy=0"},
       add_bench},
      {"run",
       kMeasuring,
       kAnyDevice,
       "Get a kernel as an application does, run it on random data and check the result",
       "",
       {"kiln run gemm --m 4096 --n 4096 --k 4096 --dtype f16",
        "kiln run gemm --m 300 --n 200 --k 100 --lda 104 --beta 1 --mode require",
        "kiln run gemm --m 256 --n 256 --k 256 --device emulated:h200"},
       add_run},
      {"templates",
       kKernels,
       kNoDevice,
       "List the templates, or describe one with its tunables and requirements",
       "For a problem it also counts the valid configurations and names the default.",
       {"kiln templates", "kiln templates gemm_wmma",
        "kiln templates gemm_wmma --m 4096 --n 4096 --k 4096 --dtype f16 --arch sm_90a"},
       add_templates},
      {"operations",
       kKernels,
       kNoDevice,
       "List the operations, or describe one: what its problems consist of and what they cost",
       "",
       {"kiln operations", "kiln operations gemm", "kiln operations --json"},
       add_operations},
      {"adopt",
       kKernels,
       kNoDevice,
       "Write the front matter that a kernel of your own needs, as far as its source tells it",
       "It is two files: the operation that the kernel computes, and the kernel as a template, "
       "unchanged. FILL_IN stands for what the source does not tell, CHECK before a guess. No "
       "file that is there is overwritten.",
       {"kiln adopt vector_add.cu", "kiln adopt vector_add.cu --into kernels --operation sum",
        "kiln adopt reduction.cu --kernel sum_blocks --kernel sum_partials --into kernels"},
       add_adopt},
      {"render",
       kKernels,
       kNoDevice,
       "Print the self-contained CUDA text of one configuration",
       "--set fixes some tunables; the others stay as close to their defaults as is valid.",
       {"kiln render gemm_wmma --set tile_m=128,tile_n=64 --arch sm_90a",
        "kiln render gemm_naive --dtype f64 --layout nt -o naive.cu"},
       add_render},
      {"verify",
       kKernels,
       kEmulated,
       "Check one kernel: its results and, when emulated, every access, barrier and wait",
       "Each finding is named with kernel, block, thread, address and source line. The kernel is "
       "the one that an application would get, or the one that --template and --set choose. The "
       "device is emulated:h200 unless --device or KILN_DEVICE names another.",
       {"kiln verify gemm --m 4096 --n 4096 --k 4096 --dtype f16",
        "kiln verify gemm --m 300 --n 200 --k 100 --template gemm_wmma --set stages=2,copy=0",
        "kiln verify gemm --m 512 --n 512 --k 512 --template-path ./kernels --template mine",
        "kiln verify gemm --m 4096 --n 4096 --k 4096 --device cuda:0"},
       add_verify},
      {"inspect",
       kKernels,
       kEmulated,
       "Profile one kernel by source line, without a GPU",
       "It counts instructions by unit, sectors of global memory, and wavefronts and bank "
       "conflicts "
       "of shared memory, and predicts the time. The kernel is the one that an application would "
       "get, or the one that --template and --set choose. The device is emulated:h200 unless "
       "--device or KILN_DEVICE names another emulated one.",
       {"kiln inspect gemm --m 4096 --n 4096 --k 4096 --dtype f16 --source",
        "kiln inspect gemm --m 4096 --n 4096 --k 4096 --template gemm_wmma --set pad=0,stages=2",
        "kiln inspect gemm --m 512 --n 512 --k 512 --dtype f32 --clusters 0 --json"},
       add_inspect},
      {"list",
       kResults,
       kNoDevice,
       "List every problem in the database with its best kernel",
       "",
       {"kiln list", "kiln list --on H200", "kiln list --db results.db --json"},
       add_list},
      {"show",
       kResults,
       kNoDevice,
       "Show what the database knows of one problem",
       "That is the best kernel, outcomes by kind, what an application would get and why, the top "
       "candidates, the sessions, and the C++ that uses the kernel.",
       {"kiln show gemm --m 4096 --n 4096 --k 4096 --dtype f16",
        "kiln show gemm --m 4096 --n 4096 --k 4096 --dtype f16 --all --on H200",
        "kiln show gemm --m 4096 --n 4096 --k 4096 --dtype f16 --json"},
       add_show},
      {"export",
       kResults,
       kNoDevice,
       "Write a kernel as one .cu file, or the database as JSON lines",
       "The kernel is the best one stored, or the one that --template and --set choose; plain nvcc "
       "compiles it.",
       {"kiln export gemm --m 4096 --n 4096 --k 4096 --dtype f16 -o best.cu",
        "kiln export gemm --m 512 --n 512 --k 512 --template gemm_tiled --set tile_m=64",
        "kiln export --database -o trials.jsonl"},
       add_export},
      {"import",
       kResults,
       kNoDevice,
       "Add trials and sessions that `kiln export --database` wrote",
       "",
       {"kiln import trials.jsonl", "ssh box kiln export --database | kiln import -"},
       add_import},
      {"merge",
       kResults,
       kNoDevice,
       "Add what other databases know to one",
       "",
       {"kiln merge all.db node0.db node1.db",
        "kiln merge ~/.local/share/kiln/tuning.db theirs.db"},
       add_merge},
      {"prune",
       kResults,
       kNoDevice,
       "Remove old trials, and compiled kernels beyond a size",
       "The best trials of each problem and device stay, and so do those of the newest session.",
       {"kiln prune --older 30d --keep-best 5", "kiln prune --older 0s --keep-best 1 --dry-run",
        "kiln prune --cubins 256MiB"},
       add_prune},
      {"doctor",
       kMachine,
       kNoDevice,
       "Check driver, compiler, device, database and settings, each with a remedy",
       "",
       {"kiln doctor", "kiln doctor --json", "kiln doctor --db team.db --template-path ./kernels",
        "kiln doctor --save-profile mine.toml"},
       add_doctor},
      {"devices",
       kMachine,
       kNoDevice,
       "List the GPUs and the emulated devices that --device can name",
       "The default is what --device or KILN_DEVICE names, a profile of your own included; without "
       "either it is the first GPU.",
       {"kiln devices", "kiln devices --device emulated:./mine.toml", "kiln devices --json"},
       add_devices},
      {"worker",
       kHidden,
       kAnyDevice,
       "Serve a tuning run on standard input and output",
       "",
       {},
       add_worker},
  };
  return all;
}

const std::vector<std::string>& first_commands() {
  static const std::vector<std::string> commands{
      "kiln doctor", "kiln tune gemm --m 4096 --n 4096 --k 4096 --dtype f16",
      "kiln show gemm --m 4096 --n 4096 --k 4096 --dtype f16",
      "kiln bench gemm --m 4096 --n 4096 --k 4096 --dtype f16 --against cublaslt",
      "kiln export gemm --m 4096 --n 4096 --k 4096 --dtype f16 -o best.cu"};
  return commands;
}

}  // namespace kiln::tools
