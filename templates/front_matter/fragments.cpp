// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/fragments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "templates/render/code_scanner.hpp"
#include "templates/source_error.hpp"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 5> kOfFragments{"config", "at", "tune", "let", "require"};

std::string_view kind_of(bool is_at_launch) {
  return is_at_launch ? "at launch" : "config";
}

FragmentStruct struct_of(const FrontMatterLine& line, const FrontMatterLine& use,
                         const KernelTemplate::Fragment& fragment) {
  const Declaration& declaration = line.declaration;
  if (!declaration.bases.empty()) {
    throw_at(
        declaration.place, declaration.name, 0,
        fmt::format("the struct {0} cannot have base structs, because a template names this "
                    "header in a \"use\" line. Next: copy the fields of the base structs into {0}",
                    declaration.name));
  }
  auto scanned = find_struct(fragment.text, declaration.name);
  if (!scanned) {
    throw_at(declaration.place, declaration.name, 0,
             fmt::format("the struct {} has no closing '}}'", declaration.name));
  }
  return {declaration.name, line.key == "at", std::move(scanned->fields), use};
}

/// The statements of one fragment but those that mark its structs, which go to `structs`.
std::vector<FrontMatterLine> read_fragment(const FrontMatterLine& use,
                                           const KernelTemplate::Fragment& fragment,
                                           std::vector<FragmentStruct>& structs) {
  std::vector<FrontMatterLine> statements;
  for (auto& line : read_front_matter(fragment.file, fragment.text)) {
    if (std::ranges::find(kOfFragments, line.key) == kOfFragments.end()) {
      line.fail_at_key(
          fmt::format("\"{}\" lines are not allowed in a header that a template names in a "
                      "\"use\" line; write the line in the template. Only these lines can be in "
                      "the header: {}",
                      line.key, fmt::join(kOfFragments, ", ")));
    }
    if (line.key == "config" || line.key == "at") {
      if (!line.is_declaration()) {
        line.fail_at_key(
            fmt::format("write \"{0}\" in the first line of a struct: struct Name {{  //@ {0}",
                        kind_of(line.key == "at")));
      }
      structs.push_back(struct_of(line, use, fragment));
    } else {
      statements.push_back(std::move(line));
    }
  }
  if (statements.empty()) {
    use.fail(0,
             fmt::format("{} contains no \"//@\" lines; remove this \"use\" line", fragment.file));
  }
  return statements;
}

}  // namespace

std::vector<FragmentStruct> insert_fragments(std::vector<FrontMatterLine>& lines,
                                             std::string_view source,
                                             const KernelTemplate::FragmentSearch& search) {
  std::vector<FragmentStruct> structs;
  std::vector<FrontMatterLine> result;
  std::vector<std::string> used;
  for (auto& line : lines) {
    if (line.key != "use") {
      result.push_back(std::move(line));
      continue;
    }
    if (std::ranges::find(used, line.text) != used.end()) {
      line.fail(0,
                fmt::format("another \"use\" line already names {}; remove this line", line.text));
    }
    used.push_back(line.text);
    // A part of the digest is what the source includes.
    if (source.find(fmt::format("#include \"{}\"", line.text)) == std::string_view::npos) {
      line.fail(0, fmt::format("the template does not include this header. Next: add #include "
                               "\"{}\" to the template.",
                               line.text));
    }
    const auto fragment = search ? search(line.text) : std::nullopt;
    if (!fragment) line.fail(0, fmt::format("there is no header \"{}\"", line.text));
    std::ranges::move(read_fragment(line, *fragment, structs), std::back_inserter(result));
  }
  lines = std::move(result);
  return structs;
}

std::vector<const FragmentStruct*> bases_of(const Declaration& declaration, bool is_at_launch,
                                            const std::vector<FragmentStruct>& fragments) {
  std::vector<const FragmentStruct*> bases;
  for (const auto& name : declaration.bases) {
    const auto found = std::ranges::find_if(
        fragments, [&](const FragmentStruct& one) { return one.name == name; });
    if (found == fragments.end()) {
      throw_at(declaration.place, declaration.name, 0,
               fmt::format(
                   "Kiln does not know the fields of the base struct {}. Next: mark the base "
                   "struct with \"//@ {}\" in its header, and add \"//@ use HEADER\" to this file.",
                   name, kind_of(is_at_launch)));
    }
    if (found->is_at_launch != is_at_launch) {
      throw_at(declaration.place, declaration.name, 0,
               fmt::format("the base struct {} is marked \"//@ {}\", but the derived struct is "
                           "marked \"//@ {}\"; write the same mark on both structs",
                           name, kind_of(found->is_at_launch), kind_of(is_at_launch)));
    }
    bases.push_back(&*found);
  }
  for (const FragmentStruct& one : fragments) {
    if (one.is_at_launch != is_at_launch) continue;
    if (std::ranges::find(bases, &one) != bases.end()) continue;
    one.use.fail(0, fmt::format("the header {3} declares the struct {0}, but the template's struct "
                                "{1} does not derive from {0}. Next: write struct {1} : {0} {{  "
                                "//@ {2}",
                                one.name, declaration.name, kind_of(is_at_launch), one.use.text));
  }
  return bases;
}

}  // namespace kiln
