// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "templates/catalog.hpp"

namespace kiln {

/// Replaces `#include "x"` by the text of the project header x, once each, with `#line` around it;
/// `#pragma once` goes, and every other line keeps its number. Includes in angle brackets outside
/// of conditionals are collected for the top of the text.
class HeaderInliner {
 public:
  enum class Mode {
    rendered,     ///< what is under `#if !defined(KILN_RENDERED)` is left out
    as_it_stands  ///< kept
  };

  HeaderInliner(const FileSet& headers, Mode mode) : headers_(headers), mode_(mode) {}

  /// Appends `source`, with include path `path`, to the text. Throws Error(template_) with
  /// file:line:column for a header that does not exist, a cycle, or a project header under a
  /// condition (which could not be inlined once for all).
  void add(std::string_view path, std::string_view source);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Lines `<cuda_fp16.h>` in order of first appearance.
  [[nodiscard]] const std::vector<std::string>& system_includes() const { return system_includes_; }
  /// Include paths of the headers inlined, in order.
  [[nodiscard]] const std::vector<std::string>& inlined() const { return inlined_; }

 private:
  class FileScanner;
  void include(std::string_view from, std::string_view name, int line, std::string_view line_text);
  [[nodiscard]] std::string resolve(std::string_view from, std::string_view name) const;

  const FileSet& headers_;
  Mode mode_;
  std::string text_;
  std::vector<std::string> system_includes_;
  std::vector<std::string> inlined_;
  std::set<std::string, std::less<>> known_;  // of either list
  std::vector<std::string> open_;             // the files being read, outermost first
};

}  // namespace kiln
