// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// Which compiler turns PTX into machine code.
enum class CompileRoute : std::uint8_t {
  cubin,  ///< NVRTC
  ptx,    ///< the driver, when it loads the kernel
};

/// How a candidate's text is compiled, beyond what Kiln gives to every compilation.
struct CompileOptions {
  std::vector<std::string> flags;  ///< as NVRTC and nvcc take them: "--ftz=true"; in table order
  CompileRoute route = CompileRoute::cubin;

  [[nodiscard]] bool empty() const { return flags.empty() && route == CompileRoute::cubin; }
  /// "--ftz=true --maxrregcount=64 route=ptx"; "" where nothing is given.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const CompileOptions&, const CompileOptions&) = default;
};

/// `options` with what `more` gives, which replaces what `options` say about the same.
[[nodiscard]] CompileOptions combined(const CompileOptions& options, const CompileOptions& more);

/// What may follow the name of an option.
enum class OptionValue : std::uint8_t {
  none,    ///< nothing: `--restrict`
  truth,   ///< `--ftz=true`
  number,  ///< `--maxrregcount=64`
  word,    ///< `route=ptx`
};

/// An option that a `compile` line may give.
struct CompileOptionRule {
  std::string_view name;  ///< "--ftz", "--ptxas-options=--opt-level"; the route is Kiln's own
  OptionValue value = OptionValue::none;
  std::int64_t least = 0;  ///< of a number
  std::int64_t most = 0;
  std::string_view words = {};  ///< those allowed, with a space between two
};

inline constexpr std::string_view kRouteOption = "route";
inline constexpr std::string_view kRegistersOption = "--maxrregcount";
inline constexpr std::string_view kVectorizeOption = "--extra-device-vectorization";

/// All of them, in the order in which a compiler gets them: what is implied before what says more.
[[nodiscard]] std::span<const CompileOptionRule> compile_option_rules();
/// That of a name; null if no option has it.
[[nodiscard]] const CompileOptionRule* find_compile_option(std::string_view name);
/// Why a `compile` line must not give the option of that name, and what to do instead; "" if no
/// particular reason is known.
[[nodiscard]] std::string_view why_not_an_option(std::string_view name);

/// The number of `--maxrregcount` among the flags; nothing if they set no limit.
[[nodiscard]] std::optional<int> register_limit(std::span<const std::string> flags);

}  // namespace kiln
