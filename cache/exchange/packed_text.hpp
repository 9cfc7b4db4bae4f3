// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace kiln {

/// The text of a file, which may be compressed with gzip. Throws Error(usage) that names the file
/// if it cannot be read, if its compressed data ends early or is damaged, or if the text has more
/// than `most_bytes`.
[[nodiscard]] std::string read_packed_text(const std::filesystem::path& path,
                                           std::size_t most_bytes);

}  // namespace kiln
