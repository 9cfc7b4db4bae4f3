// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/emulated_module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/emulated/decoder.hpp"
#include "runtime/emulated/ptx_module.hpp"

namespace kiln::emulated {
namespace {

int most_threads(const Program& program) {
  constexpr std::int64_t kMost = 1024;
  const auto& extents =
      program.required_threads[0] != 0 ? program.required_threads : program.max_threads;
  if (extents[0] == 0) return static_cast<int>(kMost);
  std::int64_t threads = 1;
  for (const int extent : extents) threads = std::min(kMost, threads * std::max(1, extent));
  return static_cast<int>(threads);
}

[[noreturn]] void fail(const std::string& what, std::string_view next) {
  throw Error(ErrorKind::device, fmt::format("{}. Next: {}.", what, next));
}
constexpr std::string_view kRunElsewhere =
    "the emulated GPU cannot run this kernel; run it on a GPU";
constexpr std::string_view kLink = "link the kernel's parts into one source";

}  // namespace

EmulatedModule::EmulatedModule(std::string_view ptx, const std::vector<std::string>& names,
                               GlobalMemory& memory)
    : memory_(memory) {
  const ptx::Module module = ptx::read_module(ptx);
  std::map<std::string, const Allocation*, std::less<>> places;
  try {
    for (const ptx::Variable& variable : module.variables) {
      if (variable.space == ptx::Space::shared || variable.external) continue;
      if (variable.space == ptx::Space::local) {
        fail(fmt::format("variable '{}' is .local outside of a function", variable.name),
             kRunElsewhere);
      }
      const bool constant = variable.space == ptx::Space::constant;
      const Allocation& at =
          memory_.allocate(std::max<std::int64_t>(1, variable.bytes),
                           std::max<std::int64_t>(16, variable.alignment), variable.name, constant);
      variables_.push_back(at.address);
      places.emplace(variable.name, &at);
      const auto bytes = static_cast<std::size_t>(at.bytes);
      std::memset(at.host(at.address), 0, bytes);
      std::memset(at.written.get(), 1, bytes);
      if (!variable.initial.empty()) {
        std::memcpy(at.host(at.address), variable.initial.data(),
                    std::min(bytes, variable.initial.size()));
      }
    }
    const auto is_external = [&](std::string_view name) {
      return std::any_of(
          module.variables.begin(), module.variables.end(),
          [&](const ptx::Variable& each) { return each.external && each.name == name; });
    };
    // Addresses in initial values, once every variable has one.
    for (const ptx::Variable& variable : module.variables) {
      for (const ptx::Relocation& relocation : variable.relocations) {
        const auto to = places.find(relocation.symbol);
        if (to == places.end()) {
          const bool external = is_external(relocation.symbol);
          fail(fmt::format("variable '{}' holds the address of '{}', which is {}", variable.name,
                           relocation.symbol,
                           external ? "declared but not defined" : "no global variable"),
               external ? kLink : kRunElsewhere);
        }
        const std::uint64_t value =
            to->second->address + static_cast<std::uint64_t>(relocation.addend);
        const Allocation& at = *places.find(variable.name)->second;
        std::memcpy(at.host(at.address) + relocation.offset, &value,
                    static_cast<std::size_t>(std::clamp(relocation.bytes, 0, 8)));
      }
    }
    const auto address_of = [&](const ptx::Variable& variable) -> std::uint64_t {
      const auto at = places.find(variable.name);
      if (at != places.end()) return at->second->address;
      fail(fmt::format("'{}' is declared but not defined", variable.name), kLink);
    };
    for (const std::string& name : names) {
      auto program =
          std::make_unique<std::shared_ptr<const Program>>(decode(module, name, address_of));
      functions_.push_back({program.get(), most_threads(**program)});
      programs_.push_back(std::move(program));
    }
  } catch (...) {
    for (const std::uint64_t address : variables_) memory_.free(address);
    throw;
  }
}

EmulatedModule::~EmulatedModule() {
  for (const std::uint64_t address : variables_) memory_.free(address);
}

}  // namespace kiln::emulated
