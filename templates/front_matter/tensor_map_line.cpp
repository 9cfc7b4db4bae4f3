// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/tensor_map_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "templates/front_matter/front_matter.hpp"
#include "templates/launch/tensor_map_plan.hpp"
#include "templates/nearest_name.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

const std::vector<std::string>& clause_names() {
  static const std::vector<std::string> names{"box", "pitch", "swizzle", "promote", "in_workspace"};
  return names;
}

class MapParser {
 public:
  MapParser(const FrontMatterLine& line, const NameTable& names) : line_(line), names_(names) {}

  TensorMapSpec run(const Operation& operation) {
    const auto colon = line_.text.find(':');
    const auto slot = trimmed(std::string_view(line_.text).substr(0, colon));
    if (colon == std::string_view::npos || slot.find('?') != std::string_view::npos) {
      line_.fail(0,
                 "a \"map\" line begins with the name of a type slot and a colon, as in \"a: k, m; "
                 "box 64, tile_m\"");
    }
    const auto& slots = operation.type_slots();
    if (std::find(slots.begin(), slots.end(), slot) == slots.end()) {
      line_.fail(0, fmt::format("{} has no type slot \"{}\"{}", operation.name, slot,
                                did_you_mean(slot, slots)));
    }
    spec_.slot = slot;
    spec_.line = line_.text_place.line;
    const auto clauses = split_clauses(std::string_view(line_.text).substr(colon + 1));
    spec_.extents = list({clauses[0].text, clauses[0].offset + colon + 1});
    for (std::size_t i = 1; i < clauses.size(); ++i) {
      read_clause({clauses[i].text, clauses[i].offset + colon + 1});
    }
    check(operation);
    return std::move(spec_);
  }

 private:
  [[nodiscard]] Expression one(TextPart part) const {
    return Expression::parse(part.text, names_, line_.text_place.at(part.offset));
  }

  [[nodiscard]] std::vector<Expression> list(TextPart part) const {
    std::vector<Expression> result;
    for (const auto& [text, offset] : split_arguments(part.text)) {
      if (result.size() == kMostMapRank) {
        line_.fail(part.offset + offset, "a tensor map has at most five dimensions");
      }
      result.push_back(one({text, part.offset + offset}));
    }
    return result;
  }

  void read_clause(TextPart clause) {
    const auto name = clause.text.substr(0, clause.text.find_first_of(kLineSpace));
    const auto& known = clause_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      line_.fail(clause.offset,
                 fmt::format("a map has no part \"{}\"{}; the parts of a map are: {}", name,
                             did_you_mean(name, known), fmt::join(known, " ")));
    }
    const auto rest = trimmed(clause.text.substr(name.size()));
    const TextPart value{
        rest, clause.offset + (rest.empty() ? name.size() : offset_in(clause.text, rest))};
    const auto set = [&](auto& to, auto parsed, bool is_set) {
      if (is_set)
        line_.fail(clause.offset,
                   fmt::format("this map has two \"{}\" parts; remove one of them", name));
      to = std::move(parsed);
    };
    if (name == "box") {
      set(spec_.box, list(value), !spec_.box.empty());
    } else if (name == "pitch") {
      set(spec_.pitch, list(value), !spec_.pitch.empty());
    } else if (name == "swizzle") {
      set(spec_.swizzle, one(value), spec_.swizzle.has_value());
    } else if (name == "promote") {
      set(spec_.promote, one(value), spec_.promote.has_value());
    } else {
      set(spec_.workspace, one(value), spec_.workspace.has_value());
    }
  }

  void check(const Operation& operation) const {
    const std::size_t rank = spec_.extents.size();
    if (spec_.box.size() != rank) {
      line_.fail(0, fmt::format("the box of this map has {} dimensions, but the tensor has {}",
                                spec_.box.size(), rank));
    }
    // A leading dimension is of dimension 1; whatever is above that must be said.
    const bool fits = spec_.pitch.empty() ? rank <= 2 : spec_.pitch.size() + 1 == rank;
    if (!fits) {
      line_.fail(
          0,
          rank == 1
              ? std::string("a map of one dimension has no \"pitch\"; remove \"pitch\"")
              : fmt::format("a map of {} dimensions needs \"pitch\" with {} values: one stride, in "
                            "elements, for each dimension except the first",
                            rank, rank - 1));
    }
    if (operation.operand(spec_.slot) == nullptr && !spec_.workspace) {
      line_.fail(
          0, fmt::format(
                 "the operation has no operand \"{}\". If the tensor is in the "
                 "workspace, add \"in_workspace OFFSET\"; OFFSET is the byte offset of the tensor",
                 spec_.slot));
    }
  }

  const FrontMatterLine& line_;
  const NameTable& names_;
  TensorMapSpec spec_;
};

}  // namespace

TensorMapSpec parse_tensor_map(const FrontMatterLine& line, const Operation& operation,
                               const NameTable& names) {
  return MapParser(line, names).run(operation);
}

}  // namespace kiln
