// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "kiln/error.hpp"
#include "templates/render/header_search.hpp"
#include "templates/source_error.hpp"
#include "tools/adopt/adopt.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/file_input.hpp"
#include "tools/output/json.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

/// The largest file that Kiln takes for a template.
constexpr std::size_t kMostAdoptedBytes = std::size_t{4} << 20;

struct AdoptFlags {
  std::string file;
  std::string folder;
  std::string space;
  AdoptOptions adopt;
};

std::string source_to_adopt(const std::string& file) {
  std::string text = whole_file(file, kMostAdoptedBytes, "move the kernel into a smaller file");
  // Below front matter the mark would be a character that C++ does not have.
  if (const std::string why = take_byte_order_mark(text); !why.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}:1:1: {}", file, why));
  }
  refuse_nul(file, text);
  return text;
}

Json marks_json(const AdoptedFile& file, bool checks) {
  Json marks = Json::array();
  for (const auto& mark : file.marks) {
    if (mark.is_check == checks) marks.push_back({{"line", mark.line}, {"what", mark.what}});
  }
  return marks;
}

Json file_json(const std::string& name, const AdoptedFile& file) {
  return {{"name", name},
          {"file", file.name},
          {"fill_in", marks_json(file, false)},
          {"check", marks_json(file, true)},
          {"text", file.text}};
}

Json adoption_json(const Adoption& adoption) {
  Json document = json_document("adopt");
  document["kernels"] = adoption.kernels;
  if (!adoption.reference.empty()) document["reference"] = adoption.reference;
  document["operation"] = file_json(adoption.operation_name, adoption.operation);
  document["template"] = file_json(adoption.template_name, adoption.adopted);
  document["notes"] = adoption.notes;
  return document;
}

/// Writes a file that must not be there yet.
void write_new_file(const std::filesystem::path& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "wbx");
  const bool is_written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int fault = errno;
  const bool is_closed = file == nullptr || std::fclose(file) == 0;
  if (is_written && is_closed) return;
  throw Error(ErrorKind::usage,
              fmt::format("{}: {}", path.string(), std::generic_category().message(fault)));
}

/// Both files or none.
void write_adoption(const Adoption& adoption, const std::filesystem::path& folder) {
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  for (const auto* const file : {&adoption.operation, &adoption.adopted}) {
    if (!std::filesystem::exists(folder / file->name, fault)) continue;
    throw Error(ErrorKind::usage,
                fmt::format("{} already exists and was not changed. Next: choose another folder "
                            "with --into, or delete both files that an earlier run of adopt wrote",
                            (folder / file->name).string()));
  }
  write_new_file(folder / adoption.operation.name, adoption.operation.text);
  write_new_file(folder / adoption.adopted.name, adoption.adopted.text);
}

int adopt_file(Context& context, const AdoptFlags& flags) {
  const std::string source = source_to_adopt(flags.file);
  AdoptOptions options = flags.adopt;
  if (!flags.space.empty()) {
    if (flags.space == "-" && flags.file == "-") {
      throw Error(ErrorKind::usage,
                  "the kernel and the search space cannot both come from standard input. Next: "
                  "name a file for one of them");
    }
    options.space_file = std::filesystem::path(flags.space).filename().string();
    options.space = whole_file(flags.space, kMostAdoptedBytes, "shorten the file");
    std::string& space = options.space;
    if (const std::string why = take_byte_order_mark(space); !why.empty()) {
      throw Error(ErrorKind::usage, fmt::format("{}:1:1: {}", flags.space, why));
    }
  }
  const Adoption adoption = adopt(flags.file, source, options);
  if (!flags.folder.empty()) write_adoption(adoption, flags.folder);
  if (context.flags.json) {
    context.print(json_text(adoption_json(adoption)));
  } else if (flags.folder.empty()) {
    context.print(fmt::format("// ---- {} ----\n{}\n// ---- {} ----\n{}", adoption.operation.name,
                              adoption.operation.text, adoption.adopted.name,
                              adoption.adopted.text));
  }
  const std::filesystem::path folder(flags.folder);
  if (!flags.folder.empty()) {
    context.note(fmt::format("wrote {} and {}", (folder / adoption.operation.name).string(),
                             (folder / adoption.adopted.name).string()));
  }
  context.note(adoption_summary(adoption, flags.folder));
  return kExitOk;
}

}  // namespace

Action add_adopt(CLI::App& verb, const Operation& /*operation*/) {
  auto flags = std::make_shared<AdoptFlags>();
  auto& f = *flags;
  verb.add_option("file", f.file, "CUDA C++ file that defines the kernel (- means standard input)")
      ->type_name("FILE")
      ->required();
  verb.add_option("--into", f.folder,
                  "Folder for the operation and the template (default: print both on stdout)")
      ->type_name("DIR");
  verb.add_option("--kernel", f.adopt.kernels,
                  "Kernel to adopt; repeat the flag for several kernels, in launch order")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  verb.add_option("--space", f.space, "Search space, as a T1 file of Kernel Tuner or KTT")
      ->type_name("FILE");
  verb.add_option("--operation", f.adopt.operation,
                  "Name of the operation (default: the kernel's name)")
      ->type_name("TEXT");
  return [flags](Context& context) { return adopt_file(context, *flags); };
}

}  // namespace kiln::tools
