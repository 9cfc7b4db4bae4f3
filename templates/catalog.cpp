// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "kiln/error.hpp"
#include "templates/check/macro_redefinition.hpp"
#include "templates/digest.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/judge.hpp"
#include "templates/operation/operation.hpp"
#include "templates/render/header_inliner.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

/// Part of every template digest. Increment it when the renderer's output for a template changes.
constexpr std::string_view kRendererVersion = "renderer 2";

/// Of the files that guide the search in a template beside them.
constexpr std::string_view kHintsExtension = ".hints";

/// Likewise, of templates whose tunables are macros.
constexpr std::string_view kMacrosVersion = "macros 2";

/// Limits of a template directory, so that naming a home folder by mistake fails soon.
constexpr std::size_t kMostFiles = 4096;
constexpr std::size_t kMostDirectoryBytes = std::size_t{64} << 20;
constexpr std::size_t kMostFolders = 65536;

[[noreturn]] void fail_directory(const std::string& directory, std::string_view why) {
  throw Error(ErrorKind::usage, fmt::format("template directory \"{}\": {}. Next: correct "
                                            "--template-path, KILN_TEMPLATE_PATH or "
                                            "LibraryOptions::template_path",
                                            directory, why));
}

/// Of what is not only included.
bool is_kernel_file(const fs::path& path) {
  const auto extension = path.extension();
  return extension == ".cu" || extension == kHintsExtension;
}

/// The regular files and folders of a folder, in order; what cannot be examined, such as a link to
/// itself, is told in `left_out`, as is the folder if it cannot be read.
struct FolderContent {
  std::vector<fs::path> files;
  std::vector<fs::path> folders;
};

void leave_out(const fs::path& path, const std::error_code& why,
               std::vector<std::string>& left_out) {
  left_out.push_back(
      fmt::format("Kiln ignores the file or folder {}, because Kiln cannot read it: {}",
                  path.generic_string(), why.message()));
}

FolderContent content_of(const fs::path& folder, std::vector<std::string>& left_out) {
  FolderContent content;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); at != fs::directory_iterator();
       at.increment(error)) {
    // As ever, links to files count, and those to folders are not followed.
    std::error_code failure;
    const fs::path& path = at->path();
    if (at->symlink_status(failure).type() == fs::file_type::directory) {
      content.folders.push_back(path);
    } else if (is_kernel_file(path)) {
      const fs::file_type type = at->status(failure).type();
      if (type == fs::file_type::regular) content.files.push_back(path);
      if (failure && type != fs::file_type::not_found) leave_out(path, failure, left_out);
    }
  }
  if (error) leave_out(folder, error, left_out);
  std::ranges::sort(content.files);
  std::ranges::sort(content.folders);
  return content;
}

/// The first word behind a key of a file's front matter, however malformed the rest is.
std::string declared_name(std::string_view source, std::string_view key) {
  constexpr std::string_view kMark = "//@";
  for (std::size_t begin = 0; begin < source.size();) {
    const auto end = std::min(source.find('\n', begin), source.size());
    const auto line = source.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(kMark)) continue;
    const auto words = split_words(line.substr(kMark.size()));
    if (words.size() > 1 && words[0].text == key) return std::string(words[1].text);
  }
  return {};
}

BrokenFile broken_file(const std::string& file, std::string_view text, const Error& error) {
  const std::string operation = declared_name(text, "operation");
  const std::string name = declared_name(text, "template");
  return {file, name.empty() ? operation : name, operation, error};
}

/// The beginning of a file that is no text of ours, as far as it is ASCII: names show whose it is.
std::string letters_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(std::size_t{1} << 16, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  std::erase_if(text, [](char c) { return c == '\0' || static_cast<unsigned char>(c) > 0x7F; });
  return text;
}

/// The `.cu` and `.hints` files below a directory, by relative path.
FileSet read_directory(const std::string& directory, std::vector<std::string>& left_out,
                       std::vector<BrokenFile>& broken) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) fail_directory(directory, "no such directory");
  // Unlike a folder below it, this one was named.
  if (fs::directory_iterator named(directory, error); error) {
    fail_directory(directory, error.message());
  }
  FileSet files;
  std::size_t bytes = 0;
  std::vector<fs::path> folders{directory};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    FolderContent content = content_of(folders[i], left_out);
    std::ranges::move(content.folders, std::back_inserter(folders));
    for (const fs::path& file : content.files) {
      if (!std::ifstream(file).is_open()) {
        leave_out(file, {errno, std::generic_category()}, left_out);
        continue;
      }
      std::string text;
      try {
        text = read_source(file.generic_string());
      } catch (const Error& fault) {
        broken.push_back(broken_file(file.generic_string(), letters_of(file), fault));
        continue;
      }
      bytes += text.size();
      files.emplace(file.lexically_relative(directory).generic_string(), std::move(text));
      if (files.size() > kMostFiles || bytes > kMostDirectoryBytes) {
        fail_directory(directory, fmt::format("the directory contains too many kernel files; "
                                              "the limits are {} files and {} MiB in all",
                                              kMostFiles, kMostDirectoryBytes >> 20));
      }
    }
    if (folders.size() > kMostFolders) {
      fail_directory(directory,
                     fmt::format("the directory contains more than {} folders", kMostFolders));
    }
  }
  return files;
}

bool is_header(std::string_view path) {
  return path.ends_with(".cuh");
}

bool is_template(std::string_view path, std::string_view text) {
  return path.ends_with(".cu") && has_front_matter(text) && !declares_operation(text);
}

/// The hints beside the template at `path`, if there are any. `folder` completes their name.
KernelTemplate::Hints hints_of(const std::string& path, const FileSet& files,
                               const fs::path& folder = {}) {
  const std::string name = fs::path(path).replace_extension(kHintsExtension).generic_string();
  const auto found = files.find(name);
  if (found == files.end()) return {};
  return {(folder / name).generic_string(), found->second};
}

/// Finds the headers that the template at `path` uses. The arguments must outlive the search.
/// `file` and `text` are the template's, whose `include` lines name more folders.
KernelTemplate::FragmentSearch fragments_of(const std::string& path, const std::string& file,
                                            const std::string& text, const HeaderSearch& headers) {
  return [&](const std::string& name) -> std::optional<KernelTemplate::Fragment> {
    HeaderSearch wider = headers;
    auto header = headers.quoted(nullptr, path, name);
    if (!header) {
      std::vector<IncludeLine> includes;
      for (const auto& line : read_front_matter(file, text)) {
        if (line.key == "include") includes.push_back({line.text, line.key_place.line});
      }
      wider = headers.with_includes(path, file, includes);
      header = wider.quoted(nullptr, path, name);
    }
    if (!header) return std::nullopt;
    return KernelTemplate::Fragment{header->folder->place(header->path), *header->text};
  };
}

/// Hints that no template reads would be a misspelt name, and have no effect.
void check_has_template(const fs::path& directory, const std::string& hints, const FileSet& files) {
  const std::string owner = fs::path(hints).replace_extension(".cu").generic_string();
  const auto found = files.find(owner);
  const bool is_there = found != files.end();
  std::error_code error;
  // What keeps a file from being read was told of that file.
  if (is_there ? is_template(owner, found->second) : fs::exists(directory / owner, error)) return;
  const std::string name = fs::path(owner).filename().string();
  const std::string what =
      !is_there ? fmt::format("the folder of this hints file does not contain the file {}", name)
                : fmt::format("{} is not a template: the file {}", name,
                              declares_operation(found->second) ? "declares an operation"
                                                                : "has no front matter");
  throw Error(ErrorKind::template_,
              fmt::format("{}:1:1: {}. Next: name the hints file after a template's file "
                          "(NAME.hints for NAME.cu), or remove the hints file.",
                          (directory / hints).generic_string(), what));
}

/// Over the sources that rendering reads, and nothing else in the folder. A declared operation says
/// what kernels get, so that part of it counts as well; which results are right is its judge's.
std::string digest_of(const KernelTemplate& kernel_template, const std::string& path,
                      const HeaderSearch& headers) {
  HeaderInliner inliner(headers, HeaderInliner::Mode::rendered);
  inliner.add(path, kernel_template.source());
  DigestBuilder digest;
  digest.add(kRendererVersion).add(kernel_template.source());
  if (kernel_template.config_struct().type.empty()) digest.add(kMacrosVersion);
  const Operation& operation = *find_operation(kernel_template.operation());
  if (operation.is_declared()) digest.add(kernel_interface(operation));
  inliner.add_headers_to(digest);
  return digest.hex();
}

/// Its own text was looked at when it was read.
void refuse_redefining_headers(const KernelTemplate& kernel_template, const std::string& path,
                               const HeaderSearch& headers) {
  const auto macros = kernel_template.macros();
  if (macros.empty()) return;
  HeaderInliner inliner(headers, HeaderInliner::Mode::rendered);
  inliner.add(path, kernel_template.source());
  for (std::size_t i = 0; i < inliner.inlined().size(); ++i) {
    refuse_redefinitions(inliner.inlined()[i], *inliner.inlined_texts()[i], macros);
  }
}

/// What the sources of each directory of the template path may include.
std::vector<HeaderSearch> searches(const SourceFolders& directories,
                                   const IncludeFolders& includes) {
  SourceFolders added;
  for (const auto& folder : includes.folders) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      throw Error(ErrorKind::usage, fmt::format("include folder \"{}\" does not exist; name an "
                                                "existing folder of headers with --include",
                                                folder));
    }
    added.push_back(std::make_shared<SourceFolder>(folder));
  }
  const auto cuda = includes.cuda.empty() ? nullptr : std::make_shared<SourceFolder>(includes.cuda);
  std::vector<HeaderSearch> result;
  for (const auto& own : directories) {
    SourceFolders tree{own, builtin_sources()};
    for (const auto& other : directories) {
      if (other != own) tree.push_back(other);
    }
    result.emplace_back(std::move(tree), added, cuda);
  }
  return result;
}

Operation operation_of(const std::string& file, const std::string& path, const std::string& text,
                       const HeaderSearch& headers) {
  Operation operation = Operation::parse(file, text);
  try {
    operation.origin.headers = headers.with_includes(path, file, operation.origin.includes);
    operation.origin.path = path;
    operation.origin.headers_digest = digest_of_headers(operation.origin.headers, path, text);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}\n  in the operation {}", error.what(), file));
  }
  return operation;
}

}  // namespace

Catalog::Catalog() {
  auto headers = std::make_shared<FileSet>();
  for (const auto& [path, text] : embedded_files()) {
    if (is_header(path)) headers->emplace(path, text);
  }
  headers_ = headers;
  for (const auto& [path, text] : embedded_files()) {
    if (!is_template(path, text)) continue;
    add(KernelTemplate::parse(path, text, hints_of(path, embedded_files()),
                              fragments_of(path, path, text, HeaderSearch::builtin())),
        path, HeaderSearch::builtin());
  }
}

const Catalog& Catalog::builtin() {
  static const Catalog catalog;
  return catalog;
}

Catalog Catalog::with_directories(const std::vector<std::string>& directories,
                                  const IncludeFolders& includes) {
  Catalog catalog = with_sound_files(directories, includes);
  if (!catalog.broken_.empty()) throw Error(catalog.broken_.front().error);
  return catalog;
}

Catalog Catalog::with_sound_files(const std::vector<std::string>& directories,
                                  const IncludeFolders& includes) {
  Catalog catalog = builtin();
  const auto operations = std::make_shared<OperationSet>();
  catalog.operations_ = operations;
  const OperationScope scope(*operations);
  SourceFolders folders;
  for (const auto& directory : directories) {
    folders.push_back(std::make_shared<SourceFolder>(directory));
  }
  const std::vector<HeaderSearch> headers = searches(folders, includes);
  // Of all directories before any template, which may be of an operation in a later one.
  std::vector<FileSet> files;
  for (std::size_t i = 0; i < directories.size(); ++i) {
    files.push_back(read_directory(directories[i], catalog.left_out_, catalog.broken_));
    for (const auto& [path, text] : files.back()) {
      if (!path.ends_with(".cu") || !declares_operation(text)) continue;
      const auto file = (fs::path(directories[i]) / path).generic_string();
      try {
        operations->declare(operation_of(file, path, text, headers[i]));
      } catch (const Error& error) {
        catalog.broken_.push_back(broken_file(file, text, error));
      }
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    catalog.add_directory(directories[i], files[i], headers[i]);
  }
  return catalog;
}

void Catalog::add_directory(const std::string& directory, const FileSet& files,
                            const HeaderSearch& headers) {
  for (const auto& [path, text] : files) {
    try {
      if (path.ends_with(kHintsExtension)) check_has_template(directory, path, files);
    } catch (const Error& error) {
      broken_.push_back(broken_file((fs::path(directory) / path).generic_string(), "", error));
    }
  }
  // What a template of a broken operation would say of it is no mistake of its own.
  const auto is_of_broken_operation = [&](std::string_view text) {
    const std::string operation = declared_name(text, "operation");
    return find_operation(operation) == nullptr &&
           std::ranges::any_of(broken_, [&](const BrokenFile& each) {
             return each.name == operation && each.operation == operation;
           });
  };
  // Other directories may replace a template; within one, the same name twice is a mistake.
  std::map<std::string, std::string> seen;
  for (const auto& [path, text] : files) {
    if (!is_template(path, text)) continue;
    if (is_of_broken_operation(text)) continue;
    const auto file = (fs::path(directory) / path).generic_string();
    try {
      const std::string name = declared_name(text, "template");
      const auto [first, is_new] = seen.emplace(name, file);
      if (!is_new && !name.empty()) {
        throw Error(
            ErrorKind::template_,
            fmt::format(
                "{0}:1:1: {2} also declares the template \"{1}\"; rename one of the two templates",
                file, name, first->second));
      }
      add_sound(KernelTemplate::parse(file, text, hints_of(path, files, directory),
                                      fragments_of(path, file, text, headers)),
                path, headers);
    } catch (const Error& error) {
      broken_.push_back(broken_file(file, text, error));
    }
  }
}

void Catalog::add_sound(KernelTemplate kernel_template, const std::string& path,
                        const HeaderSearch& headers) {
  try {
    const HeaderSearch own =
        headers.with_includes(path, kernel_template.file(), kernel_template.includes());
    // Reads all headers, so that what is wrong there shows now, before it replaces another.
    static_cast<void>(digest_of(kernel_template, path, own));
    refuse_redefining_headers(kernel_template, path, own);
    add(std::move(kernel_template), path, own);
  } catch (const Error& error) {
    // Include paths are relative; name the template's directory.
    throw Error(error.kind(),
                fmt::format("{}\n  in the template {}", error.what(), kernel_template.file()));
  }
}

void Catalog::add(KernelTemplate kernel_template, std::string path, HeaderSearch headers) {
  const auto known =
      std::find_if(templates_.begin(), templates_.end(),
                   [&](const KernelTemplate& t) { return t.name() == kernel_template.name(); });
  origins_.insert_or_assign(kernel_template.name(), Origin{std::move(path), std::move(headers)});
  digests_.insert_or_assign(kernel_template.name(), std::make_shared<Digest>());
  // In place, so that the order of templates does not depend on the replacement.
  if (known != templates_.end()) {
    *known = std::move(kernel_template);
  } else {
    templates_.push_back(std::move(kernel_template));
  }
}

const KernelTemplate* Catalog::find(std::string_view name) const {
  const auto found = std::find_if(templates_.begin(), templates_.end(),
                                  [&](const KernelTemplate& t) { return t.name() == name; });
  return found == templates_.end() ? nullptr : &*found;
}

const BrokenFile* Catalog::find_broken(std::string_view name) const {
  const auto found = std::ranges::find_if(broken_, [&](const BrokenFile& each) {
    return !name.empty() && (each.name == name || each.operation == name);
  });
  return found == broken_.end() ? nullptr : &*found;
}

const KernelTemplate& Catalog::at(std::string_view name, std::string_view operation) const {
  if (const KernelTemplate* found = find(name)) return *found;
  if (const BrokenFile* broken = find_broken(name)) throw Error(broken->error);
  std::vector<std::string> names;
  for (const auto& each : templates_) {
    if (operation.empty() || each.operation() == operation) names.push_back(each.name());
  }
  const auto nearest = nearest_name(name, names);
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& each) { return each == nearest; });
  throw Error(ErrorKind::usage,
              fmt::format("there is no template \"{}\"; the templates{} are: {}", name,
                          operation.empty() ? std::string() : fmt::format(" of {}", operation),
                          fmt::join(names, ", ")));
}

const Catalog::Origin& Catalog::origin(std::string_view name) const {
  return origins_.find(at(name).name())->second;
}

const std::string& Catalog::digest(std::string_view name) const {
  const KernelTemplate& kernel_template = at(name);
  const Origin& from = origin(name);
  Digest& digest = *digests_.find(kernel_template.name())->second;
  std::call_once(digest.made,
                 [&] { digest.hex = digest_of(kernel_template, from.path, from.headers); });
  return digest.hex;
}

}  // namespace kiln
