// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kiln {

/// The folder of the program or shared library that this code is part of; "" if unknown.
[[nodiscard]] std::string own_folder();

/// Folders that may have a library of the CUDA toolkit ("nvrtc", "cublas"), existing ones only, in
/// the order in which they should be searched: what Kiln was configured with, folders beside this
/// program or library (cuda/nvidia/cu13/lib and the like), the toolkits of CUDA_HOME, CUDA_PATH and
/// /usr/local/cuda, and NVIDIA's wheels in Python environments. `component` names the wheel's own
/// folder before CUDA 13 ("cuda_nvrtc").
[[nodiscard]] std::vector<std::string> cuda_library_folders(const std::string& component);

/// What to try in order to open one of the libraries `names` ("libnvrtc.so.13", newest first): its
/// files in those folders, and its bare name, for which the loader searches its own places
/// (LD_LIBRARY_PATH, ld.so.conf). `loader_first` says which of the two comes first.
[[nodiscard]] std::vector<std::string> cuda_library_files(const std::string& component,
                                                          const std::vector<std::string>& names,
                                                          bool loader_first = false);

/// Include folders for device code: that of cuda_fp16.h and, if it is separate, that of
/// <nv/target>. `wanted` (a flag or KILN_CUDA_INCLUDE) is used exclusively if given; otherwise the
/// search starts beside `library_folder`. Throws Error(compiler) that lists where it looked.
[[nodiscard]] std::vector<std::string> cuda_include_folders(const std::string& wanted,
                                                            const std::string& library_folder);

/// The folder for CUDA's headers that the user chose, `wanted` or KILN_CUDA_INCLUDE; "" if none.
[[nodiscard]] std::string chosen_include_folder(const std::string& wanted);

/// Distinguishes sets of CUDA headers if the folder was chosen by the user (`wanted` or
/// KILN_CUDA_INCLUDE): its path, and a digest over headers that tell versions apart and what
/// built-in templates include. "" if it was not: then the headers are those of the compiler, whose
/// version identifies them.
[[nodiscard]] std::string chosen_headers(const std::string& wanted);

}  // namespace kiln
