// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which kernels of a file are adopted, and what is to be said of the file besides.
#include "tools/adopt/adopt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kiln/error.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/nearest_name.hpp"
#include "templates/printable.hpp"
#include "tools/adopt/notes.hpp"
#include "tools/adopt/operation.hpp"
#include "tools/adopt/refusals.hpp"
#include "tools/adopt/space.hpp"
#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

[[noreturn]] void refuse_adoption(const std::string& file, const std::string& why) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", file, why));
}

std::vector<std::string> kernel_names(const SourceModel& model) {
  std::vector<std::string> names;
  for (const auto& kernel : model.kernels) names.push_back(kernel.name);
  return names;
}

/// A kernel that says by its name that it is there to compare with.
bool is_twin_name(std::string_view name) {
  const std::string lower = snake_case(name);
  return lower.find("naive") != std::string::npos || lower.find("reference") != std::string::npos;
}

class Adopter {
 public:
  Adopter(const std::string& file, std::string_view source, const AdoptOptions& options)
      : file_(file), options_(options), model_(read_source(file, source)) {
    guess_.source = source;
    guess_.model = &model_;
    guess_.file = std::filesystem::path(file).filename().string();
  }

  Adoption run() {
    if (!options_.space_file.empty()) {
      space_ = read_space_file(options_.space_file, options_.space);
    }
    choose_kernels();
    for (const auto& kernel : guess_.kernels) refuse_unsupported(file_, model_, *kernel.source);
    choose_names();
    guess_.macros = find_tunables(model_);
    if (space_) {
      guess_.macros = tunables_of_space(*space_, model_, guess_.kernels, std::move(guess_.macros));
    }
    const auto macros = find_size_macros();
    for (const auto& macro : macros) {
      sizes_.insert(macro.name);
      const bool is_tuned =
          std::any_of(guess_.macros.begin(), guess_.macros.end(),
                      [&](const TunableGuess& tunable) { return tunable.name == macro.name; });
      if (macro.is_fixed || is_tuned) continue;
      TunableGuess extent;
      extent.name = macro.name;
      extent.usual = macro.value.value_or(1);
      extent.is_of_file = true;
      guess_.macros.push_back(std::move(extent));
    }
    for (auto& tunable : guess_.macros) {
      if (sizes_.contains(tunable.name)) tunable.kind = TunableGuess::Kind::extent;
    }
    for (auto& kernel : guess_.kernels) kernel.facts = facts_of(*kernel.source, sizes_);
    if (guess_.twin) guess_.twin->facts = facts_of(*guess_.twin->source, sizes_);
    guess_.problem = guess_problem(model_, guess_.kernels, macros);
    check_chain();
    if (space_) apply_space_arguments(*space_, guess_);
    guess_.made = guess_template(model_, guess_.kernels, guess_.problem, guess_.macros);
    if (space_) {
      apply_space_values(*space_, guess_);
    } else {
      for (const auto& [tile, part] : divided_tunables(model_, guess_.macros)) {
        guess_.made.requirements.push_back(
            {fmt::format("{} % {} == 0", tile, part),
             fmt::format("CHECK: the code divides {} by {}", tile, part)});
      }
    }
    Adoption adoption;
    adoption.operation_name = guess_.operation;
    adoption.template_name = guess_.template_name;
    for (const auto& kernel : guess_.kernels) adoption.kernels.push_back(kernel.source->name);
    if (guess_.twin) adoption.reference = guess_.twin->source->name;
    adoption.operation = operation_file(guess_);
    adoption.adopted = template_file(guess_);
    adoption.notes = adoption_notes(guess_, file_);
    if (space_) {
      const auto notes = space_notes(*space_, guess_);
      adoption.notes.insert(adoption.notes.end(), notes.begin(), notes.end());
    }
    return adoption;
  }

 private:
  using Names = std::set<std::string, std::less<>>;

  [[nodiscard]] BodyFacts facts_of(const SourceKernel& kernel, const Names& sizes) const {
    Names constants;
    for (const auto& tunable : guess_.macros) {
      if (!sizes.contains(tunable.name)) constants.insert(tunable.name);
    }
    for (const auto& parameter : kernel.template_parameters) constants.insert(parameter.name);
    return read_body(model_, kernel, constants, sizes);
  }

  /// Names that kernels hold indices against as they do with a parameter, or that are the length of
  /// rows which blocks lead along.
  [[nodiscard]] std::vector<SizeMacro> find_size_macros() const {
    using Kinds = TunableGuess::Kind;
    std::map<std::string, SizeMacro, std::less<>> candidates;
    const auto may_be = [](Kinds kind, const std::string& name) {
      // A number of blocks is no size, but the length of a grid of cells is one.
      const bool is_of_cells =
          kind == Kinds::grid && snake_case(name).find("block") == std::string::npos;
      return kind == Kinds::size || kind == Kinds::other || is_of_cells;
    };
    for (const auto& tunable : guess_.macros) {
      if (!may_be(tunable.kind, tunable.name)) continue;
      const auto value = tunable.is_of_file ? std::optional(tunable.usual) : std::nullopt;
      candidates.emplace(tunable.name, SizeMacro{tunable.name, value, false, 0});
    }
    for (const auto& [name, macro] : model_.macros) {
      const auto value = constant_number(macro.body, model_);
      const bool is_fixed = !macro.is_default && value && *value > 0;
      const bool is_number = (macro.is_default && value) || is_fixed;
      if (is_number && may_be(guess_tunable(name, std::nullopt, 1).kind, name)) {
        candidates.emplace(name, SizeMacro{name, value, is_fixed, macro.line});
      }
    }
    Names names;
    for (const auto& each : candidates) names.insert(each.first);
    std::vector<SizeMacro> found;
    const auto add = [&](const std::string& name) {
      const auto candidate = candidates.find(name);
      if (candidate == candidates.end()) return;
      found.push_back(candidate->second);
      candidates.erase(candidate);
    };
    for (const auto& kernel : guess_.kernels) {
      const BodyFacts facts = facts_of(*kernel.source, names);
      for (const auto& use : facts.dimensions) {
        for (const auto& bound : use.bounds) add(bound);
        if (use.bounds.empty() && use.columns.size() == 1) add(use.columns.front());
      }
    }
    return found;
  }

  void choose_kernels() {
    if (model_.kernels.empty()) {
      refuse_adoption(file_,
                      "this file defines no __global__ function, and adopt does not read included "
                      "headers. Next: name the file that defines the kernel");
    }
    for (const auto& name : options_.kernels) choose_kernel(name);
    const bool is_named = space_ && options_.kernels.empty() && !space_->kernel.empty();
    // "kernel<float, 4>" is how C++ names an instance.
    if (is_named) choose_kernel(space_->kernel.substr(0, space_->kernel.find('<')));
    for (const auto& kernel : model_.kernels) {
      const bool is_twin = is_twin_name(kernel.plain_name) && model_.kernels.size() > 1;
      if (is_twin && !is_chosen(kernel) && !guess_.twin) {
        guess_.twin = AdoptedKernel{&kernel, {}};
      } else if (!is_twin && options_.kernels.empty() && !is_named) {
        guess_.kernels.push_back({&kernel, {}});
      }
    }
    if (guess_.kernels.empty()) refuse_several();
  }

  [[nodiscard]] bool is_chosen(const SourceKernel& kernel) const {
    return std::any_of(guess_.kernels.begin(), guess_.kernels.end(),
                       [&](const AdoptedKernel& each) { return each.source == &kernel; });
  }

  void choose_kernel(const std::string& name) {
    const auto found = std::find_if(
        model_.kernels.begin(), model_.kernels.end(),
        [&](const SourceKernel& each) { return each.name == name || each.plain_name == name; });
    if (found == model_.kernels.end()) {
      const auto known = kernel_names(model_);
      refuse_adoption(file_, fmt::format("no kernel \"{}\" is defined in this file{}", name,
                                         meant_or_known(name, known)));
    }
    if (is_chosen(*found)) {
      refuse_adoption(file_,
                      fmt::format("--kernel {0} is given twice. Next: give --kernel {0} once. If "
                                  "the kernel runs twice, add the second launch to the template "
                                  "that adopt writes",
                                  name));
    }
    guess_.kernels.push_back({&*found, {}});
  }

  [[noreturn]] void refuse_several() const {
    const auto known = kernel_names(model_);
    refuse_adoption(
        file_, fmt::format("this file defines {} kernels ({}). Next: choose a kernel, e.g. with "
                           "--kernel {}. If several kernels run one after the other, give --kernel "
                           "once for each kernel",
                           known.size(), fmt::join(known, ", "), known.front()));
  }

  /// Kernels that nobody has chosen belong together if each leaves something to a later one.
  void check_chain() const {
    if (!options_.kernels.empty() || (space_ && !space_->kernel.empty())) return;
    for (std::size_t k = 0; k + 1 < guess_.kernels.size(); ++k) {
      const auto& between = guess_.problem.between;
      const bool leaves =
          std::any_of(between.begin(), between.end(), [&](const BetweenGuess& each) {
            const bool is_certain =
                each.written == each.read || (is_launched(each.writer) && is_launched(each.reader));
            const bool changes = each.reader == k && guess_.kernels[k].facts.writes(each.read);
            return is_certain && (each.writer == k || changes);
          });
      if (!leaves) refuse_several();
    }
  }

  [[nodiscard]] bool is_launched(std::size_t kernel) const {
    const auto launch = model_.host_launches.find(guess_.kernels[kernel].source->plain_name);
    return launch != model_.host_launches.end() && !launch->second.empty();
  }

  void choose_names() {
    const std::string kernel = guess_.kernels.front().source->plain_name;
    guess_.operation = options_.operation;
    if (guess_.operation.empty()) {
      guess_.operation = kernel;
      for (const std::string_view ending : {"_kernel", "Kernel"}) {
        if (kernel.size() > ending.size() && kernel.ends_with(ending)) {
          guess_.operation = kernel.substr(0, kernel.size() - ending.size());
        }
      }
    }
    if (!is_identifier(guess_.operation)) {
      refuse_adoption(file_,
                      fmt::format("--operation {}: this name is not valid. Next: use letters, "
                                  "digits and underscores, and do not begin with a digit",
                                  guess_.operation));
    }
    guess_.template_name = kernel == guess_.operation ? kernel + "_kernel" : kernel;
  }

  std::string file_;
  const AdoptOptions& options_;
  SourceModel model_;
  std::optional<SpaceFile> space_;
  Names sizes_;  ///< macros that stand for sizes
  AdoptionGuess guess_;
};

/// Marks of one kind below their title, if there are any.
std::string marks_text(const Adoption& adoption, bool checks, std::string_view title) {
  std::string text;
  for (const auto* file : {&adoption.operation, &adoption.adopted}) {
    for (const auto& mark : file->marks) {
      if (mark.is_check != checks) continue;
      text += fmt::format("  {}:{}: {}\n", file->name, mark.line, mark.what);
    }
  }
  return text.empty() ? text : fmt::format("{}\n{}", title, text);
}

}  // namespace

Adoption adopt(const std::string& file, std::string_view source, const AdoptOptions& options) {
  if (has_front_matter(source)) {
    refuse_adoption(
        file,
        "the file already has front matter (lines that begin with //@). Next: check the "
        "front matter with `kiln templates` or `kiln operations`");
  }
  return Adopter(file, source, options).run();
}

std::string adoption_summary(const Adoption& adoption, const std::string& folder) {
  std::string text = marks_text(adoption, false, "replace each FILL_IN:") +
                     marks_text(adoption, true, "confirm each CHECK:");
  if (!adoption.notes.empty()) text += "change in the source file:\n";
  for (const auto& note : adoption.notes) text += "  " + note + "\n";
  const std::string path = folder.empty() ? "FOLDER" : shell_word(folder);
  text += fmt::format(
      "then run:\n  kiln operations {0} --template-path {2}\n  kiln templates {1} --template-path "
      "{2}\n",
      adoption.operation_name, adoption.template_name, path);
  return printable(text);
}

}  // namespace kiln::tools
