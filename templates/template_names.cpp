// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/template_names.hpp"

#include <array>

namespace kiln {
namespace {

struct DeviceName {
  std::string_view name;
  std::int64_t (*value)(const DeviceLimits&);
};

/// One table for names and values, so that their orders cannot diverge.
constexpr std::array<DeviceName, 15> kDeviceNames{{
    {"device.sm", [](const DeviceLimits& d) -> std::int64_t { return d.sm; }},
    {"sm", [](const DeviceLimits& d) -> std::int64_t { return d.sm; }},
    {"device.sm_count", [](const DeviceLimits& d) -> std::int64_t { return d.sm_count; }},
    {"device.l2_bytes", [](const DeviceLimits& d) -> std::int64_t { return d.l2_bytes; }},
    {"device.smem_static", [](const DeviceLimits& d) -> std::int64_t { return d.smem_static; }},
    {"device.smem_optin", [](const DeviceLimits& d) -> std::int64_t { return d.smem_optin; }},
    {"device.smem_per_sm", [](const DeviceLimits& d) -> std::int64_t { return d.smem_per_sm; }},
    {"device.smem_reserved", [](const DeviceLimits& d) -> std::int64_t { return d.smem_reserved; }},
    {"device.regs_per_block",
     [](const DeviceLimits& d) -> std::int64_t { return d.regs_per_block; }},
    {"device.regs_per_sm", [](const DeviceLimits& d) -> std::int64_t { return d.regs_per_sm; }},
    {"device.regs_per_thread",
     [](const DeviceLimits& d) -> std::int64_t { return d.regs_per_thread; }},
    {"device.max_threads", [](const DeviceLimits& d) -> std::int64_t { return d.max_threads; }},
    {"device.max_threads_per_sm",
     [](const DeviceLimits& d) -> std::int64_t { return d.max_threads_per_sm; }},
    {"device.max_blocks_per_sm",
     [](const DeviceLimits& d) -> std::int64_t { return d.max_blocks_per_sm; }},
    {"device.warp_size", [](const DeviceLimits& d) -> std::int64_t { return d.warp_size; }},
}};

}  // namespace

NameTable device_names() {
  NameTable names;
  for (const auto& entry : kDeviceNames) names.intern(entry.name);
  return names;
}

std::vector<std::int64_t> device_values(const DeviceLimits& limits) {
  std::vector<std::int64_t> values;
  for (const auto& entry : kDeviceNames) values.push_back(entry.value(limits));
  return values;
}

NameTable problem_names(const Operation& operation) {
  NameTable names = device_names();
  // No name of an operation is one of the device's, so all get new slots.
  for (int slot = 0; slot < operation.names().size(); ++slot) {
    names.intern(operation.names().name(slot));
  }
  return names;
}

std::vector<std::int64_t> problem_values(const Operation& operation, const Problem& problem,
                                         const DeviceLimits& limits) {
  auto values = device_values(limits);
  const auto whole = operation.whole_values(problem);
  values.insert(values.end(), whole.begin(), whole.end());
  return values;
}

}  // namespace kiln
