// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "runtime/model/device_profile.hpp"

namespace kiln {

/// Reads a profile. `source` names the text in messages. Throws Error(usage) with
/// "source:line:column: key: ..." for text that is no TOML, and for keys that are missing, unknown,
/// of another type or out of range.
[[nodiscard]] DeviceProfile read_profile(std::string_view text, const std::string& source);

/// The TOML text of a profile, with a comment on each figure; read_profile() gives the same back.
[[nodiscard]] std::string profile_text(const DeviceProfile& profile);

/// The profile of a model: the name of a built-in one, or the path of a file (recognised by a '/'
/// or by ending in ".toml"). Throws Error(device) that lists the built-in ones for an unknown name,
/// and Error(usage) for a file that cannot be read.
[[nodiscard]] DeviceProfile profile_of(const std::string& model);

}  // namespace kiln
