// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/choice/competitive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace kiln {
namespace {

/// With these ptxas says that it serialised, or ignored part of, an asynchronous instruction: the
/// kernel is right, but the instruction does not do its job.
constexpr std::array<std::string_view, 9> kSerialisedCodes{
    "C7508", "C7509", "C7510", "C7511", "C7512", "C7513", "C7514", "C7515", "C7602"};

bool is_serialised(std::string_view warning) {
  return std::any_of(kSerialisedCodes.begin(), kSerialisedCodes.end(),
                     [&](std::string_view code) { return warning.substr(0, code.size()) == code; });
}

}  // namespace

std::string why_not_competitive(const KernelTemplate& kernel_template,
                                const CompileResult& compiled) {
  const KernelResources& resources = compiled.resources;
  const bool has_costs = !kernel_template.cost_lines().empty();
  if (has_costs && resources.spill_store_bytes > kFewSpilledBytes) {
    return fmt::format(
        "spills registers: {} bytes of spill stores, {} bytes of spill loads, {} registers per "
        "thread",
        resources.spill_store_bytes, resources.spill_load_bytes, resources.registers);
  }
  for (const auto& warning : compiled.warnings) {
    if (is_serialised(warning)) return fmt::format("ptxas: {}", warning);
  }
  return {};
}

}  // namespace kiln
