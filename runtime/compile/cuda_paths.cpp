// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/cuda_paths.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "cache/files/locations.hpp"
#include "kiln/error.hpp"
#include "templates/digest.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

/// A folder that the user named in the environment; not trusted in set-user-id programs.
std::string environment_folder(const char* name) {
  const char* value = ::secure_getenv(name);
  return value != nullptr ? value : "";
}

std::vector<fs::path> toolkit_roots() {
  std::vector<fs::path> roots;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = environment_folder(name); !root.empty()) roots.emplace_back(root);
  }
  roots.emplace_back("/usr/local/cuda");
  return roots;
}

/// The `nvidia` folders of Python environments.
std::vector<fs::path> wheel_roots() {
  std::vector<fs::path> roots;
  std::vector<fs::path> prefixes;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string root = environment_folder(name); !root.empty()) {
      prefixes.emplace_back(root);
    }
  }
  prefixes.emplace_back("/usr/local");
  for (const fs::path& prefix : prefixes) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(prefix / "lib", error)) {
      if (!entry.path().filename().string().starts_with("python3")) continue;
      roots.push_back(entry.path() / "site-packages/nvidia");
      roots.push_back(entry.path() / "dist-packages/nvidia");
    }
  }
  // Directory order is up to the file system; the answer must not be.
  std::sort(roots.begin(), roots.end());
  return roots;
}

bool has_header(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "cuda_fp16.h", error);
}

}  // namespace

std::string own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&cuda_library_folders), &info) == 0) return {};
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  // The main program may be known by a bare name; the kernel knows its path.
  return (error ? fs::read_symlink("/proc/self/exe", error) : file).parent_path().string();
}

std::string chosen_include_folder(const std::string& wanted) {
  return wanted.empty() ? environment_setting("KILN_CUDA_INCLUDE") : wanted;
}

std::vector<std::string> cuda_library_folders(const std::string& component) {
  std::vector<fs::path> candidates;
  // Empty if there was none where Kiln was built.
  if (constexpr std::string_view kConfigured = KILN_NVRTC_DIR; !kConfigured.empty()) {
    candidates.emplace_back(kConfigured);
  }
  // A build folder that was carried to another machine, with the wheels in it or beside it.
  fs::path folder = own_folder();
  for (int level = 0; level < 4 && !folder.empty(); ++level, folder = folder.parent_path()) {
    for (const char* below :
         {"cuda/nvidia/cu13/lib", "nvidia/cu13/lib", "cuda/lib64", "lib/kiln"}) {
      candidates.push_back(folder / below);
    }
  }
  for (const fs::path& root : toolkit_roots()) {
    candidates.push_back(root / "lib64");
    candidates.push_back(root / "lib");
  }
  for (const fs::path& root : wheel_roots()) {
    candidates.push_back(root / "cu13/lib");
    candidates.push_back(root / component / "lib");
  }
  std::vector<std::string> folders;
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (fs::is_directory(candidate, error)) folders.push_back(candidate.string());
  }
  return folders;
}

std::vector<std::string> cuda_library_files(const std::string& component,
                                            const std::vector<std::string>& names,
                                            bool loader_first) {
  std::vector<std::string> files;
  std::error_code error;
  for (const std::string& name : names) {
    if (loader_first) files.push_back(name);
    for (const std::string& folder : cuda_library_folders(component)) {
      std::string file = fmt::format("{}/{}", folder, name);
      if (fs::exists(file, error)) files.push_back(std::move(file));
    }
    if (!loader_first) files.push_back(name);
  }
  return files;
}

std::vector<std::string> cuda_include_folders(const std::string& wanted,
                                              const std::string& library_folder) {
  std::vector<fs::path> candidates;
  const std::string setting = chosen_include_folder(wanted);
  if (!setting.empty()) {
    candidates.emplace_back(setting);
  } else {
    if (!library_folder.empty()) {
      const fs::path root = fs::path(library_folder).parent_path();
      candidates.push_back(root / "include");
      // Wheels before CUDA 13 keep the headers in a folder of their own.
      candidates.push_back(root.parent_path() / "cuda_runtime/include");
    }
    candidates.emplace_back(KILN_CUDA_INCLUDE_DIR);
    for (const fs::path& root : toolkit_roots()) candidates.push_back(root / "include");
  }
  const auto found = std::find_if(candidates.begin(), candidates.end(), has_header);
  if (found == candidates.end()) {
    std::vector<std::string> places;
    for (const fs::path& candidate : candidates) places.push_back(candidate.string());
    throw Error(
        ErrorKind::compiler,
        fmt::format(
            "CUDA's headers (cuda_fp16.h) are missing from {}. Next: install CUDA toolkit 12.8 or "
            "newer, or the wheels nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-cccl. If "
            "the headers are in another folder, set KILN_CUDA_INCLUDE to the folder that contains "
            "cuda_fp16.h",
            fmt::join(places, ", ")));
  }
  std::vector<std::string> folders{found->string()};
  std::error_code error;
  if (fs::exists(*found / "cccl", error)) folders.push_back((*found / "cccl").string());
  return folders;
}

std::string chosen_headers(const std::string& wanted) {
  const std::string setting = chosen_include_folder(wanted);
  if (setting.empty()) return {};
  std::error_code error;
  const fs::path found = fs::canonical(setting, error);
  const fs::path folder = error ? fs::path(setting) : found;
  DigestBuilder digest;
  for (const char* name :
       {"cuda.h", "cuda_fp16.h", "cuda_fp16.hpp", "cuda_bf16.h", "cuda_bf16.hpp", "cuda_fp8.h",
        "cuda_fp8.hpp", "mma.h", "crt/mma.h", "crt/mma.hpp", "cooperative_groups.h",
        "curand_kernel.h", "cub/version.cuh", "cccl/cub/version.cuh", "thrust/version.h",
        "cccl/thrust/version.h", "cuda/std/__cccl/version.h", "cccl/cuda/std/__cccl/version.h"}) {
    // A device that has no end is no header.
    std::ifstream file;
    if (fs::is_regular_file(folder / name, error)) file.open(folder / name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    digest.add(text.str());
  }
  return fmt::format("headers={} {}", folder.string(), digest.hex());
}

}  // namespace kiln
