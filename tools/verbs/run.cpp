// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/files/locations.hpp"
#include "kiln/kiln.hpp"
#include "runtime/cuda/device_info.hpp"
#include "runtime/device.hpp"
#include "runtime/library/warning_sink.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/command_line/whole_number.hpp"
#include "tools/output/json.hpp"
#include "tools/output/table.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/units.hpp"
#include "tools/typed_tools.hpp"
#include "tools/verbs/declared_run.hpp"
#include "tools/verbs/launch_limit.hpp"
#include "tools/verbs/verbs.hpp"
#include "tuner/verify/oracle.hpp"

namespace kiln::tools {
namespace {

constexpr int kTimedLaunches = 20;

/// What an emulated GPU does in some seconds; beyond that a person should know what it is at.
constexpr double kSilentProducts = 4e9;

struct RunOptions {
  ProblemFlags problem;
  std::string mode;
  std::string log;
  std::string timeout;
  std::optional<int> repeat;
  std::uint64_t seed = 1;
};

void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw Error(ErrorKind::device, fmt::format("{}: {}", what, cudaGetErrorString(status)));
}

/// Milliseconds that `enqueue` takes on the device, by two events around it.
template <class Enqueue>
double device_ms(const Enqueue& enqueue) {
  cudaEvent_t start = nullptr;
  cudaEvent_t stop = nullptr;
  check_cuda(cudaEventCreate(&start), "creating an event");
  check_cuda(cudaEventCreate(&stop), "creating an event");
  check_cuda(cudaEventRecord(start, nullptr), "recording an event");
  enqueue();
  check_cuda(cudaEventRecord(stop, nullptr), "recording an event");
  check_cuda(cudaEventSynchronize(stop), "running the kernel");
  float ms = 0.0F;
  check_cuda(cudaEventElapsedTime(&ms, start, stop), "reading an event");
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return static_cast<double>(ms);
}

LibraryOptions library_options(const Context& context, const RunOptions& run) {
  LibraryOptions options;
  options.database = context.flags.database;
  options.cubin_store = context.flags.cubin_store;
  options.template_path = split_list(context.flags.template_path, ':');
  options.include = split_list(context.flags.include, ':');
  options.cuda_include = context.flags.cuda_include;
  options.device = context.flags.device;
  if (!run.mode.empty()) {
    options.mode = parse_mode(run.mode);
    if (!options.mode) {
      throw Error(ErrorKind::usage, fmt::format("--mode {} is not a mode; the modes are {}",
                                                run.mode, fmt::join(kModeNames, ", ")));
    }
  }
  options.log = run.log;
  const std::string level = run.log.empty() ? environment_setting("KILN_LOG") : run.log;
  if (level != detail::kLogLevels[0]) {
    options.on_warning = [&context](std::string_view text) { context.warn(text); };
  }
  return options;
}

/// What one run found, for either form of output.
struct RunReport {
  Problem problem;
  std::string device;
  bool emulated = false;
  RunCheck check;
  double first_launch_ms = 0.0;  ///< library open to first result, without the operands' way there
  std::vector<double> times_ns;
  LibraryCounters counters;

  [[nodiscard]] double best_ns() const {
    return times_ns.empty() ? 0.0 : *std::min_element(times_ns.begin(), times_ns.end());
  }
};

Json report_json(const RunReport& report, const AnyKernel& kernel) {
  Json document = json_document("run");
  document["problem"] = to_json(report.problem);
  document["device"] = report.device;
  document["emulated"] = report.emulated;
  document["match"] = to_string(kernel.match());
  document["match_reason"] = kernel.match_reason();
  document["template"] = kernel.template_name();
  document["config"] = to_json(Config::parse(kernel.config()));
  document["verified"] = report.check.wrong == 0;
  document["elements_checked"] = report.check.checked;
  document["elements_wrong"] = report.check.wrong;
  document["worst_ratio"] = report.check.worst_ratio;
  document["first_result_ms"] = report.first_launch_ms;
  document["times_ns"] = report.times_ns;
  if (!report.times_ns.empty()) {
    document["tflops"] = tera_flops(report.problem, report.best_ns());
    document["gbytes_per_s"] = giga_bytes(report.problem, report.best_ns());
    add_metrics(document, report.problem, report.best_ns());
  }
  document["compiles"] = report.counters.compiles;
  document["cubin_hits"] = report.counters.cubin_hits;
  document["database_reads"] = report.counters.database_reads;
  return document;
}

std::string report_text(const RunReport& report, const AnyKernel& kernel) {
  const auto& check = report.check;
  FactSheet facts;
  if (kernel.template_name().empty()) {
    facts.add("template", "none");
  } else {
    facts.add("template", std::string(kernel.template_name()));
    facts.add("config", std::string(kernel.config()));
  }
  facts.add("match", fmt::format("{}: {}", to_string(kernel.match()), kernel.match_reason()));
  facts.add("verified", check.wrong == 0
                            ? fmt::format("yes, {} elements, {}",
                                          count_text(static_cast<std::uint64_t>(check.checked)),
                                          error_text(check.worst_ratio))
                            : fmt::format("NO: {} of {} elements wrong{}; the first error: {}",
                                          check.wrong, check.checked,
                                          excess_text(check.worst_ratio,
                                                      static_cast<std::uint64_t>(check.wrong)),
                                          check.evidence));
  if (check.wrong == 0) {
    facts.add("checks",
              "Kiln checked only the results of this run; `kiln verify` also looks for races and "
              "missing waits");
  }
  if (!report.times_ns.empty()) {
    facts.add(
        "time",
        fmt::format(
            "{} (shortest of {} launches, with warm caches; `kiln bench` measures more exactly)",
            time_text(report.best_ns()), report.times_ns.size()));
    facts.add("rate", rates_text(report.problem, report.best_ns()));
  }
  if (report.emulated) {
    facts.add("time", "none: an emulated GPU measures no time; `kiln inspect` predicts the time");
  }
  facts.add("start", fmt::format("{:.1f} ms from opening the library to the first result",
                                 report.first_launch_ms));
  facts.add("counters",
            fmt::format("{} compiled and {} loaded from the cubin store; {}",
                        counted(report.counters.compiles, "kernel"), report.counters.cubin_hits,
                        counted(report.counters.database_reads, "database read")));
  return fmt::format("{} on {}\n{}", heading_text(report.problem), report.device, facts.text());
}

/// Opens the CUDA device before the library does: its context is not the library's doing.
void open_context(const Context& context) {
  const auto spec = context.device().value;
  // Says what is wrong with the name, or with the machine.
  const auto ordinal = parse_device_spec(spec);
  if (!ordinal) static_cast<void>(open_device(spec));
  require_device(*ordinal);
  check_cuda(cudaSetDevice(*ordinal), "choosing the device");
  check_cuda(cudaFree(nullptr), "opening the device");
}

/// What the library does until a first result, without the time that making data takes.
class StartClock {
 public:
  void run(const std::function<void()>& part) {
    const auto begin = std::chrono::steady_clock::now();
    part();
    time_ += std::chrono::steady_clock::now() - begin;
  }
  [[nodiscard]] double ms() const {
    return std::chrono::duration<double, std::milli>(time_).count();
  }

 private:
  std::chrono::steady_clock::duration time_{};
};

std::unique_ptr<ProblemRun> make_run(Context& context, const ProblemCase& one, std::uint64_t seed) {
  if (const auto* const typed = find_typed_tools(one.problem.operation)) {
    return typed->run(one, seed);
  }
  return std::make_unique<DeclaredRun>(context, one, seed);
}

void note_of_patience(const Context& context, double products) {
  if (products <= kSilentProducts) return;
  context.note(fmt::format(
      "the emulated GPU runs {} multiply-adds on this machine's CPU. This takes a while",
      count_text(static_cast<std::uint64_t>(products))));
}

/// How long launches may take. An emulated GPU is as slow as its problem is large.
double limit_s(const RunOptions& options, bool emulated, double products) {
  constexpr double kUsualSeconds = 60.0;
  constexpr double kSlowProductsPerSecond = 2e7;
  if (!options.timeout.empty()) return parse_limit_s("--timeout", options.timeout);
  return kUsualSeconds + (emulated ? products / kSlowProductsPerSecond : 0.0);
}

int run_problem(Context& context, const RunOptions& options) {
  const ProblemCase one = options.problem.request();
  const bool emulated = names_emulated_device(context.device().value);
  const double most_s = limit_s(options, emulated, one.products);
  if (!emulated) open_context(context);
  RunReport report;
  report.problem = one.problem;
  StartClock clock;
  std::optional<Library> library;
  const auto run = make_run(context, one, options.seed);
  const AnyKernel* kernel = nullptr;
  clock.run([&] {
    library = Library::open(library_options(context, options));
    kernel = &run->get(*library);
  });
  report.device = library->device_description();
  report.emulated = library->is_emulated();

  run->make_operands(*library);
  if (report.emulated) note_of_patience(context, one.products);
  const std::string kernel_text = fmt::format("the kernel {}", kernel->template_name());
  clock.run([&] {
    const LaunchLimit limit(most_s, kernel_text, context.flags.json);
    try {
      run->launch();
      library->synchronize();
    } catch (const Error& error) {
      if (!report.emulated || error.kind() != ErrorKind::device) throw;
      // An emulated device does not fail; the kernel does.
      std::string words =
          fmt::format("verify {} --template {}", problem_words(one), kernel->template_name());
      if (!kernel->config().empty()) {
        std::string choices(kernel->config());
        std::ranges::replace(choices, ' ', ',');
        words += fmt::format(" --set {}", choices);
      }
      throw Error(ErrorKind::template_, fmt::format("{}. Next: `{}` gives details", error.what(),
                                                    context.command(words)));
    }
  });
  report.first_launch_ms = clock.ms();
  report.check = run->check();

  if (report.emulated && options.repeat) {
    context.note("--repeat has no effect: an emulated GPU measures no time");
  }
  const int launches = report.emulated ? 0 : options.repeat.value_or(kTimedLaunches);
  for (int i = 0; i < launches; ++i) {
    const LaunchLimit limit(most_s, kernel_text, context.flags.json);
    report.times_ns.push_back(1e6 * device_ms([&] { run->launch(); }));
  }
  report.counters = library->counters();
  context.print(context.flags.json ? json_text(report_json(report, *kernel))
                                   : report_text(report, *kernel));
  return report.check.wrong == 0 ? kExitOk : kExitFailure;
}

}  // namespace

Action add_run(CLI::App& verb, const Operation& operation) {
  auto options = std::make_shared<RunOptions>();
  options->problem.add_to(verb, operation, ProblemFlags::Word::required);
  verb.add_option("--mode", options->mode,
                  "What the library does if the problem has no tuned kernel. The default is the "
                  "value of KILN_MODE, or `use` if KILN_MODE is not set")
      ->type_name("MODE");
  verb.add_option("--log", options->log,
                  "What the library prints to stderr. The default is the value of KILN_LOG, or "
                  "`warning` if KILN_LOG is not set")
      ->type_name("LEVEL");
  verb.add_option("--repeat", options->repeat,
                  fmt::format("Number of timed launches after the first launch (default {}; none "
                              "on an emulated device)",
                              kTimedLaunches))
      ->type_name("N")
      ->check(whole_number(0, kMostRepetitions));
  verb.add_option("--timeout", options->timeout,
                  "Time-out of one launch (default 60s; longer for large problems on an emulated "
                  "device)")
      ->type_name("TIME");
  verb.add_option("--seed", options->seed, "Seed for the random data (default 1)")
      ->type_name("N")
      ->check(whole_number(0));
  return [options](Context& context) { return run_problem(context, *options); };
}

}  // namespace kiln::tools
