// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Where arguments lie in what a launch passes.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "templates/front_matter/argument_list.hpp"

namespace kiln {
namespace {

constexpr std::size_t kAddressBytes = 8;

std::size_t rounded_up(std::size_t at, std::size_t alignment) {
  return (at + alignment - 1) / alignment * alignment;
}

std::size_t alignment_of(const ArgumentSpec& spec) {
  switch (spec.kind) {
    case ArgumentSpec::Kind::number:
    case ArgumentSpec::Kind::scalar:
      return size_bytes(spec.type);
    case ArgumentSpec::Kind::structure: {
      std::size_t most = 1;
      for (const auto& member : spec.members) most = std::max(most, alignment_of(member));
      return most;
    }
    default:
      return kAddressBytes;
  }
}

class ArgumentPlanner {
 public:
  ArgumentPlanner(const std::function<std::int64_t(const Expression&)>& value,
                  const std::function<void(const std::string&)>& refuse,
                  std::span<const std::int64_t> scratch_offsets)
      : value_(value), refuse_(refuse), scratch_offsets_(scratch_offsets) {}

  ArgumentPlan run(const std::vector<ArgumentSpec>& list) {
    for (const ArgumentSpec& spec : list) {
      align(alignment_of(spec));
      plan_.parameters.push_back(static_cast<std::uint16_t>(plan_.image.size()));
      put(spec);
    }
    return std::move(plan_);
  }

 private:
  /// Appends it at the end, which is aligned for it.
  void put(const ArgumentSpec& spec) {
    if (spec.kind == ArgumentSpec::Kind::structure) {
      for (const ArgumentSpec& member : spec.members) {
        align(alignment_of(member));
        put(member);
      }
      align(alignment_of(spec));
      return;
    }
    if (spec.kind == ArgumentSpec::Kind::number) {
      put_number(spec);
      return;
    }
    if (spec.kind == ArgumentSpec::Kind::choice) {
      put(spec.members[value_(*spec.value) != 0 ? 0 : 1]);
      return;
    }
    ArgumentPatch patch;
    patch.source = source_of(spec.kind);
    patch.index = spec.index;
    patch.at = static_cast<std::uint16_t>(plan_.image.size());
    if (spec.kind == ArgumentSpec::Kind::scalar) {
      patch.type = spec.type;
      patch.declared = spec.declared;
    }
    if (spec.value) patch.offset = offset_of(*spec.value);
    if (!spec.scratch_name.empty()) {
      patch.index = static_cast<std::uint16_t>(spec.index + 1);
      patch.offset = scratch_offsets_[spec.index];
    }
    plan_.patches.push_back(patch);
    grow(alignment_of(spec));
  }

  static ArgumentPatch::Source source_of(ArgumentSpec::Kind kind) {
    switch (kind) {
      case ArgumentSpec::Kind::float64:
        return ArgumentPatch::Source::float64;
      case ArgumentSpec::Kind::magnitude:
        return ArgumentPatch::Source::magnitude;
      case ArgumentSpec::Kind::before:
        return ArgumentPatch::Source::before;
      case ArgumentSpec::Kind::verdict:
        return ArgumentPatch::Source::verdict;
      case ArgumentSpec::Kind::seed:
        return ArgumentPatch::Source::seed;
      case ArgumentSpec::Kind::workspace:
        return ArgumentPatch::Source::workspace;
      case ArgumentSpec::Kind::scalar:
        return ArgumentPatch::Source::scalar;
      default:
        return ArgumentPatch::Source::operand;
    }
  }

  [[nodiscard]] std::int64_t offset_of(const Expression& expression) const {
    const std::int64_t offset = value_(expression);
    if (offset < 0) {
      refuse_(
          fmt::format("the argument \"workspace + {}\" points before the workspace: the offset is "
                      "{}, but must be at least 0",
                      expression.text(), offset));
    }
    return offset;
  }

  void put_number(const ArgumentSpec& spec) {
    const std::int64_t number = value_(*spec.value);
    const std::size_t at = plan_.image.size();
    const bool is_wide = spec.type == NumberType::s64 || spec.type == NumberType::u64;
    const bool fitting =
        spec.type == NumberType::u64 ? number >= 0 : is_wide || fits(spec.type, number);
    if (!fitting) {
      const auto type = cpp_spelling(spec.type);
      const auto* const article = type.front() == 'i' || type.front() == 'u' ? "an" : "a";
      const std::string advice = spec.type == NumberType::boolean
                                     ? fmt::format("write \"(bool) ({} != 0)\"", spec.value->text())
                                     : "write \"(long long)\" before the argument, and make the "
                                       "kernel's parameter a long long";
      refuse_(fmt::format("the argument \"{}\" is {}, which does not fit {} {}; {}",
                          spec.value->text(), number, article, type, advice));
    }
    grow(size_bytes(spec.type));
    std::uint8_t* const to = plan_.image.data() + at;
    if (is_wide) {
      std::memcpy(to, &number, sizeof(number));
    } else {
      store_number(spec.type, number, to);
    }
  }

  /// Floats round what they have not.
  static bool fits(NumberType type, std::int64_t number) {
    const NumberRange range = range_of(type);
    return !range.whole || range.has(number);
  }

  void align(std::size_t alignment) {
    grow(rounded_up(plan_.image.size(), alignment) - plan_.image.size());
  }

  /// By so many bytes of 0.
  void grow(std::size_t bytes) {
    if (plan_.image.size() + bytes > kMostArgumentBytes) {
      refuse_(fmt::format("the arguments take more than {} bytes, the limit for a kernel",
                          kMostArgumentBytes));
    }
    plan_.image.resize(plan_.image.size() + bytes);
  }

  const std::function<std::int64_t(const Expression&)>& value_;
  const std::function<void(const std::string&)>& refuse_;
  std::span<const std::int64_t> scratch_offsets_;
  ArgumentPlan plan_;
};

}  // namespace

ArgumentPlan plan_arguments(const std::vector<ArgumentSpec>& list,
                            const std::function<std::int64_t(const Expression&)>& value,
                            const std::function<void(const std::string&)>& refuse,
                            std::span<const std::int64_t> scratch_offsets) {
  return ArgumentPlanner(value, refuse, scratch_offsets).run(list);
}

}  // namespace kiln
