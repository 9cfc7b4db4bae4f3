// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Grid, block and arguments of launches.
#include "tools/adopt/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "tools/adopt/reach.hpp"
#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

using Renames = std::map<std::string, std::string, std::less<>>;
constexpr std::string_view kAxes = "xyz";

std::string replaced_all(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool is_plain_name(std::string_view text) {
  return text.find_first_of(" +-/%") == std::string_view::npos;
}

/// Between parentheses unless it is a name, a number or a product.
std::string as_factor(const std::string& text) {
  return is_plain_name(text) || text.starts_with('(') ? text : "(" + text + ")";
}

std::string product_of(const std::vector<std::string>& factors) {
  if (factors.size() == 1) {
    const std::string& only = factors.front();
    const bool is_group = only.starts_with('(') && only.find(')') == only.size() - 1;
    return is_group ? only.substr(1, only.size() - 2) : only;
  }
  std::string text;
  for (const auto& factor : factors) text += (text.empty() ? "" : " * ") + as_factor(factor);
  return text;
}

class LaunchReader {
 public:
  LaunchReader(const SourceModel& model, const std::vector<AdoptedKernel>& kernels,
               const ProblemGuess& problem, std::vector<TunableGuess> tunables)
      : model_(model), kernels_(kernels), problem_(problem) {
    result_.tunables = std::move(tunables);
  }

  TemplateGuess run() {
    for (const auto& kernel : kernels_) add_template_tunables(*kernel.source);
    for (const auto& kernel : kernels_) {
      for (std::size_t i = 0; i < dimensions_of_block(kernel); ++i) need_block(kernel, i);
    }
    for (const auto& kernel : kernels_) {
      LaunchGuess launch;
      guess_name(kernel, launch);
      guess_block(kernel, launch);
      launch.is_cooperative = ReachedCode(model_, *kernel.source).syncs_grid();
      guess_grid(kernel, launch);
      for (const auto& [size, step] : kernel.facts.steps) {
        result_.requirements.push_back(
            {renamed_extents(fmt::format("{} % {} == 0", size, step), launch),
             fmt::format("CHECK: the kernel goes along {} in whole steps of {}", size, step)});
      }
      result_.launches.push_back(std::move(launch));
    }
    guess_workspace();
    for (std::size_t k = 0; k < kernels_.size(); ++k) guess_args(k, result_.launches[k]);
    return std::move(result_);
  }

 private:
  using Kind = TunableGuess::Kind;

  /// A macro of the parameter's own name would replace it in the code.
  void add_template_tunables(const SourceKernel& kernel) {
    for (const auto& parameter : kernel.template_parameters) {
      const bool is_flag = parameter.kind == SourceTemplateParameter::Kind::flag;
      if (!is_flag && parameter.kind != SourceTemplateParameter::Kind::integer) continue;
      if (tuned_.contains(parameter.name)) continue;
      std::string name = snake_case(parameter.name);
      const auto is_in_file = [&](const CodeToken& token) { return token.is(name); };
      const auto& tokens = model_.code.tokens;
      while (std::any_of(tokens.begin(), tokens.end(), is_in_file) || is_tunable(name)) {
        name.insert(0, "tuned_");
      }
      auto usual = integer_literal(parameter.default_text);
      if (is_flag && parameter.default_text == "true") usual = 1;
      TunableGuess guess =
          guess_tunable(is_flag ? "use_it" : name, usual, block_dimensions(model_));
      guess.name = name;
      guess.template_parameter = parameter.name;
      if (guess.kind == Kind::size) guess.kind = Kind::other;
      tuned_.emplace(parameter.name, name);
      result_.tunables.push_back(std::move(guess));
    }
  }

  [[nodiscard]] bool is_tunable(const std::string& name) const {
    return std::any_of(result_.tunables.begin(), result_.tunables.end(),
                       [&](const TunableGuess& each) { return each.name == name; });
  }

  [[nodiscard]] static std::size_t dimensions_of_block(const AdoptedKernel& kernel) {
    std::size_t count = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      const DimensionUse& use = kernel.facts.dimensions[i];
      if (use.has_thread || use.has_block_extent) count = i + 1;
    }
    return count;
  }

  [[nodiscard]] static bool has_dimension(const TunableGuess& tunable, std::size_t dimension) {
    return tunable.dimension == static_cast<int>(dimension) ||
           (tunable.is_square && dimension == 1);
  }

  /// The tunable of that dimension which the kernel mentions, else nullptr.
  [[nodiscard]] const TunableGuess* mentioned(const AdoptedKernel& kernel, Kind kind,
                                              std::size_t dimension) const {
    const ReachedCode code(model_, *kernel.source);
    for (const auto& each : result_.tunables) {
      if (each.kind != kind || !has_dimension(each, dimension)) continue;
      if (code.mentions(each.name)) return &each;
      for (const auto& tuned : tuned_) {
        const auto& own = kernel.source->template_parameters;
        const bool is_own = std::any_of(own.begin(), own.end(), [&](const auto& declared) {
          return declared.name == tuned.first;
        });
        if (tuned.second == each.name && is_own) return &each;
      }
    }
    return nullptr;
  }

  [[nodiscard]] const TunableGuess* block_tunable(std::size_t dimension) const {
    for (const auto& each : result_.tunables) {
      if (each.kind == Kind::block && has_dimension(each, dimension)) return &each;
    }
    return nullptr;
  }

  /// The number that the code multiplies blockIdx by, where it has one.
  [[nodiscard]] static std::string fixed_extent(const AdoptedKernel& kernel,
                                                std::size_t dimension) {
    constexpr std::int64_t kWarp = 32;  // a smaller number is what a block computes
    const auto& factors = kernel.facts.dimensions[dimension].factors;
    const std::int64_t own = factors.size() == 1 ? integer_literal(factors.front()).value_or(0) : 0;
    if (own <= 0 || (own < kWarp && !has_flat_tile(kernel))) return "";
    return factors.front();
  }

  /// Blocks of as many threads in x and y as the numbers by which the code multiplies blockIdx.
  [[nodiscard]] static bool has_flat_tile(const AdoptedKernel& kernel) {
    std::int64_t threads = 1;
    for (std::size_t i = 0; i < 2; ++i) {
      const DimensionUse& use = kernel.facts.dimensions[i];
      const auto factor = use.factors.size() == 1 ? integer_literal(use.factors.front())
                                                  : std::optional<std::int64_t>();
      constexpr std::int64_t kMost = 1024;
      if (!use.has_thread || !factor || *factor <= 0 || *factor > kMost) return false;
      threads *= *factor;
    }
    constexpr std::int64_t kLeast = 32, kMostThreads = 1024;
    return !kernel.facts.dimensions[2].has_thread && threads >= kLeast && threads <= kMostThreads;
  }

  /// Blocks whose extent the kernel asks for may have any.
  void need_block(const AdoptedKernel& kernel, std::size_t dimension) {
    if (!kernel.facts.dimensions[dimension].has_block_extent) return;
    if (block_tunable(dimension) != nullptr) return;
    std::optional<std::int64_t> usual;
    const int dimensions = block_dimensions(model_);
    const auto most = integer_literal(launch_bounds(kernel));
    constexpr std::int64_t kUsual = 128;
    if (most && dimensions == 1 && *most < kUsual) usual = most;
    result_.tunables.push_back(
        guess_tunable(fmt::format("block_size_{}", kAxes[dimension]), usual, dimensions));
  }

  /// The threads that `__launch_bounds__` allows, as an expression of numbers and tunables, or "".
  [[nodiscard]] std::string launch_bounds(const AdoptedKernel& kernel) const {
    const SourceKernel& source = *kernel.source;
    if (source.bounds_begin == source.bounds_end) return "";
    const auto first = model_.code.tokens.begin();
    const std::vector<CodeToken> tokens(first + static_cast<std::ptrdiff_t>(source.bounds_begin),
                                        first + static_cast<std::ptrdiff_t>(source.bounds_end));
    std::set<std::string, std::less<>> constants;
    for (const auto& each : result_.tunables) constants.insert(each.name);
    for (const auto& each : tuned_) constants.insert(each.first);
    return renamed_words(constant_text(tokens, model_, constants).value_or(""), tuned_);
  }

  [[nodiscard]] std::string block_extent(const AdoptedKernel& kernel, std::size_t dimension) const {
    if (const auto* const own = mentioned(kernel, Kind::block, dimension)) return own->name;
    if (kernel.facts.dimensions[dimension].has_block_extent) return block_tunable(dimension)->name;
    const std::string fixed = fixed_extent(kernel, dimension);
    if (!fixed.empty()) return fixed;
    const DimensionUse& use = kernel.facts.dimensions[dimension];
    if (use.strides.size() == 1) return renamed_words(use.strides.front(), tuned_);
    if (dimensions_of_block(kernel) > 1) return kFillIn;
    // A thread for each element of the block's row, or else as many as there may be.
    const bool is_row = !problem_.row_sizes[dimension].empty() && use.row_lengths.size() == 1;
    if (is_row && use.has_thread) return problem_.names.at(use.row_lengths.front());
    const std::string most = launch_bounds(kernel);
    return most.empty() ? kFillIn : most;
  }

  void guess_name(const AdoptedKernel& kernel, LaunchGuess& launch) const {
    launch.kernel = kernel.source->name;
    if (kernel.source->template_parameters.empty()) return;
    std::vector<std::string> arguments;
    for (const auto& parameter : kernel.source->template_parameters) {
      const auto tuned = tuned_.find(parameter.name);
      std::string argument = tuned == tuned_.end() ? kFillIn : tuned->second;
      if (parameter.kind == SourceTemplateParameter::Kind::type) {
        for (const auto& operand : problem_.operands) {
          if (operand.template_type != parameter.name) continue;
          argument = operand.name;
          break;
        }
        const bool is_scalar = problem_.scalar_types.contains(parameter.name);
        if (argument == kFillIn && is_scalar) argument = "float";
      }
      if (argument == kFillIn) {
        launch.kernel_comment = fmt::format("template argument {}", parameter.name);
        if (!parameter.default_text.empty()) {
          launch.kernel_comment += fmt::format("; the default is {}", parameter.default_text);
        }
      }
      arguments.push_back(std::move(argument));
    }
    launch.kernel += fmt::format("<{}>", fmt::join(arguments, ", "));
  }

  /// `extern __shared__ float buffer[];`
  [[nodiscard]] std::string dynamic_memory(const SourceKernel& kernel) const {
    const auto& tokens = model_.code.tokens;
    for (std::size_t i = kernel.body_begin; i + 1 < kernel.body_end; ++i) {
      if (!tokens[i].is("extern") || !tokens[i + 1].is("__shared__")) continue;
      while (i < kernel.body_end && !tokens[i].is("[") && !tokens[i].is(";")) ++i;
      return fmt::format("bytes of dynamic shared memory for {}[]", tokens[i - 1].text);
    }
    return "";
  }

  void guess_block(const AdoptedKernel& kernel, LaunchGuess& launch) const {
    launch.smem_comment = dynamic_memory(*kernel.source);
    if (!launch.smem_comment.empty()) launch.smem = kFillIn;
    for (std::size_t i = 0; i < dimensions_of_block(kernel); ++i) {
      launch.block.push_back(block_extent(kernel, i));
    }
    const bool is_unknown = std::count(launch.block.begin(), launch.block.end(), kFillIn) > 0;
    const bool is_number = integer_literal(launch.block.front()).has_value();
    const std::string most = launch_bounds(kernel);
    const auto sizes = problem_.size_names();
    if (is_unknown) {
      launch.block_comment = "threads per block";
    } else if (is_number) {
      launch.block_comment = "CHECK: adopt took this number from the code of the kernel";
    } else if (std::find(sizes.begin(), sizes.end(), launch.block.front()) != sizes.end()) {
      launch.block_comment = "CHECK: one thread for each element of a row";
    } else if (launch.block.size() == 1 && launch.block.front() == most && !is_plain_name(most)) {
      launch.block_comment = "CHECK: this number comes from __launch_bounds__";
    }
    const bool is_bounded =
        !most.empty() && !is_unknown && !is_number && product_of(launch.block) != most;
    if (is_bounded) launch.most_threads = most;
  }

  [[nodiscard]] std::string renamed_extents(std::string text, const LaunchGuess& launch) const {
    for (std::size_t i = 0; i < 3; ++i) {
      text = replaced_all(text, fmt::format("blockDim.{}", kAxes[i]),
                          i < launch.block.size() ? launch.block[i] : "1");
    }
    return renamed_words(renamed_words(text, tuned_), problem_.names);
  }

  void guess_grid(const AdoptedKernel& kernel, LaunchGuess& launch) {
    launch.grid_comment = "CHECK: number of blocks";
    std::size_t count = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      if (kernel.facts.dimensions[i].has_block) count = i + 1;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const DimensionUse& use = kernel.facts.dimensions[i];
      if (!use.has_block) {
        launch.grid.emplace_back("1");
      } else if (const auto* const own = mentioned(kernel, Kind::grid, i)) {
        launch.grid.push_back(own->name);
      } else if (use.bounds.empty() && !problem_.row_sizes[i].empty()) {
        launch.grid.push_back(problem_.row_sizes[i]);
        launch.grid_comment = fmt::format("CHECK: is {} the number of blocks?", launch.grid.back());
      } else if (!use.shift.empty()) {
        launch.grid = {kFillIn};
        launch.grid_comment = fmt::format(
            "number of blocks: the kernel shifts blockIdx.{} by {}, but this line cannot "
            "contain bit shifts; write * and / instead",
            kAxes[i], use.shift);
        return;
      } else if (use.bounds.empty() && use.columns.size() != 1) {
        launch.grid = {kFillIn};
        launch.grid_comment = fmt::format(
            "number of blocks: adopt cannot derive this number, because the kernel does not "
            "compare blockIdx.{} with a size",
            kAxes[i]);
        return;
      } else {
        std::vector<std::string> factors;
        for (const auto& factor : use.factors) factors.push_back(renamed_extents(factor, launch));
        const bool is_along_row = use.bounds.empty();
        const std::string bound =
            renamed_extents(is_along_row ? use.columns.front() : use.bounds.front(), launch);
        std::string blocks =
            factors.empty() ? bound : fmt::format("ceil_div({}, {})", bound, product_of(factors));
        if (is_along_row && !factors.empty()) {
          // Nothing keeps the last block from going on behind the end of the row.
          const std::string part = product_of(factors);
          const bool is_word = part.find(' ') == std::string::npos;
          result_.requirements.push_back(
              {fmt::format("{} % {} == 0", bound, is_word ? part : "(" + part + ")"),
               "CHECK: the kernel does not compare its indices with this size"});
        }
        // All have to fit at once; the first dimension is the one that a loop goes on along.
        if (launch.is_cooperative && i == 0)
          blocks = fmt::format("min({}, device.sm_count)", blocks);
        launch.grid.push_back(std::move(blocks));
      }
    }
    if (launch.grid.empty())
      launch.grid.emplace_back(launch.is_cooperative ? "device.sm_count" : "1");
  }

  /// Blocks of a launch, or kFillIn.
  [[nodiscard]] std::string blocks_of(std::size_t kernel) const {
    const auto& grid = result_.launches[kernel].grid;
    return grid.front() == kFillIn ? kFillIn : product_of(grid);
  }

  void guess_workspace() {
    bool is_known = true;
    for (const auto& each : problem_.between) {
      const auto key = std::pair(each.writer, each.written);
      if (offsets_.contains(key)) continue;
      const std::string begin = result_.workspace;
      offsets_[key] = begin;
      const std::string blocks = blocks_of(each.writer);
      const std::string count = each.is_by_block ? blocks : each.elements;
      is_known = is_known && !count.empty() && each.bytes != kFillIn && count != kFillIn;
      const std::string bytes = fmt::format("{} * {}", each.bytes, as_factor(count));
      // What comes next may need a better alignment.
      result_.workspace =
          begin.empty() ? bytes : fmt::format("round_up({}, 256) + {}", begin, bytes);
      result_.workspace_comment = fmt::format("CHECK: size of {} in bytes", each.written);
    }
    if (!is_known) {
      const auto& last = problem_.between.back();
      result_.workspace = kFillIn;
      result_.workspace_comment = fmt::format(
          "size of the array {} in bytes; {} writes the array, and {} reads it", last.written,
          kernels_[last.writer].source->name, kernels_[last.reader].source->name);
    }
  }

  [[nodiscard]] std::string workspace_item(const BetweenGuess& between, LaunchGuess& launch) const {
    const std::string& offset = offsets_.at({between.writer, between.written});
    if (offset.empty()) return "workspace";
    if (result_.workspace != kFillIn) return fmt::format("workspace + round_up({}, 256)", offset);
    launch.args_comment =
        fmt::format("byte offset of the array {} in the workspace", between.written);
    return fmt::format("workspace + {}", kFillIn);
  }

  void guess_args(std::size_t k, LaunchGuess& launch) const {
    for (const auto& parameter : kernels_[k].source->parameters) {
      launch.args.push_back(argument(k, parameter, launch));
    }
    if (k == 0 || launch.args_comment.find(':') != std::string::npos) return;
    launch.args_comment = "CHECK: this kernel runs after the kernels above";
  }

  [[nodiscard]] std::string argument(std::size_t k, const SourceParameter& parameter,
                                     LaunchGuess& launch) const {
    if (const auto* const written = problem_.written_between(k, parameter.name)) {
      return workspace_item(*written, launch);
    }
    if (const auto* const read = problem_.read_between(k, parameter.name)) {
      return workspace_item(*read, launch);
    }
    if (const auto* const operand = problem_.operand(parameter.name)) {
      if (parameter.pointers == (operand->has_pointers ? 2 : 1)) return operand->name;
    }
    if (parameter.pointers == 0 && !parameter.is_reference) {
      for (const auto& scalar : problem_.scalars) {
        if (scalar.parameter == parameter.name) return scalar.name;
      }
      for (const auto& size : problem_.sizes) {
        if (size.parameter == parameter.name) return cast_to(size.type) + size.name;
      }
      if (const auto type = integer_type(parameter.type, model_.type_aliases)) {
        return count_between(k, parameter.name, *type, launch);
      }
    }
    launch.args_comment =
        parameter.is_reference
            ? fmt::format("{}: Kiln cannot pass references; use a pointer or a value",
                          parameter.name)
        : parameter.pointers > 0
            ? fmt::format(
                  "{}: adopt found no operand of type {} for this parameter", parameter.name,
                  parameter.type + std::string(static_cast<std::size_t>(parameter.pointers), '*'))
            : fmt::format(
                  "{0}: replace the braces with an argument; but if {1} is a struct, keep the "
                  "braces and list the members of {1} between them",
                  parameter.name, parameter.type);
    return parameter.pointers > 0 || parameter.is_reference ? kFillIn
                                                            : fmt::format("{{{}}}", kFillIn);
  }

  static std::string cast_to(const std::string& type) {
    return type == "int" ? "" : fmt::format("({}) ", type);
  }

  /// How many numbers an earlier launch has left.
  [[nodiscard]] std::string count_between(std::size_t k, const std::string& name,
                                          const std::string& type, LaunchGuess& launch) const {
    for (const auto& each : problem_.between) {
      if (each.reader != k || !each.is_by_block || blocks_of(each.writer) == kFillIn) continue;
      launch.args_comment = fmt::format("CHECK: {}: the number of blocks of {}", name,
                                        kernels_[each.writer].source->name);
      return cast_to(type) + blocks_of(each.writer);
    }
    launch.args_comment =
        fmt::format("{}: the number of values that the launch above writes", name);
    return kFillIn;
  }

  const SourceModel& model_;
  const std::vector<AdoptedKernel>& kernels_;
  const ProblemGuess& problem_;
  Renames tuned_;  ///< template parameter -> tunable
  std::map<std::pair<std::size_t, std::string>, std::string> offsets_;  ///< in the workspace
  TemplateGuess result_;
};

}  // namespace

TemplateGuess guess_template(const SourceModel& model, const std::vector<AdoptedKernel>& kernels,
                             const ProblemGuess& problem, std::vector<TunableGuess> tunables) {
  return LaunchReader(model, kernels, problem, std::move(tunables)).run();
}

FixedLaunch guess_fixed_launch(const SourceModel& model, const AdoptedKernel& kernel,
                               const ProblemGuess& problem,
                               const std::vector<TunableGuess>& tunables) {
  const TemplateGuess guess = guess_template(model, {kernel}, problem, tunables);
  Renames numbers;
  for (const auto& each : guess.tunables) numbers.emplace(each.name, std::to_string(each.usual));
  const LaunchGuess& launch = guess.launches.front();
  const auto fixed = [&](const std::vector<std::string>& texts) {
    std::vector<std::string> result;
    for (const auto& text : texts) result.push_back(renamed_words(text, numbers));
    return result;
  };
  return {renamed_words(launch.kernel, numbers), fixed(launch.grid), fixed(launch.block),
          fixed(launch.args)};
}

}  // namespace kiln::tools
