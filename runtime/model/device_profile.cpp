// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/device_profile.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/model/device_profile_keys.hpp"
#include "templates/catalog.hpp"

namespace kiln {

/// runtime/model/profiles, compiled into the library.
const FileSet& embedded_profiles();

namespace {

constexpr std::string_view kEnding = ".toml";
/// What built-in profiles lack is estimated with these rates.
constexpr std::string_view kUsualProfile = "h200";
/// Share of the measured rate, and measured latencies of DRAM; see under_load().
constexpr double kL2Share = 0.9;
constexpr double kDramWait = 1.17;

/// Fills a profile from a built-in file, which has every key once, in the order of visit_profile(),
/// as `kiln doctor --save-profile` writes it. So an application needs no reader for all of TOML,
/// which is larger than everything else that it would read.
class BuiltInReader {
 public:
  explicit BuiltInReader(std::string_view text) : rest_(text) {}

  void section(std::string_view name, std::string_view) {
    if (next_line() != fmt::format("[{}]", name)) fail(name);
  }
  void value(std::string_view key, std::string& text, std::string_view) {
    text = text_of(key);
    if (text.size() < 2) fail(key);
    text = text.substr(1, text.size() - 2);
  }
  template <class Number>
  void value(std::string_view key, Number& number, Range, std::string_view) {
    const std::string_view text = text_of(key);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) fail(key);
  }

 private:
  /// Of the next line that has more than a comment.
  std::string_view next_line() {
    for (;;) {
      const std::size_t end = rest_.find('\n');
      if (end == rest_.npos) fail("its end");
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      line = line.substr(0, line.find('#'));
      while (line.ends_with(' ')) line.remove_suffix(1);
      if (!line.empty()) return line;
    }
  }
  std::string_view text_of(std::string_view key) {
    std::string_view line = next_line();
    if (!line.starts_with(key) || !line.substr(key.size()).starts_with(" = ")) fail(key);
    return line.substr(key.size() + 3);
  }
  [[noreturn]] static void fail(std::string_view what) {
    throw Error(ErrorKind::internal,
                fmt::format("a built-in device profile is malformed: Kiln cannot read {}", what));
  }

  std::string_view rest_;
};

}  // namespace

std::vector<std::string> built_in_profiles() {
  std::vector<std::string> names;
  for (const auto& [path, text] : embedded_profiles()) {
    names.push_back(path.substr(0, path.size() - kEnding.size()));
  }
  return names;
}

std::optional<DeviceProfile> built_in_profile(std::string_view name) {
  const auto found = embedded_profiles().find(std::string(name) + std::string(kEnding));
  if (found == embedded_profiles().end()) return std::nullopt;
  DeviceProfile profile;
  BuiltInReader reader(found->second);
  visit_profile(profile, reader);
  if (!complete_profile(profile)) {
    throw Error(ErrorKind::internal,
                fmt::format("a built-in device profile has the unknown architecture {}",
                            profile.limits.arch));
  }
  return profile;
}

bool complete_profile(DeviceProfile& profile) {
  DeviceLimits& limits = profile.limits;
  const auto known = limits_of_arch(limits.arch);
  if (!known) return false;
  limits.arch = known->arch;
  limits.sm = known->sm;
  profile.device_class.arch = limits.arch;
  profile.device_class.sm_count = limits.sm_count;
  profile.device_class.l2_bytes = limits.l2_bytes;
  return true;
}

DeviceProfile profile_for(const DeviceLimits& limits, const DeviceClass& device) {
  DeviceProfile profile = built_in_profile(kUsualProfile).value();
  for (const auto& name : built_in_profiles()) {
    DeviceProfile own = built_in_profile(name).value();
    if (own.device_class == device) profile = std::move(own);
  }
  profile.limits = limits;
  return profile;
}

DeviceProfile under_load(DeviceProfile profile) {
  profile.l2_bytes_per_ns *= kL2Share;
  profile.latency.dram *= kDramWait;
  return profile;
}

}  // namespace kiln
