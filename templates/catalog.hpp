// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "templates/kernel_template.hpp"
#include "templates/operation/operation.hpp"
#include "templates/render/header_search.hpp"

namespace kiln {

/// Kernel sources compiled into the program (all of templates/kernels/), by path below kernels/.
[[nodiscard]] const FileSet& embedded_files();

/// A file of a template directory that is left out, because of a mistake in it.
struct BrokenFile {
  std::string file;
  std::string name;       ///< of the template or operation that it would declare; "": not told
  std::string operation;  ///< that it declares or that its template computes; "": not told
  Error error;            ///< which names the place
};

/// Where headers are looked for that are not beside the sources.
struct IncludeFolders {
  std::vector<std::string> folders = {};  ///< in this order
  std::string cuda = {};  ///< that the user chose for CUDA's headers; others in it are found, too
};

/// The templates that can be generated: the built-in ones, then those of the user's directories. A
/// user's template with a built-in name replaces it. Immutable after construction.
class Catalog {
 public:
  /// Built-ins only.
  [[nodiscard]] static const Catalog& builtin();
  /// Built-ins and every `*.cu` file with front matter below the directories, with the operations
  /// that files declare; all files below them can be included. What cannot be read below a
  /// directory is left out. Throws Error(template_) for a malformed file, Error(usage) for a
  /// directory that cannot be read, each with its place.
  [[nodiscard]] static Catalog with_directories(const std::vector<std::string>& directories,
                                                const IncludeFolders& includes = {});
  /// The same without the malformed files, which become broken(): one mistake must not hide what is
  /// sound. A template whose operation is broken is left out with it, unnamed.
  [[nodiscard]] static Catalog with_sound_files(const std::vector<std::string>& directories,
                                                const IncludeFolders& includes = {});

  [[nodiscard]] const std::vector<KernelTemplate>& templates() const { return templates_; }
  /// What its templates compute. Other catalogs of the process may have other operations of the
  /// same names, so whoever uses templates of two of them needs an OperationScope.
  [[nodiscard]] const OperationSet& operations() const { return *operations_; }
  /// A sentence for each folder and file below the directories that could not be read.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  [[nodiscard]] const KernelTemplate* find(std::string_view name) const;
  [[nodiscard]] const std::vector<BrokenFile>& broken() const { return broken_; }
  /// The broken file of that template, or of or for that operation; nullptr if there is none.
  [[nodiscard]] const BrokenFile* find_broken(std::string_view name) const;
  /// Like find, but throws the error of a broken file of that name, else Error(usage) that lists
  /// the available ones, nearest name first. With `operation`, it lists only templates of that
  /// operation.
  [[nodiscard]] const KernelTemplate& at(std::string_view name,
                                         std::string_view operation = {}) const;
  /// Digest over the template, every header that it reaches and that is not CUDA's, and what a
  /// declared operation says of its arguments. Measurements are keyed by it: it changes whenever
  /// the generated code could. Made when it is first asked for, as a program that launches kernels
  /// asks for few of them; thread-safe.
  [[nodiscard]] const std::string& digest(std::string_view name) const;
  /// The built-in headers, by include path.
  [[nodiscard]] const FileSet& headers() const { return *headers_; }

  /// Where a template came from, and what it may include.
  struct Origin {
    std::string path;      ///< below its directory: "product/product_tiled.cu"
    HeaderSearch headers;  ///< what it may include
  };
  /// Throws Error(usage) like at().
  [[nodiscard]] const Origin& origin(std::string_view name) const;

 private:
  struct Digest {
    std::once_flag made;
    std::string hex;
  };
  Catalog();
  void add_directory(const std::string& directory, const FileSet& files,
                     const HeaderSearch& headers);
  /// Throws for what is wrong in the headers that it includes.
  void add_sound(KernelTemplate kernel_template, const std::string& path,
                 const HeaderSearch& headers);
  void add(KernelTemplate kernel_template, std::string path, HeaderSearch headers);

  std::vector<KernelTemplate> templates_;
  std::shared_ptr<const OperationSet> operations_ = std::make_shared<OperationSet>();
  std::vector<std::string> left_out_;
  std::vector<BrokenFile> broken_;
  std::map<std::string, Origin, std::less<>> origins_;
  std::map<std::string, std::shared_ptr<Digest>, std::less<>> digests_;  // of the same names
  std::shared_ptr<const FileSet> headers_;
};

}  // namespace kiln
