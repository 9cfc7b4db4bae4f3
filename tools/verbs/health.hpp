// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/context.hpp"

namespace kiln::tools {

/// One line of what `kiln doctor` finds.
struct Finding {
  enum class State { ok, warning, broken };
  std::string item;
  State state = State::ok;
  std::string text;
  std::string fix;  ///< what to do; empty when ok
};

/// A setting and where it came from.
struct SettingOrigin {
  std::string name;
  std::string value;
  std::string origin;
};

struct Health {
  std::vector<Finding> findings;
  std::vector<SettingOrigin> settings;
  bool device_found = false;
  [[nodiscard]] bool broken() const;
};

/// Looks at everything that Kiln needs, changes nothing. A missing device is a warning: much works
/// without one.
[[nodiscard]] Health examine(Context& context);

}  // namespace kiln::tools
