// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "templates/render/source_lines.hpp"

namespace kiln {

/// The macro that tells a file that its tunables are defined, by the name that Kernel Tuner uses.
inline constexpr std::string_view kTunerMacro = "kernel_tuner";
/// The macro that leaves out of a rendered kernel what is for the host.
inline constexpr std::string_view kRenderedMacro = "KILN_RENDERED";

/// Whether the compiler reads a line.
enum class Taken : std::uint8_t { no, yes, unknown };

/// The `#if` groups around a line of a source before which `macros` are defined, as are kTunerMacro
/// and kRenderedMacro. Other conditions are unknown.
class ConditionalGroups {
 public:
  explicit ConditionalGroups(std::span<const std::string> macros) : macros_(macros) {}

  /// Every line is to be given, in order.
  void pass(const SourceLine& line);
  /// Whether the line that was passed last is read, where it gives `name` a meaning. Nobody defines
  /// a guard that only a typo made a name of its own: it counts as undefined, and is given back.
  [[nodiscard]] Taken taken(std::string_view name, std::string& guard) const;
  /// The same where it matters to no name.
  [[nodiscard]] Taken taken() const;

 private:
  /// One conditional: the group that the line is in, and whether an earlier one is read.
  struct Conditional {
    Taken group = Taken::unknown;
    Taken before = Taken::no;
    std::string guard = {};  ///< read if this is not defined, which the file leaves open
  };

  [[nodiscard]] Taken defined(std::string_view name) const;
  [[nodiscard]] Taken value_of(std::string_view condition) const;
  void open(Taken group, std::string_view guard = "");
  void turn(Taken condition);

  std::span<const std::string> macros_;
  std::vector<Conditional> open_;
};

/// The word that the text begins with, behind spaces; the text is then what follows.
[[nodiscard]] std::string_view take_word(std::string_view& text);

}  // namespace kiln
