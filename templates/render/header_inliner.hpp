// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "templates/digest.hpp"
#include "templates/render/header_search.hpp"

namespace kiln {

/// Replaces every include of a header that is neither CUDA's nor of the standard library by that
/// header's text, with `#line` around it, as the preprocessor would: what the text has is all that
/// was read, and its digest says when any of it changes. `#pragma once` goes, and every other line
/// keeps its number. Other includes in angle brackets, outside of conditionals, are collected for
/// the top of the text.
class HeaderInliner {
 public:
  enum class Mode {
    rendered,     ///< what is under `#if !defined(KILN_RENDERED)` is left out
    as_it_stands  ///< kept
  };

  HeaderInliner(HeaderSearch search, Mode mode) : search_(std::move(search)), mode_(mode) {}

  /// Appends `source`, with include path `path`, to the text; messages call it `shown`. Throws
  /// Error(template_) with file:line:column for an include that names no header, or a header that
  /// includes itself with nothing to stop it. Under a condition, which may never hold, the first
  /// becomes an #error.
  void add(std::string_view path, std::string_view source, std::string_view shown = "");

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Lines `<cuda_fp16.h>` in order of first appearance.
  [[nodiscard]] const std::vector<std::string>& system_includes() const { return system_includes_; }
  /// Include paths of the headers inlined, in order of first appearance.
  [[nodiscard]] const std::vector<std::string>& inlined() const { return inlined_; }
  /// Their texts, in the same order; they live as long as the folders of the search.
  [[nodiscard]] const std::vector<const std::string*>& inlined_texts() const {
    return inlined_texts_;
  }
  /// Whether anything may include a header that Kiln supplies (supplied_headers()).
  [[nodiscard]] bool uses_supplied() const { return uses_supplied_; }
  /// Adds all that was read to a digest, but for the sources themselves.
  void add_headers_to(DigestBuilder& digest) const;

 private:
  class FileScanner;

  /// What is known of a header.
  struct Known {
    std::size_t number = 0;    ///< by order of first appearance
    bool is_once = false;      ///< it has `#pragma once`
    std::string guard;         ///< the macro of its include guard; "": it has none
    bool was_certain = false;  ///< it was inlined where no condition can leave it out
    bool was_wrapped = false;  ///< a macro of Kiln's keeps it from being there twice
    bool is_open = false;
  };
  using Key = std::pair<const SourceFolder*, std::string>;

  /// Where an include stands.
  struct Place {
    const SourceFolder* folder = nullptr;  ///< nullptr: of a source
    std::string_view path;                 ///< below it
    std::string_view shown;
    int line = 0;
    std::string_view text;  ///< of the line
    bool is_certain = true;
  };

  void include(const Place& place, const HeaderSearch::Header& header);
  Known& known(const HeaderSearch::Header& header);
  void note_system(std::string_view name);

  HeaderSearch search_;
  Mode mode_;
  std::string text_;
  std::vector<std::string> system_includes_;
  std::set<std::string, std::less<>> noted_;  // of these
  std::vector<std::string> inlined_;
  std::vector<const std::string*> inlined_texts_;
  std::map<Key, Known> known_;
  std::size_t depth_ = 0;
  std::size_t includes_ = 0;
  bool uses_supplied_ = false;
};

/// A digest over the text of every header that a source reaches and that is not CUDA's, which
/// together with the source is all that its code can depend on; "" if it reaches none. Throws
/// Error(template_) as HeaderInliner::add() does.
[[nodiscard]] std::string digest_of_headers(const HeaderSearch& search, std::string_view path,
                                            std::string_view source);

}  // namespace kiln
