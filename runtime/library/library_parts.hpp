// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/files/cubin_store.hpp"
#include "cache/objective.hpp"
#include "kiln/library.hpp"
#include "runtime/compile/lazy_compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/library/warning_sink.hpp"
#include "templates/catalog.hpp"

namespace kiln::detail {

/// The parts of a library: Library::open derives these from options and environment, tests supply
/// their own.
struct LibraryParts {
  std::shared_ptr<Device> device;  ///< shared with the memory that the application got from it
  CompilerSource compiler;
  std::shared_ptr<CubinStore> cubins = std::make_shared<CubinStore>();
  Catalog catalog = Catalog::builtin();
  std::string database;  ///< may not exist; "": none
  std::vector<std::string> site_databases;
  Mode mode = Mode::use;
  Objective objective = {};
  std::string tuner_program;  ///< "": find_tuner()
  // For the tuner, as the application named them: where `catalog` was read from and looks for
  // headers, where `compiler` finds CUDA's, and the file of `cubins`.
  std::vector<std::string> template_path;
  std::vector<std::string> include;
  std::string cuda_include;
  std::string cubin_store;
  std::shared_ptr<WarningSink> warnings;
};

/// Fills in the database and the cubin store that options and environment name. A machine without a
/// home folder has none by default: that is one warning, and nothing is kept. `parts.warnings` must
/// be set.
void locate_files(LibraryParts& parts, const LibraryOptions& options);

/// "the template path /a:/b", for errors about what is not in it.
[[nodiscard]] std::string template_path_text(const std::vector<std::string>& folders);

}  // namespace kiln::detail
