// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "templates/compile_options.hpp"
#include "templates/space/config.hpp"

namespace kiln {

/// \file
/// Settings: what a configuration may say beside the tunables of its template, if that template is
/// of a declared operation and its `compile` lines say nothing of the route. They decide how the
/// compiler works, change no result, and precede what the lines say of the same option. A
/// configuration names only settings that differ from the compiler's defaults, so that one without
/// any has the text that it always had. No search proposes them: the last step of tuning tries them
/// on the best candidates. All functions are thread-safe.
///
///     compile.max_registers=64   --maxrregcount=64
///     compile.route=ptx          the driver compiles PTX
///     compile.vectorize=true     --extra-device-vectorization

/// What all their names begin with; no tunable's name has a dot.
inline constexpr std::string_view kSettingPrefix = "compile.";
inline constexpr std::string_view kRouteSetting = "compile.route";
inline constexpr std::string_view kRegistersSetting = "compile.max_registers";
inline constexpr std::string_view kVectorizeSetting = "compile.vectorize";

[[nodiscard]] bool is_setting(std::string_view name);
/// Why the name cannot have that value, as text for a person; nothing if it can.
[[nodiscard]] std::optional<std::string> why_bad_setting(std::string_view name, std::int64_t value);

[[nodiscard]] bool has_settings(const Config& config);
/// Only the tunables.
[[nodiscard]] Config without_settings(const Config& config);
/// `config` with the settings of `from`.
[[nodiscard]] Config with_settings_of(const Config& from, Config config);
/// What the settings give the compiler. Precondition: none is bad.
[[nodiscard]] CompileOptions options_of_settings(const Config& config);

}  // namespace kiln
