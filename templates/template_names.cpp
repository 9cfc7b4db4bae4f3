// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/template_names.hpp"

#include <fmt/format.h>

#include <array>

#include "kiln/error.hpp"

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

/// A problem of the operation must have all of its names.
[[noreturn]] void missing(const Problem& problem, std::string_view what, std::string_view name) {
  throw Error(ErrorKind::usage,
              fmt::format("the problem \"{}\" has no {} \"{}\"", problem.canonical(), what, name));
}

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
  for (const auto type : kDTypeNames) names.intern(fmt::format("type.{}", type));
  for (const auto& name : operation.size_names) names.intern(name);
  for (const auto& name : operation.trait_names) names.intern(name);
  for (const auto& slot : operation.type_slots) {
    names.intern(slot + "_bytes");
    names.intern(slot + "_packed");
    names.intern(slot + "_type");
  }
  return names;
}

std::vector<std::int64_t> problem_values(const Operation& operation, const Problem& problem,
                                         const DeviceLimits& limits) {
  auto values = device_values(limits);
  // The same order as in problem_names().
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    values.push_back(static_cast<std::int64_t>(i));
  }
  for (const auto& name : operation.size_names) {
    const auto value = problem.size(name);
    if (!value) missing(problem, "size", name);
    values.push_back(*value);
  }
  for (const auto& name : operation.trait_names) {
    const auto value = problem.trait(name);
    if (!value) missing(problem, "trait", name);
    values.push_back(*value);
  }
  for (const auto& slot : operation.type_slots) {
    const auto type = problem.type(slot);
    if (!type) missing(problem, "type", slot);
    values.push_back(size_bytes(*type));
    values.push_back(packed_values(*type));
    values.push_back(static_cast<std::int64_t>(*type));
  }
  return values;
}

}  // namespace kiln
