// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kiln {

/// The functions of NVRTC that Kiln calls, declared here so that the build needs none of its
/// headers, and found at run time so that a program starts without it. A result of 0 is success.
struct NvrtcApi {
  using Program = void*;

  int (*version)(int* major, int* minor) = nullptr;
  int (*get_num_supported_archs)(int* count) = nullptr;
  int (*get_supported_archs)(int* archs) = nullptr;
  const char* (*get_error_string)(int result) = nullptr;
  int (*create_program)(Program* program, const char* source, const char* name, int header_count,
                        const char* const* headers, const char* const* include_names) = nullptr;
  int (*destroy_program)(Program* program) = nullptr;
  int (*add_name_expression)(Program program, const char* expression) = nullptr;
  int (*compile_program)(Program program, int option_count, const char* const* options) = nullptr;
  int (*get_cubin_size)(Program program, std::size_t* bytes) = nullptr;
  int (*get_cubin)(Program program, char* cubin) = nullptr;
  int (*get_ptx_size)(Program program, std::size_t* bytes) = nullptr;
  int (*get_ptx)(Program program, char* ptx) = nullptr;
  int (*get_program_log_size)(Program program, std::size_t* bytes) = nullptr;
  int (*get_program_log)(Program program, char* log) = nullptr;
  int (*get_lowered_name)(Program program, const char* expression, const char** name) = nullptr;

  int major = 0;
  int minor = 0;
  std::string folder;        ///< where the library is
  std::string unshielded;    ///< why it may change signals' actions; "" if nothing is known of it
  bool is_shielded = false;  ///< it would by functions that it imports, and now it can't

  /// Loads NVRTC 12.8 or newer from where Kiln looks for CUDA. Throws Error(compiler) that lists
  /// what it tried, why each was unsuitable, and what to install.
  [[nodiscard]] static NvrtcApi load();
  /// The same from the first suitable one of `files`.
  [[nodiscard]] static NvrtcApi load(const std::vector<std::string>& files);
};

}  // namespace kiln
