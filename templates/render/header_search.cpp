// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/header_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <utility>

#include "kiln/error.hpp"
#include "templates/catalog.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/render/header_names.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr int kAnyButZero = -1;

std::string normal_path(const fs::path& path) {
  return path.lexically_normal().generic_string();
}

std::string beside(std::string_view path, std::string_view name) {
  return normal_path(fs::path(path).parent_path() / name);
}

}  // namespace

std::string take_byte_order_mark(std::string& text) {
  const auto begins = [&](std::initializer_list<int> bytes) {
    return text.size() >= bytes.size() &&
           std::equal(bytes.begin(), bytes.end(), text.begin(), [](int byte, char c) {
             return byte == kAnyButZero ? c != 0 : byte == static_cast<unsigned char>(c);
           });
  };
  if (begins({0xFF, 0xFE}) || begins({0xFE, 0xFF}) || begins({kAnyButZero, 0, kAnyButZero, 0}) ||
      begins({0, kAnyButZero, 0, kAnyButZero})) {
    return "the file is in UTF-16. Next: save it as UTF-8";
  }
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return "";
}

std::string read_source(const std::string& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    throw Error(ErrorKind::usage, fmt::format("\"{}\" is not a regular file", file));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMostFileBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || !(stream || stream.eof())) {
    throw Error(ErrorKind::usage, fmt::format("cannot read \"{}\"", file));
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMostFileBytes) {
    throw Error(ErrorKind::template_,
                fmt::format("{}:1:1: the file is larger than {} MiB, the limit for templates and "
                            "headers. Next: move the file out of the template directory.",
                            file, kMostFileBytes >> 20));
  }
  if (const std::string why = take_byte_order_mark(text); !why.empty()) {
    throw Error(ErrorKind::template_, fmt::format("{}:1:1: {}", file, why));
  }
  text.shrink_to_fit();
  return text;
}

SourceFolder::SourceFolder(std::string folder, std::string shown)
    : folder_(std::move(folder)), shown_(std::move(shown)) {
  std::error_code error;
  is_of_cuda_ = fs::exists(fs::path(folder_) / "cuda_fp16.h", error);
}

std::string SourceFolder::place(const std::string& path) const {
  return folder_.empty() ? path : (fs::path(folder_) / path).generic_string();
}

const std::string* SourceFolder::find(const std::string& path) const {
  if (folder_.empty()) {
    const auto found = files_.find(path);
    return found == files_.end() ? nullptr : &found->second;
  }
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = read_.try_emplace(path);
  if (is_new) {
    const std::string file = place(path);
    std::error_code error;
    const auto kind = fs::status(file, error).type();
    const bool is_there = kind != fs::file_type::not_found && kind != fs::file_type::directory &&
                          kind != fs::file_type::none;
    try {
      if (is_there) entry->second = read_source(file);
    } catch (...) {
      read_.erase(entry);
      throw;
    }
  }
  return entry->second ? &*entry->second : nullptr;
}

std::shared_ptr<const SourceFolder> builtin_sources() {
  static const auto folder = std::make_shared<const SourceFolder>(embedded_files());
  return folder;
}

const HeaderSearch& HeaderSearch::builtin() {
  static const HeaderSearch search(embedded_files());
  return search;
}

HeaderSearch::HeaderSearch(const FileSet& files)
    : HeaderSearch({&files == &embedded_files() ? builtin_sources()
                                                : std::make_shared<const SourceFolder>(files)},
                   {}, nullptr) {}

HeaderSearch::HeaderSearch(SourceFolders tree, SourceFolders includes,
                           std::shared_ptr<const SourceFolder> cuda)
    : tree_(std::move(tree)),
      includes_(std::move(includes)),
      cuda_(std::move(cuda)),
      root_(std::make_shared<SourceFolder>("/", "/")) {}

HeaderSearch HeaderSearch::with_includes(const std::string& path, const std::string& file,
                                         const std::vector<IncludeLine>& lines) const {
  HeaderSearch result = *this;
  SourceFolders added;
  for (const auto& [folder, line] : lines) {
    const std::string place = tree_.front()->place(beside(path, folder));
    std::error_code error;
    if (!fs::is_directory(place, error)) {
      throw Error(
          ErrorKind::template_,
          fmt::format("{}:{}: {} is not a folder. Next: correct the path in this line, or remove "
                      "the line. The path is relative to the folder of this file.",
                      file, line, place));
    }
    added.push_back(std::make_shared<SourceFolder>(place));
  }
  result.includes_.insert(result.includes_.begin(), added.begin(), added.end());
  return result;
}

std::optional<HeaderSearch::Header> HeaderSearch::in_tree(const std::string& path) const {
  for (const auto& folder : tree_) {
    if (const auto* const text = folder->find(path)) return Header{folder.get(), path, text};
  }
  return std::nullopt;
}

std::optional<HeaderSearch::Header> HeaderSearch::in_includes(const std::string& path) const {
  for (const auto& folder : includes_) {
    // A folder that has CUDA's headers, too, is no reason to take another CUDA's.
    if (folder->is_of_cuda() && is_cuda_header(path)) continue;
    if (const auto* const text = folder->find(path)) return Header{folder.get(), path, text};
  }
  return std::nullopt;
}

std::optional<HeaderSearch::Header> HeaderSearch::quoted(const SourceFolder* from,
                                                         std::string_view path,
                                                         std::string_view name) const {
  if (name.empty() || name.front() == '/') return angled(name);
  const std::string near = beside(path, name);
  bool is_of_tree = from == nullptr;
  for (const auto& folder : tree_) is_of_tree = is_of_tree || folder.get() == from;
  if (is_of_tree) {
    if (auto found = in_tree(near)) return found;
  } else if (const auto* const text = from->find(near)) {
    return Header{from, near, text};
  }
  if (auto found = in_tree(normal_path(name))) return found;
  return angled(name);
}

std::optional<HeaderSearch::Header> HeaderSearch::angled(std::string_view name) const {
  if (name.empty()) return std::nullopt;
  const std::string path = normal_path(name);
  if (path.front() == '/') {
    const std::string below =
        path.substr(path.find_first_not_of('/') == std::string::npos ? path.size()
                                                                     : path.find_first_not_of('/'));
    const auto* const text = root_ && !below.empty() ? root_->find(below) : nullptr;
    if (text == nullptr) return std::nullopt;
    return Header{root_.get(), below, text};
  }
  if (is_standard_header(name)) return std::nullopt;
  if (auto found = in_includes(path)) return found;
  if (is_cuda_header(name)) return std::nullopt;
  if (cuda_) {
    if (const auto* const text = cuda_->find(path)) return Header{cuda_.get(), path, text};
  }
  return in_tree(path);
}

std::string HeaderSearch::places() const {
  std::vector<std::string> names;
  for (const auto* folders : {&tree_, &includes_}) {
    for (const auto& folder : *folders) {
      if (!folder->name().empty()) names.push_back(folder->name());
    }
  }
  if (cuda_) names.push_back(cuda_->name());
  if (names.empty()) return "";
  return fmt::format(" in {}, or among the headers of CUDA and Kiln", fmt::join(names, ", "));
}

}  // namespace kiln
