// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/kernel_loader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/compile/cuda_paths.hpp"
#include "runtime/library/tuner_process.hpp"
#include "templates/printable.hpp"

namespace kiln::detail {
namespace {

std::shared_ptr<Compiler> lazy_compiler(const LibraryParts& parts) {
  return std::make_shared<LazyCompiler>(parts.compiler, remembered_compiler(*parts.cubins));
}

LibraryParts completed(LibraryParts parts) {
  if (!parts.warnings) parts.warnings = std::make_shared<WarningSink>(nullptr, kLogLevels[0]);
  return parts;
}

std::string describe(const Choice& choice) {
  return fmt::format("{} [{}]", choice.kernel_template->name(), choice.config.canonical());
}

/// The code in use comes from another compiler than the measured one: the kernel is as right as
/// before, but its time is not the one that was measured.
void admit_other_toolkit(Choice& choice, const std::string& toolkit) {
  if (choice.match != Match::exact || choice.toolkit.empty() || toolkit == choice.toolkit) return;
  choice.match = Match::same_device_class;
  choice.reason = fmt::format(
      "{} for this problem on this device class, under toolkit {} (now in use: {})",
      choice.provenance == Provenance::modelled ? "predicted" : "tuned", choice.toolkit, toolkit);
}

}  // namespace

std::string template_path_text(const std::vector<std::string>& folders) {
  return folders.empty()
             ? "the template path, which names no folder (set LibraryOptions::template_path "
               "or KILN_TEMPLATE_PATH to the folder of the template files)"
             : fmt::format("the template path {}", fmt::join(folders, ":"));
}

KernelLoader::KernelLoader(LibraryParts parts)
    : parts_(completed(std::move(parts))),
      compiler_(lazy_compiler(parts_), parts_.cubins, chosen_headers(parts_.cuda_include)),
      workspaces_(*parts_.device),
      chooser_(parts_.catalog, parts_.device->info(), parts_.database, parts_.site_databases,
               *parts_.warnings, parts_.objective),
      builder_(parts_.catalog, *parts_.device, compiler_) {}

LibraryCounters KernelLoader::counters() const noexcept {
  return {compiler_.compiles(), compiler_.hits(), database_reads_.load()};
}

void KernelLoader::load(const WantedKernel& wanted) {
  const LibraryWork work;
  const Problem& problem = wanted.problem;
  // May load a compiler, if none ever filled the cubin store: then nothing in the store could
  // save us that.
  const bool asks_database = work_of(problem) == Work::all && parts_.mode != Mode::default_only;
  const std::string toolkit = asks_database ? compiler_.identity() : "";
  Lock lock(mutex_);
  if (wanted.is_loaded()) return;
  if (work_of(problem) == Work::none) return wanted.publish(idle_entry(problem));
  Refusals refusals;
  for (;;) {
    std::optional<Choice> choice = choose(wanted, refusals, toolkit, lock);
    // A thread that waited for the same tuner may have been faster.
    if (wanted.is_loaded()) return;
    database_reads_ = chooser_.database_reads();
    const bool last_resort =
        refusals.usable && (!choice || refusals.candidates.size() >= kMostTries);
    if (last_resort) choice = std::exchange(refusals.usable, std::nullopt);
    if (!choice) refuse_unknown(wanted, refusals);
    BuiltKernel built = build(*choice, problem, lock);
    if (wanted.is_loaded()) return;
    if (built.failure.empty() &&
        (built.drawback.empty() || is_measured_here(choice->match) || last_resort)) {
      admit_other_toolkit(*choice, built.toolkit);
      parts_.warnings->inform(
          fmt::format("{}: {} ({})", problem.canonical(), describe(*choice), choice->reason));
      warn_if_untuned(wanted, *choice);
      warn_if_wrong(wanted, *choice);
      return wanted.publish(make_entry(problem, *choice, std::move(built)));
    }
    refusals.candidates.insert({choice->kernel_template->name(), choice->config});
    if (built.failure.empty()) {
      parts_.warnings->inform(fmt::format("{}: {} may be slow ({}), so Kiln tries another kernel",
                                          problem.canonical(), describe(*choice), built.drawback));
      choice->reason += fmt::format(
          "; every kernel that Kiln tried may be slow, including this one ({})", built.drawback);
      if (!refusals.usable) refusals.usable = std::move(choice);
      continue;
    }
    // An error of the compiler that is the same in two configurations is a mistake in the template.
    if (built.does_not_compile() && choice->match == Match::default_config &&
        built.failure == std::exchange(refusals.failure, built.failure)) {
      refusals.candidates.insert({choice->kernel_template->name(), Config()});
    }
    refusals.latest = fmt::format("{} cannot be used: {}", describe(*choice), built.failure);
    parts_.warnings->warn(WarningKind::candidate, "candidate " + describe(*choice),
                          fmt::format("{}; Kiln uses the next best kernel. Next: correct the "
                                      "template, or tune the problem again",
                                      refusals.latest));
  }
}

std::optional<Choice> KernelLoader::choose(const WantedKernel& wanted, const Refusals& refusals,
                                           const std::string& toolkit, Lock& lock) {
  const Problem& problem = wanted.problem;
  const Refused& refused = refusals.candidates;
  if (work_of(problem) == Work::trivial) {
    return chooser_.plainest(problem, refused, why_nothing_to_tune(problem));
  }
  if (parts_.mode == Mode::default_only) return chooser_.fallback(problem, refused, "");
  Known known;
  if (refused.size() < kMostTries) known = chooser_.stored(problem, toolkit, refused);
  // A prediction is better than nothing, but on a GPU, which can measure, it is not tuning.
  const bool measures = parts_.device->info().provenance == Provenance::measured;
  const auto is_tuned = [&] {
    const std::optional<Choice>& choice = known.choice;
    if (!choice || (measures && choice->provenance == Provenance::modelled)) return false;
    return choice->match == Match::exact || choice->match == Match::same_device_class;
  };
  if (parts_.mode == Mode::tune_on_miss && !is_tuned() && tune(wanted, lock)) {
    known = chooser_.stored(problem, toolkit, refused);
  }
  if (parts_.mode == Mode::require && !is_tuned()) refuse_untuned(wanted, refusals);
  if (known.choice) return known.choice;
  return refused.size() < kMostTries ? chooser_.predicted(problem, refused, known.unavailable)
                                     : chooser_.fallback(problem, refused, known.unavailable);
}

BuiltKernel KernelLoader::build(const Choice& choice, const Problem& problem, Lock& lock) {
  const std::string name = KernelBuilder::code_name(choice, problem);
  // One thread compiles the code; should that fail, the next one tries for itself.
  compiled_.wait(lock, [&] { return builder_.holds(name) || !compiling_.contains(name); });
  if (builder_.holds(name)) return builder_.build(choice, problem, {});
  compiling_.insert(name);
  KernelCode code;
  const auto without_lock = [&](const auto& compile) {
    lock.unlock();
    try {
      code = compile();
    } catch (...) {
      lock.lock();
      throw;
    }
    lock.lock();
  };
  BuiltKernel built;
  std::exception_ptr fault;
  try {
    without_lock([&] { return builder_.compile(choice, problem); });
    for (;;) {
      built = builder_.build(choice, problem, code);
      if (!built.is_stale) break;
      without_lock([&] { return builder_.compile_again(std::move(code)); });
    }
  } catch (...) {
    fault = std::current_exception();
  }
  compiling_.erase(name);
  compiled_.notify_all();
  if (fault) std::rethrow_exception(fault);
  return built;
}

void KernelLoader::refuse_unknown(const WantedKernel& wanted, const Refusals& refusals) const {
  const Problem& problem = wanted.problem;
  const std::vector<std::string> reasons = chooser_.why_none(problem, refusals.candidates);
  std::string why = reasons.empty()
                        ? fmt::format("no template of {} exists in {}", problem.operation,
                                      template_path_text(parts_.template_path))
                        : fmt::format("{}", fmt::join(reasons, "; "));
  if (const BrokenFile* const broken = parts_.catalog.find_broken(problem.operation)) {
    why += fmt::format("; Kiln ignores this broken file: {}", broken->error.what());
  }
  if (!refusals.latest.empty()) {
    why += fmt::format(" (last failure: {}). Next: try more configurations with: {}",
                       refusals.latest, command_that_tunes(wanted));
  }
  throw Error(ErrorKind::not_found,
              fmt::format("no template computes {}: {}", problem.canonical(), why));
}

void KernelLoader::refuse_untuned(const WantedKernel& wanted, const Refusals& refusals) const {
  const Problem& problem = wanted.problem;
  const std::string place =
      fmt::format("for {} on {}{}", problem.canonical(),
                  parts_.device->info().device_class.canonical(),
                  parts_.database.empty() ? "" : " in the database " + parts_.database) +
      (parts_.objective.is_time() ? "" : ", by the objective " + parts_.objective.canonical());
  const std::string fault =
      refusals.candidates.empty()
          ? fmt::format("there is no tuned kernel {}", place)
          : fmt::format(
                "Kiln tried {} tuned kernel{} {}, but none works on this machine (last failure: "
                "{})",
                refusals.candidates.size(), refusals.candidates.size() == 1 ? "" : "s", place,
                refusals.latest);
  throw Error(ErrorKind::not_found, fmt::format("{}. Next: tune the problem with: {}", fault,
                                                command_that_tunes(wanted)));
}

std::string KernelLoader::command_that_tunes(const WantedKernel& wanted) const {
  std::string command;
  for (const std::string& word : tuner_command("kiln", wanted.tuner_words(), tuner_settings())) {
    command += (command.empty() ? "" : " ") + shell_word(word);
  }
  return command;
}

void KernelLoader::warn_if_untuned(const WantedKernel& wanted, const Choice& choice) {
  // Results of near sizes are as good as an application can expect that has many; and where a miss
  // is tuned, the tuner has been named.
  if (parts_.mode != Mode::use || choice.match < Match::related_problem) return;
  const Problem& problem = wanted.problem;
  parts_.warnings->warn(
      WarningKind::untuned, "untuned " + problem.kind_text(),
      fmt::format("not tuned: {} uses {} ({}: {}). A much faster kernel may exist. Next: tune the "
                  "problem with: {}",
                  problem.canonical(), choice.kernel_template->name(), to_string(choice.match),
                  choice.reason, command_that_tunes(wanted)));
}

void KernelLoader::warn_if_wrong(const WantedKernel& wanted, const Choice& choice) {
  // What was tuned for this problem was right.
  if (is_measured_here(choice.match) || parts_.mode == Mode::default_only) return;
  const std::string why = chooser_.known_fault(wanted.problem, choice);
  if (why.empty()) return;
  parts_.warnings->warn(
      WarningKind::candidate, "wrong " + describe(choice),
      fmt::format("{} gave wrong results for {}: {}. Next: correct the template, then tune the "
                  "problem again with: {}",
                  describe(choice), wanted.problem.canonical(), why, command_that_tunes(wanted)));
}

TunerSettings KernelLoader::tuner_settings() const {
  return {parts_.database,
          parts_.cubin_store,
          parts_.device->info().spec,
          parts_.template_path,
          parts_.include,
          parts_.cuda_include,
          parts_.objective.is_time() ? "" : parts_.objective.canonical()};
}

bool KernelLoader::tune(const WantedKernel& wanted, Lock& lock) {
  const auto placed = tunings_.try_emplace(wanted.problem.canonical(), false);
  bool& ended = placed.first->second;
  if (!placed.second) {
    if (ended) return false;
    tuning_ended_.wait(lock, [&] { return ended; });
    return true;
  }
  lock.unlock();
  // Even if the application's warning callback throws: others are waiting.
  const auto end = [&] {
    lock.lock();
    ended = true;
    tuning_ended_.notify_all();
  };
  try {
    run_tuner(wanted);
  } catch (...) {
    end();
    throw;
  }
  end();
  return true;
}

void KernelLoader::run_tuner(const WantedKernel& wanted) {
  // Two at once would spoil each other's times, so the second would be denied the device.
  const std::lock_guard one_at_a_time(tuner_mutex_);
  const std::string program = parts_.tuner_program.empty() ? find_tuner() : parts_.tuner_program;
  const std::string name = wanted.problem.canonical();
  parts_.warnings->warn(WarningKind::tuning, "start of tuning " + name,
                        fmt::format("there is no tuned kernel for {}. {} now tunes the problem. "
                                    "This takes about 25 s, but only once",
                                    name, program));
  std::vector<std::string> command = tuner_command(program, wanted.tuner_words(), tuner_settings());
  // The application waits for the tuner; it should not wait for other runs on the GPU as well.
  command.emplace_back("--no-wait");
  const std::string failure = run_program(command);
  if (failure.empty()) return;
  parts_.warnings->warn(
      WarningKind::tuning, "tuner",
      fmt::format("tuning the problem failed, so Kiln uses the best known kernel: {}", failure));
}

KernelEntry KernelLoader::idle_entry(const Problem& problem) const {
  KernelEntry entry;
  entry.process = process_;
  entry.match = Match::exact;
  entry.reason = why_nothing_to_tune(problem);
  return entry;
}

KernelEntry KernelLoader::make_entry(const Problem& problem, const Choice& choice,
                                     BuiltKernel built) {
  KernelEntry entry = idle_entry(problem);
  entry.device = parts_.device.get();
  entry.workspaces = &workspaces_;
  entry.launches = std::move(built.launches);
  entry.arguments = std::move(built.arguments);
  entry.constants = std::move(built.constants);
  entry.workspace_bytes = built.workspace_bytes;
  entry.module = std::move(built.module);
  entry.match = choice.match;
  entry.reason = printable(choice.reason, LineBreaks::escape);
  entry.template_name = choice.kernel_template->name();
  entry.config = choice.config.canonical();
  return entry;
}

}  // namespace kiln::detail
