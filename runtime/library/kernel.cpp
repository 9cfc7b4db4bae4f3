// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What every kernel says of itself.
#include <fmt/format.h>

#include "kiln/library.hpp"
#include "runtime/library/kernel_entry.hpp"
#include "templates/printable.hpp"

namespace kiln {

void detail::fail_launch(const KernelEntry& entry, const DeviceStatus& status) {
  throw Error(ErrorKind::device, printable(fmt::format("launching {} [{}]: {}", entry.template_name,
                                                       entry.config, status.message)));
}

Match AnyKernel::match() const noexcept {
  return entry_->match;
}

std::string_view AnyKernel::match_reason() const noexcept {
  return entry_->reason;
}

std::string_view AnyKernel::template_name() const noexcept {
  return entry_->template_name;
}

std::string_view AnyKernel::config() const noexcept {
  return entry_->config;
}

std::size_t AnyKernel::workspace_bytes() const noexcept {
  return static_cast<std::size_t>(entry_->workspace_bytes);
}

}  // namespace kiln
