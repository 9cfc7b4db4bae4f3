// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "templates/front_matter/include_line.hpp"

namespace kiln {

/// A file by its include path ("common/vectors.cuh") and its text.
using FileSet = std::map<std::string, std::string, std::less<>>;

/// Takes the byte order mark off a text in UTF-8. Returns why the text is none, with the next step;
/// "" if it may be.
[[nodiscard]] std::string take_byte_order_mark(std::string& text);

/// Reads a source without its byte order mark. At most one byte beyond the limit is read, whatever
/// the file is; throws Error(template_) for a larger one, Error(usage) if it can't be read or is no
/// plain file.
[[nodiscard]] std::string read_source(const std::string& file);

/// Sources by their path below a folder. What is on disk is read when it is first asked for and
/// then kept: what was digested is what is compiled. Thread-safe.
class SourceFolder {
 public:
  /// `shown` stands before the paths in rendered texts.
  explicit SourceFolder(std::string folder, std::string shown = "");
  explicit SourceFolder(FileSet files) : files_(std::move(files)) {}

  /// The text, which lives as long as the folder; nullptr if there is no such file.
  [[nodiscard]] const std::string* find(const std::string& path) const;
  /// "below/it.h" as rendered texts have it: never the name of a folder that the user named.
  [[nodiscard]] std::string shown(const std::string& path) const { return shown_ + path; }
  /// Where that is, for errors.
  [[nodiscard]] std::string place(const std::string& path) const;
  /// Whether it has CUDA's headers.
  [[nodiscard]] bool is_of_cuda() const { return is_of_cuda_; }
  [[nodiscard]] const std::string& name() const { return folder_; }

 private:
  std::string folder_;  ///< "": the files are in memory only
  std::string shown_;
  bool is_of_cuda_ = false;
  FileSet files_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::optional<std::string>> read_;
};

/// All of templates/kernels/.
[[nodiscard]] std::shared_ptr<const SourceFolder> builtin_sources();

using SourceFolders = std::vector<std::shared_ptr<const SourceFolder>>;

/// Where one source looks for what it includes. Copies are cheap.
class HeaderSearch {
 public:
  struct Header {
    const SourceFolder* folder = nullptr;
    std::string path;  ///< below it
    const std::string* text = nullptr;
    [[nodiscard]] std::string shown() const { return folder->shown(path); }
  };

  HeaderSearch() = default;
  /// What is built in, and nothing else.
  [[nodiscard]] static const HeaderSearch& builtin();
  /// Files in memory.
  HeaderSearch(const FileSet& files);  // NOLINT(google-explicit-constructor)

  /// `own` is the first of `tree`. Folders of a tree are one with respect to paths: that of the
  /// source, those that are built in, and the others of the template path, in this order.
  HeaderSearch(SourceFolders tree, SourceFolders includes,
               std::shared_ptr<const SourceFolder> cuda);

  /// The same with folders that the source at `path` names in `include` lines, searched before the
  /// others. Throws Error(template_) at the line of `file` that names none.
  [[nodiscard]] HeaderSearch with_includes(const std::string& path, const std::string& file,
                                           const std::vector<IncludeLine>& lines) const;

  /// Of `#include "name"` in a header (or in a source, which has no folder): beside it, from the
  /// top of the tree, in the folders for includes, and then as compilers do it like <name>.
  [[nodiscard]] std::optional<Header> quoted(const SourceFolder* from, std::string_view path,
                                             std::string_view name) const;
  /// Of `#include <name>`: nothing for what is CUDA's or of the standard library.
  [[nodiscard]] std::optional<Header> angled(std::string_view name) const;
  /// " in a, b, nor among those of CUDA and Kiln", for errors; "" of files in memory.
  [[nodiscard]] std::string places() const;

 private:
  [[nodiscard]] std::optional<Header> in_tree(const std::string& path) const;
  [[nodiscard]] std::optional<Header> in_includes(const std::string& path) const;

  SourceFolders tree_;
  SourceFolders includes_;
  std::shared_ptr<const SourceFolder> cuda_;  ///< that the user chose: it may have other headers
  std::shared_ptr<const SourceFolder> root_;  ///< for absolute names
};

}  // namespace kiln
