// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/foreign_import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cache/exchange/foreign_results.hpp"
#include "cache/exchange/foreign_trials.hpp"
#include "cache/exchange/offer_check.hpp"
#include "cache/exchange/transfer.hpp"
#include "cache/rows/trial_check.hpp"
#include "kiln/error.hpp"
#include "templates/printable.hpp"
#include "templates/space/tunable_value.hpp"
#include "tools/command_line/examples.hpp"
#include "tools/output/transfer_report.hpp"
#include "tools/output/units.hpp"

namespace kiln::tools {
namespace {

constexpr std::size_t kMostComplaints = 20;
/// Rows per transaction.
constexpr std::size_t kRowsAtOnce = 500;

[[noreturn]] void refuse_import(const std::string& text) {
  throw Error(ErrorKind::usage, text);
}

/// Turns results into configurations of a template.
class ConfigReader {
 public:
  ConfigReader(const std::string& name, const ForeignResults& results,
               const KernelTemplate& kernel_template, const std::vector<Tunable>& tunables)
      : file_name_(name), template_name_(kernel_template.name()) {
    std::vector<std::string> missing;
    for (const Tunable& tunable : tunables) {
      const auto place = results.find(tunable.name);
      if (!place) {
        missing.push_back(tunable.name);
        continue;
      }
      Column column{tunable.name, *place, values_text(tunable.values)};
      for (const std::int64_t value : tunable.values) {
        column.values[value_text(value)] = value;
        if (!is_named_value(value)) column.numbers[number_of(value)] = value;
      }
      columns_.push_back(std::move(column));
    }
    std::vector<std::string> extra;
    for (const std::string& other : results.names) {
      const bool is_known = std::ranges::any_of(
          tunables, [&](const Tunable& tunable) { return tunable.name == other; });
      if (!is_known) extra.push_back(printable(other));
    }
    refuse_other_tunables(missing, extra);
  }

  [[nodiscard]] Config read(const ForeignResult& result) const {
    Config config;
    for (const Column& column : columns_) {
      const ForeignValue& value = result.values[column.place];
      const auto known = column.value_of(value);
      if (!known) {
        refuse_import(fmt::format(
            "{}:{}: {} has the value {}, but the template {} lists only {}. Next: add the value to "
            "the `tune` line of the template, or remove the result from the file",
            file_name_, result.line, column.name, printable(value.text), template_name_,
            column.listed));
      }
      config.set(column.name, *known);
    }
    return config;
  }

 private:
  struct Column {
    std::string name;
    std::size_t place;  ///< in the file's list of tunables
    std::string listed;
    std::map<std::string, std::int64_t, std::less<>> values = {};
    std::map<double, std::int64_t> numbers = {};

    [[nodiscard]] std::optional<std::int64_t> value_of(const ForeignValue& value) const {
      if (const auto known = values.find(value.text); known != values.end()) return known->second;
      const bool is_boolean = value.kind == ForeignValue::Kind::boolean;
      if (!is_boolean && value.kind != ForeignValue::Kind::number) return std::nullopt;
      // 1 and 1.0 are the same number, and Python's True is 1.
      const double number = is_boolean ? (value.text == "true" ? 1.0 : 0.0)
                                       : std::strtod(value.text.c_str(), nullptr);
      const auto known = numbers.find(number);
      return known == numbers.end() ? std::nullopt : std::optional(known->second);
    }
  };

  void refuse_other_tunables(const std::vector<std::string>& missing,
                             const std::vector<std::string>& extra) const {
    if (missing.empty() && extra.empty()) return;
    std::string text = fmt::format("{}: the file and the template {} have different tunables.",
                                   file_name_, template_name_);
    if (!extra.empty()) {
      text += fmt::format(" Only in the file: {}.", fmt::join(extra, ", "));
    }
    if (!missing.empty()) {
      text += fmt::format(" Only in the template: {}.", fmt::join(missing, ", "));
    }
    refuse_import(text +
                  " Next: use the same names, and declare a constant of the file as a tunable with "
                  "one value, such as `tune PRECISION = 32`");
  }

  const std::string& file_name_;
  const std::string& template_name_;
  std::vector<Column> columns_;
};

DeviceClass device_of_import(const ForeignImport& import, const ForeignResults& results,
                             const std::string& name) {
  DeviceClass device;
  device.name = import.gpu.empty() ? results.device : import.gpu;
  if (device.name.empty()) {
    refuse_import(
        fmt::format("{}: {} does not name the GPU that was measured. Next: add --gpu NAME, "
                    "such as --gpu \"NVIDIA A100\"",
                    name, words_of(results.format)));
  }
  if (import.arch.empty()) {
    refuse_import(
        fmt::format("--arch is missing. Next: add the architecture of {}, such as --arch "
                    "sm_80",
                    printable(device.name)));
  }
  // Kiln names a device of compute capability 9.0 by the features that it has: sm_90a.
  const auto own = limits_of_arch(import.arch + "a");
  device.arch = own ? own->arch : known_limits(import.arch).arch;
  return device;
}

/// Digests of what was imported before.
std::set<std::string> known_contents(const TuningStore& store, const CandidateKey& key) {
  TrialFilter filter;
  filter.problem = key.problem;
  filter.device = key.device;
  filter.template_name = key.template_name;
  filter.provenance = Provenance::imported;
  std::set<std::string> contents;
  for (const Trial& trial : store.trials(filter)) contents.insert(content_of_import(trial));
  return contents;
}

/// Results on their way to the database.
struct Converted {
  std::vector<Trial> trials;
  TransferCount count;
};

Converted convert_results(const ForeignResults& results, const std::string& name,
                          const ConfigReader& reader, const ParamSpace& space,
                          const CandidateKey& any) {
  Converted converted;
  TransferCount& count = converted.count;
  const auto complain = [&](const ForeignResult& result, const std::string& fault) {
    ++count.refused;
    if (count.complaints.size() >= kMostComplaints) return;
    count.complaints.push_back(fmt::format("{}:{}: {}", name, result.line, fault));
  };
  for (const ForeignResult& result : results.results) {
    CandidateKey key = any;
    key.config = reader.read(result);
    // A configuration that failed there may well be one that the template excludes.
    const auto why = result.outcome == Outcome::ok ? space.why_invalid(key.config) : std::nullopt;
    if (why) {
      complain(result, fmt::format("the configuration is not valid here: {}", *why));
      continue;
    }
    try {
      Trial trial = checked(trial_of_foreign(results, result, std::move(key)));
      check_offer(trial);
      converted.trials.push_back(std::move(trial));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      complain(result, error.what());
    }
  }
  return converted;
}

void store_trials(TuningStore& store, std::vector<Trial> trials, const CandidateKey& any,
                  TransferCount& count) {
  const std::set<std::string> known = known_contents(store, any);
  std::vector<Trial> batch;
  const auto flush = [&] {
    const RecordCount recorded = store.record_all(batch);
    count.written += recorded.written;
    count.present += recorded.present;
    count.refused += recorded.conflicts.size();
    batch.clear();
  };
  for (Trial& trial : trials) {
    if (known.contains(content_of_import(trial))) {
      ++count.present;
      continue;
    }
    batch.push_back(std::move(trial));
    if (batch.size() == kRowsAtOnce) flush();
  }
  flush();
}

}  // namespace

int import_foreign(Context& context, const ForeignImport& import) {
  const Problem& problem = import.request.problem;
  const Catalog& catalog = context.catalog();
  const KernelTemplate& kernel_template = catalog.at(import.template_name);
  if (kernel_template.operation() != problem.operation) {
    refuse_import(fmt::format("--template {}: this template computes {}, not {}",
                              kernel_template.name(), kernel_template.operation(),
                              problem.operation));
  }
  const std::string name = import.file == "-" ? "standard input" : import.file;
  const ForeignResults results =
      read_foreign_results(import.file == "-" ? "/dev/stdin" : import.file);
  CandidateKey any;
  any.problem = problem;
  any.device = device_of_import(import, results, name);
  any.template_name = kernel_template.name();
  any.template_digest = catalog.digest(kernel_template.name());
  const DeviceLimits limits = known_limits(any.device.arch);
  if (const auto why = kernel_template.why_unsupported(problem, limits)) refuse_import(*why);
  const ParamSpace space = kernel_template.space(problem, limits);
  const ConfigReader reader(name, results, kernel_template, space.tunables());
  Converted converted = convert_results(results, name, reader, space, any);
  auto store = context.open_for_writing();
  store_trials(store, std::move(converted.trials), any, converted.count);
  if (results.replaced > 0) {
    context.note(
        fmt::format("the file has {} for configurations that a later result of the file "
                    "replaces",
                    counted(results.replaced, "result")));
  }
  const int exit_code = report_transfer(context, "import", converted.count);
  context.note(
      fmt::format("Kiln has not verified these results. An application never gets them. Next: `{}` "
                  "tries the fastest of them first",
                  context.command("tune " + problem_words(import.request))));
  return exit_code;
}

void refuse_foreign_file(const std::string& file) {
  // Reading from a pipe would take away what the import is to read.
  std::error_code fault;
  if (!std::filesystem::is_regular_file(file, fault)) return;
  std::array<char, 4096> beginning{};
  std::ifstream in(file, std::ios::binary);
  in.read(beginning.data(), beginning.size());
  const std::string_view text(beginning.data(), static_cast<std::size_t>(in.gcount()));
  if (!begins_foreign(text)) return;
  refuse_import(fmt::format(
      "{0}: not a file written by `kiln export --database`. It looks like a file of another "
      "autotuner. Next: name the template, the problem and the GPU's architecture: `kiln import "
      "{0} "
      "OPERATION --SIZE N --template TEMPLATE --arch ARCH`",
      file));
}

}  // namespace kiln::tools
