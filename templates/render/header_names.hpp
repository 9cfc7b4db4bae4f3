// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// Whether `name`, "math.h" or "cmath", is a header of the standard library that Kiln has in words
/// of its own, for NVRTC, which has none (templates/kernels/standard/).
[[nodiscard]] bool is_standard_header(std::string_view name);

/// Whether a header of that name comes with CUDA: then it is looked for where CUDA is, and the
/// compiler's version identifies it. Anything else is the user's, and Kiln reads it itself.
[[nodiscard]] bool is_cuda_header(std::string_view name);

/// The header of CUDA or of Kiln's standard library that a name which is none of them may be a typo
/// of; "": none is near.
[[nodiscard]] std::string nearest_header(std::string_view name);

/// What to write in place of a header that nobody has: "include <cuda/std/array> and write
/// cuda::std::", or where to put it.
[[nodiscard]] std::string advice_on_missing_header(std::string_view name);

/// The headers X for which that is <cuda/std/X>.
[[nodiscard]] std::vector<std::string> advised_libcuxx_headers();
[[nodiscard]] bool is_advised_libcuxx_header(std::string_view name);

/// A header by the name under which it is included, and its text.
struct SuppliedHeader {
  std::string name;
  std::string text;
};
/// What NVRTC is given beside each source. The whole of <cub/cub.cuh> is for hosts, too; this one
/// has what kernels call.
[[nodiscard]] const std::vector<SuppliedHeader>& supplied_headers();
/// Over all of them.
[[nodiscard]] const std::string& supplied_headers_digest();

}  // namespace kiln
