// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compile/operations/operation_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string_view>

#include "tests/support/shared_cache.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/problem_case.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/worker/messages.hpp"

namespace kiln::testing {
namespace {

std::unique_ptr<EmulatedDevice> checked_device() {
  EmulationOptions options;
  options.checks = true;
  options.timeout_s = 20.0;
  options.memory_bytes = std::int64_t{1} << 30;
  return std::make_unique<EmulatedDevice>("h200", options);
}

/// What a worker process makes of it.
template <class Message>
Message sent(const Message& message) {
  return decode_message<Message>(encode_message(message)).value();
}

/// The types that a slot may have, given those of the slots before it.
std::vector<DType> choices_of(const TypeRow::Slot& slot, const Types& before) {
  std::vector<DType> choices = slot.allowed;
  for (const std::string& other : slot.same_as) {
    const DType type = std::ranges::find(before, other, &NamedType::slot)->type;
    if (std::ranges::find(choices, type) == choices.end()) choices.push_back(type);
  }
  return choices;
}

void add_combinations(const TypeRow& row, const Types& before, std::vector<Types>& all) {
  if (before.size() == row.slots.size()) {
    all.push_back(before);
    return;
  }
  const TypeRow::Slot& slot = row.slots[before.size()];
  for (const DType type : choices_of(slot, before)) {
    Types longer = before;
    longer.push_back({slot.name, type});
    add_combinations(row, longer, all);
  }
}

}  // namespace

std::string Judged::complaint() const {
  std::string text;
  if (outcome != Outcome::ok) text += fmt::format("{}: {}", to_string(outcome), message);
  if (outcome == Outcome::ok && !verified) text += "not verified";
  for (const auto& report : reports) text += "\n  " + report.describe();
  return text;
}

std::shared_ptr<Compiler> shared_nvrtc() {
  static const std::shared_ptr<Compiler> compiler = shared_compiler();
  return compiler;
}

OperationBench::OperationBench()
    : compiler_(shared_nvrtc()),
      evaluator_(
          [this] {
            auto device = checked_device();
            checked_ = device.get();
            return device;
          }(),
          BaselineSource{}) {}

OperationBench::OperationBench(std::unique_ptr<Device> device)
    : compiler_(shared_nvrtc()), evaluator_(std::move(device), BaselineSource{}) {}

void OperationBench::set_up(const Problem& problem, const std::vector<NamedScalar>& scalars) {
  TuneRequest request;
  request.tuned = declared_case(*find_operation(problem.operation), problem, scalars);
  setup_ = sent(make_setup(request, *compiler_, info()));
  evaluator_.set_up(setup_);
}

Judged OperationBench::judge(const Catalog& catalog, const Candidate& candidate) {
  PreparedCandidate prepared = prepare_candidate(candidate, catalog, *compiler_, info().limits,
                                                 setup_.cases, Admission::runnable, info().code);
  if (prepared.outcome != Outcome::ok) return {prepared.outcome, prepared.message, false, "", {}};
  prepared.job.time_it = false;
  const Evaluation result = evaluator_.evaluate(sent(prepared.job));
  return {result.outcome, result.message, result.verification.passed, result.verification.evidence,
          checked_ == nullptr ? std::vector<emulated::Report>() : checked_->take_reports()};
}

Judged judge_texts(OperationBench& bench, const std::string& operation, const std::string& kernel,
                   const Sizes& sizes) {
  const TempFolder folder;
  std::ofstream(folder.path() / "operation.cu") << operation;
  std::ofstream(folder.path() / "kernel.cu") << kernel;
  const Catalog catalog = Catalog::with_directories({folder.path().string()});
  constexpr std::string_view kName = "//@ template   ";
  const KernelTemplate& made =
      catalog.at(kernel.substr(kName.size(), kernel.find('\n') - kName.size()));
  const Problem problem =
      problem_of(*find_operation(made.operation()), sizes, type_choices_of(made, false).front());
  bench.set_up(problem);
  const auto config = made.space(problem, bench.info().limits).default_config();
  return bench.judge(catalog, {made.name(), config.value()});
}

std::string example_folder(const std::string& below) {
  return fmt::format("{}/examples/{}", KILN_SOURCE_DIR, below);
}

std::string read_text(const std::filesystem::path& file) {
  const std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Problem problem_of(const Operation& operation, const Sizes& sizes, const Types& types,
                   const std::vector<NamedValue>& traits) {
  Problem problem;
  problem.operation = operation.name;
  problem.sizes = operation.with_defaults(sizes);
  for (const TraitSpec& trait : operation.traits) {
    const auto given = std::ranges::find(traits, trait.name, &NamedValue::name);
    problem.traits.push_back(
        {trait.name, given == traits.end() ? trait.values.front() : given->value});
  }
  for (const std::string& slot : operation.type_slots()) {
    problem.types.push_back(*std::ranges::find(types, slot, &NamedType::slot));
  }
  return problem;
}

std::vector<Types> type_choices_of(const KernelTemplate& kernel, bool all) {
  std::vector<Types> combinations;
  for (const TypeRow& row : kernel.type_rows()) add_combinations(row, {}, combinations);
  if (all) return combinations;
  std::vector<Types> few;
  std::set<std::pair<std::string, DType>> seen;
  for (const Types& one : combinations) {
    bool is_new = false;
    for (const NamedType& type : one) is_new = seen.emplace(type.slot, type.type).second || is_new;
    if (is_new) few.push_back(one);
  }
  return few;
}

std::vector<Config> covering_configs(const ParamSpace& space, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Config> configs;
  std::set<std::pair<std::string, std::int64_t>> seen;
  const auto take = [&](const Config& config) {
    for (const auto& [name, value] : config.values()) seen.emplace(name, value);
    configs.push_back(config);
  };
  if (const auto first = space.default_config()) take(*first);
  for (const Tunable& tunable : space.tunables()) {
    for (const std::int64_t value : tunable.values) {
      if (seen.contains({tunable.name, value})) continue;
      const auto config = space.narrowed({{tunable.name, {value}}}).sample(random);
      if (config) take(*config);
    }
  }
  return configs;
}

}  // namespace kiln::testing
