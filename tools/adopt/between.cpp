// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/between.hpp"

#include <algorithm>
#include <utility>

#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

class BetweenFinder {
 public:
  BetweenFinder(const SourceModel& model, const std::vector<AdoptedKernel>& kernels)
      : model_(model), kernels_(kernels) {}

  std::vector<BetweenGuess> run() {
    for (std::size_t writer = 0; writer < kernels_.size(); ++writer) {
      for (const auto& parameter : kernels_[writer].source->parameters) {
        find_chain(writer, parameter);
      }
    }
    for (std::size_t reader = 1; reader < kernels_.size(); ++reader) {
      for (const auto& parameter : kernels_[reader].source->parameters) {
        if (parameter.pointers != 1 || role_in(reader, parameter) != "in") continue;
        if (is_written_from(reader, parameter.name)) continue;
        if (is_read_between(reader, parameter.name)) continue;
        for (std::size_t writer = reader; writer-- > 0;) {
          const auto* const written = writer_of(writer, reader, parameter);
          if (written == nullptr) continue;
          add_between(writer, *written, reader, parameter.name);
          break;
        }
      }
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string role_in(std::size_t kernel, const SourceParameter& parameter) const {
    return role_of(kernels_[kernel], parameter);
  }

  [[nodiscard]] bool is_read_between(std::size_t reader, const std::string& name) const {
    return std::any_of(result_.begin(), result_.end(), [&](const BetweenGuess& each) {
      return each.reader == reader && each.read == name;
    });
  }

  [[nodiscard]] const SourceParameter* find_parameter(std::size_t kernel,
                                                      const std::string& name) const {
    for (const auto& parameter : kernels_[kernel].source->parameters) {
      if (parameter.name == name && parameter.pointers == 1) return &parameter;
    }
    return nullptr;
  }

  [[nodiscard]] bool is_written_from(std::size_t kernel, const std::string& name) const {
    for (std::size_t k = kernel; k < kernels_.size(); ++k) {
      const auto* const parameter = find_parameter(k, name);
      if (parameter != nullptr && role_in(k, *parameter) != "in") return true;
    }
    return false;
  }

  void add_between(std::size_t writer, const SourceParameter& written, std::size_t reader,
                   const std::string& read) {
    BetweenGuess guess{writer,
                       reader,
                       written.name,
                       read,
                       element_bytes(written),
                       is_by_block(writer, written.name),
                       ""};
    result_.push_back(std::move(guess));
  }

  /// An array that one kernel fills first, others may change, and the last one reads.
  void find_chain(std::size_t writer, const SourceParameter& parameter) {
    if (parameter.pointers != 1 || role_in(writer, parameter) != "out") return;
    for (std::size_t k = 0; k < writer; ++k) {
      if (find_parameter(k, parameter.name) != nullptr) return;
    }
    std::vector<std::size_t> others;
    std::string last;
    for (std::size_t k = writer + 1; k < kernels_.size(); ++k) {
      const auto* const same = find_parameter(k, parameter.name);
      if (same == nullptr) continue;
      last = role_in(k, *same);
      if (last == "out") return;  // it begins anew
      others.push_back(k);
    }
    if (last != "in") return;
    for (const std::size_t k : others) add_between(writer, parameter, k, parameter.name);
  }

  [[nodiscard]] const SourceParameter* writer_of(std::size_t writer, std::size_t reader,
                                                 const SourceParameter& read) const {
    if (const auto passed = passed_to(reader, read.name); !passed.empty()) {
      for (const auto& parameter : kernels_[writer].source->parameters) {
        const bool is_same = parameter.pointers == 1 && role_in(writer, parameter) != "in" &&
                             passed_to(writer, parameter.name) == passed;
        if (is_same) return &parameter;
      }
      // The host passes something else.
      if (is_launched(writer)) return nullptr;
    }
    const auto* const same = find_parameter(writer, read.name);
    if (same != nullptr) return role_in(writer, *same) == "in" ? nullptr : same;
    const SourceParameter* found = nullptr;
    for (const auto& parameter : kernels_[writer].source->parameters) {
      const bool is_left = parameter.pointers == 1 && role_in(writer, parameter) != "in" &&
                           parameter.type == read.type &&
                           find_parameter(reader, parameter.name) == nullptr;
      if (is_left && found != nullptr) return nullptr;
      if (is_left) found = &parameter;
    }
    return found;
  }

  [[nodiscard]] bool is_launched(std::size_t kernel) const {
    const auto launch = model_.host_launches.find(kernels_[kernel].source->plain_name);
    return launch != model_.host_launches.end() && !launch->second.empty();
  }

  /// The variable that the host passes for a parameter, or "".
  [[nodiscard]] std::string passed_to(std::size_t kernel, const std::string& name) const {
    const auto launch = model_.host_launches.find(kernels_[kernel].source->plain_name);
    if (launch == model_.host_launches.end()) return "";
    const auto& parameters = kernels_[kernel].source->parameters;
    for (std::size_t i = 0; i < parameters.size() && i < launch->second.size(); ++i) {
      if (parameters[i].name == name) return launch->second[i];
    }
    return "";
  }

  [[nodiscard]] std::string element_bytes(const SourceParameter& parameter) const {
    const auto element = element_type(parameter.type, model_.type_aliases);
    return element ? std::to_string(element->parts * size_bytes(element->type)) : kFillIn;
  }

  [[nodiscard]] bool is_by_block(std::size_t kernel, const std::string& name) const {
    const auto& written_at = use_of(kernels_[kernel], name).written_at;
    return written_at.size() == 1 && *written_at.begin() == "blockIdx.x";
  }

  const SourceModel& model_;
  const std::vector<AdoptedKernel>& kernels_;
  std::vector<BetweenGuess> result_;
};

}  // namespace

const PointerUse& use_of(const AdoptedKernel& kernel, const std::string& parameter) {
  static const PointerUse none;
  const auto found = kernel.facts.pointers.find(parameter);
  return found == kernel.facts.pointers.end() ? none : found->second;
}

std::string role_of(const AdoptedKernel& kernel, const SourceParameter& parameter) {
  const PointerUse& used = use_of(kernel, parameter.name);
  if (parameter.is_const) return "in";
  if (used.is_atomic || (used.is_read && used.is_written)) return "inout";
  return used.is_read && !used.is_given_away ? "in" : "out";
}

std::vector<BetweenGuess> find_between(const SourceModel& model,
                                       const std::vector<AdoptedKernel>& kernels) {
  return BetweenFinder(model, kernels).run();
}

}  // namespace kiln::tools
