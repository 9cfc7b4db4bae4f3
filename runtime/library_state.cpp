// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>

#include "kiln/error.hpp"
#include "runtime/cuda_paths.hpp"
#include "runtime/tuner_process.hpp"
#include "templates/printable.hpp"

namespace kiln::detail {
namespace {

std::shared_ptr<Compiler> lazy_compiler(const LibraryParts& parts) {
  return std::make_shared<LazyCompiler>(parts.compiler, remembered_compiler(*parts.cubins));
}

LibraryParts completed(LibraryParts parts) {
  if (!parts.warnings) parts.warnings = std::make_shared<WarningSink>(nullptr, "");
  return parts;
}

std::string describe(const Choice& choice) {
  return fmt::format("{} [{}]", choice.kernel_template->name(), choice.config.canonical());
}

/// More candidates than this that fail in a row are no accident: each may cost a compilation, and
/// an application is waiting.
constexpr std::size_t kMostStoredTries = 8;

/// The code in use comes from another compiler than the measured one: the kernel is as right as
/// before, but its time is not the one that was measured.
void admit_other_toolkit(Choice& choice, const std::string& toolkit) {
  if (choice.match != Match::exact || choice.toolkit.empty() || toolkit == choice.toolkit) return;
  choice.match = Match::same_device_class;
  choice.reason = fmt::format("{} for this problem on this device class, under toolkit {}, now {}",
                              choice.provenance == Provenance::modelled ? "predicted" : "tuned",
                              choice.toolkit, toolkit);
}

/// The bits of an address that must be zero for rows to start on multiples of `alignment` bytes.
std::uintptr_t alignment_mask(const Problem& problem, const char* trait) {
  return static_cast<std::uintptr_t>(problem.trait(trait).value_or(1) - 1);
}

}  // namespace

LibraryState::LibraryState(LibraryParts parts)
    : parts_(completed(std::move(parts))),
      compiler_(lazy_compiler(parts_), parts_.cubins, chosen_headers(parts_.cuda_include)),
      workspaces_(*parts_.device),
      chooser_(parts_.catalog, parts_.device->info(), parts_.database, parts_.site_databases,
               *parts_.warnings),
      builder_(parts_.catalog, *parts_.device, compiler_) {}

Library LibraryState::make_library(LibraryParts parts) {
  return Library(std::make_unique<LibraryState>(std::move(parts)));
}

LibraryCounters LibraryState::counters() const noexcept {
  return {compiler_.compiles(), compiler_.hits(), database_reads_.load()};
}

const KernelEntry* LibraryState::load(const Gemm& gemm, const GemmRequest& request) {
  // Throws for whatever makes a request invalid; the two checks differ only for matrices
  // that are larger than any memory.
  const Gemm normal = normalised(gemm);
  if (!request.valid) throw Error(ErrorKind::usage, "gemm: an operand is larger than any memory");
  const LibraryWork work;
  Lock lock(mutex_);
  if (const KernelEntry* present = table_.find(request.key)) return present;
  const Problem problem = to_problem(normal);
  if (work_of(problem) == Work::none) {
    return table_.publish(make_idle_entry(normal, request.key));
  }
  Refusals refusals;
  for (;;) {
    std::optional<Choice> choice = choose(normal, problem, refusals, lock);
    // A thread that waited for the same tuner may have been faster.
    if (const KernelEntry* present = table_.find(request.key)) return present;
    database_reads_ = chooser_.database_reads();
    if (!choice) {
      throw Error(ErrorKind::not_found,
                  fmt::format("no template computes {}: {}", problem.canonical(),
                              fmt::join(chooser_.why_none(problem), "; ")));
    }
    BuiltKernel built = build(*choice, problem, lock);
    if (const KernelEntry* present = table_.find(request.key)) return present;
    if (built.failure.empty()) {
      admit_other_toolkit(*choice, built.toolkit);
      parts_.warnings->inform(
          fmt::format("{}: {} ({})", problem.canonical(), describe(*choice), choice->reason));
      return table_.publish(make_entry(normal, request.key, *choice, std::move(built)));
    }
    refusals.latest = fmt::format("{} cannot be used: {}", describe(*choice), built.failure);
    parts_.warnings->warn("candidate " + describe(*choice),
                          fmt::format("{}; the next best is taken; if this is not a bug in the "
                                      "template, tune the problem again",
                                      refusals.latest));
    refusals.candidates.insert({choice->kernel_template->name(), choice->config});
  }
}

std::optional<Choice> LibraryState::choose(const Gemm& gemm, const Problem& problem,
                                           const Refusals& refusals, Lock& lock) {
  const Refused& refused = refusals.candidates;
  if (work_of(problem) == Work::scaling) {
    return chooser_.plainest(problem, refused, why_nothing_to_tune(problem));
  }
  if (parts_.mode == Mode::default_only) return chooser_.fallback(problem, refused, "");
  // May load a compiler, if none ever filled the cubin store: then nothing in the store could
  // save us that.
  const std::string toolkit = compiler_.identity();
  Known known;
  if (refused.size() < kMostStoredTries) known = chooser_.stored(problem, toolkit, refused);
  // A prediction is better than nothing, but on a GPU, which can measure, it is not tuning.
  const bool measures = parts_.device->info().provenance == Provenance::measured;
  const auto is_tuned = [&] {
    const std::optional<Choice>& choice = known.choice;
    if (!choice || (measures && choice->provenance == Provenance::modelled)) return false;
    return choice->match == Match::exact || choice->match == Match::same_device_class;
  };
  if (parts_.mode == Mode::tune_on_miss && !is_tuned() && tune(gemm, problem, lock)) {
    known = chooser_.stored(problem, toolkit, refused);
  }
  if (parts_.mode == Mode::require && !is_tuned()) refuse_untuned(gemm, problem, refusals);
  return known.choice ? known.choice : chooser_.fallback(problem, refused, known.unavailable);
}

BuiltKernel LibraryState::build(const Choice& choice, const Problem& problem, Lock& lock) {
  const std::string name = KernelBuilder::code_name(choice, problem);
  // One thread compiles the code; should that fail, the next one tries for itself.
  compiled_.wait(lock, [&] { return builder_.holds(name) || !compiling_.contains(name); });
  if (builder_.holds(name)) return builder_.build(choice, problem, {});
  compiling_.insert(name);
  lock.unlock();
  KernelCode code;
  std::exception_ptr fault;
  try {
    code = builder_.compile(choice, problem);
  } catch (...) {
    fault = std::current_exception();
  }
  lock.lock();
  compiling_.erase(name);
  compiled_.notify_all();
  if (fault) std::rethrow_exception(fault);
  return builder_.build(choice, problem, code);
}

void LibraryState::refuse_untuned(const Gemm& gemm, const Problem& problem,
                                  const Refusals& refusals) const {
  const std::string place = fmt::format("for {} on {} in {}", problem.canonical(),
                                        parts_.device->info().device_class.canonical(),
                                        parts_.database.empty() ? "any database" : parts_.database);
  const std::string fault =
      refusals.candidates.empty()
          ? fmt::format("no tuned kernel {}", place)
          : fmt::format("none of the best {} tuned kernels {} works here (the last: {})",
                        refusals.candidates.size(), place, refusals.latest);
  std::string command;
  for (const std::string& word : tuner_command("kiln", gemm, tuner_settings())) {
    command += (command.empty() ? "" : " ") + shell_word(word);
  }
  throw Error(ErrorKind::not_found, fmt::format("{}; tune it with: {}", fault, command));
}

TunerSettings LibraryState::tuner_settings() const {
  return {parts_.database, parts_.cubin_store, parts_.device->info().spec, parts_.template_path,
          parts_.cuda_include};
}

bool LibraryState::tune(const Gemm& gemm, const Problem& problem, Lock& lock) {
  const auto placed = tunings_.try_emplace(problem.canonical(), false);
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
    run_tuner(gemm, problem);
  } catch (...) {
    end();
    throw;
  }
  end();
  return true;
}

void LibraryState::run_tuner(const Gemm& gemm, const Problem& problem) {
  // Two at once would spoil each other's times, so the second would be denied the device.
  const std::lock_guard one_at_a_time(tuner_mutex_);
  const std::string program = parts_.tuner_program.empty() ? find_tuner() : parts_.tuner_program;
  const std::string name = problem.canonical();
  parts_.warnings->warn("start of tuning " + name,
                        fmt::format("no tuned kernel for {}: tuning it now with {}, which takes "
                                    "about 25 s, once",
                                    name, program));
  std::vector<std::string> command = tuner_command(program, gemm, tuner_settings());
  // The application waits for the tuner; it should not wait for other runs on the GPU as well.
  command.emplace_back("--no-wait");
  const std::string failure = run_program(command);
  if (failure.empty()) return;
  parts_.warnings->warn(
      "tuner", fmt::format("tuning on a miss failed, the best known kernel is used: {}", failure));
}

std::unique_ptr<KernelEntry> LibraryState::make_idle_entry(const Gemm& gemm,
                                                           const GemmKey& key) const {
  auto entry = std::make_unique<KernelEntry>();
  entry->key = key;
  entry->process = process_;
  entry->m = static_cast<int>(gemm.m);
  entry->n = static_cast<int>(gemm.n);
  entry->k = static_cast<int>(gemm.k);
  entry->reads_c = gemm.reads_c;
  entry->whole_scalars = has_whole_factors(gemm);
  entry->largest_scalar = largest_factor(gemm);
  if (const EpilogueEntry* const epilogue = gemm.epilogue.entry()) {
    const EpilogueExpression& expression = epilogue->expression;
    entry->epilogue = gemm.epilogue;
    entry->names_alpha = expression.names("alpha");
    entry->names_beta = expression.names("beta");
    for (const EpilogueSlot& slot : expression.operands()) {
      const auto at = static_cast<std::size_t>(entry->epilogue_operands++);
      entry->epilogue_masks[at] =
          static_cast<std::uintptr_t>(size_bytes(element_type(slot, gemm.d)) - 1);
      entry->epilogue_matrices[at] = slot.extent == OperandExtent::both;
    }
  }
  entry->match = Match::exact;
  entry->reason = why_nothing_to_tune(to_problem(gemm));
  return entry;
}

std::unique_ptr<const KernelEntry> LibraryState::make_entry(const Gemm& gemm, const GemmKey& key,
                                                            const Choice& choice,
                                                            BuiltKernel built) {
  const Problem problem = to_problem(gemm);
  auto entry = make_idle_entry(gemm, key);
  entry->device = parts_.device.get();
  entry->workspaces = &workspaces_;
  entry->launches = std::move(built.launches);
  entry->mask_a = alignment_mask(problem, "align_a");
  entry->mask_b = alignment_mask(problem, "align_b");
  entry->mask_c = alignment_mask(problem, "align_c");
  entry->mask_d = alignment_mask(problem, "align_d");
  entry->workspace_bytes = built.workspace_bytes;
  entry->module = std::move(built.module);
  entry->match = choice.match;
  entry->reason = printable(choice.reason, LineBreaks::escape);
  entry->template_name = choice.kernel_template->name();
  entry->config = choice.config.canonical();
  return entry;
}

}  // namespace kiln::detail
