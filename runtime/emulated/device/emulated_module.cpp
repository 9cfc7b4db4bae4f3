// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/device/emulated_module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/emulated/decode/decoder.hpp"
#include "runtime/emulated/decode/function_decoder.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"

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
    "run the kernel on a GPU, because the emulated GPU cannot run the kernel";
constexpr std::string_view kLink = "define the symbol in the source of the kernel";

using Places = std::map<std::string, const Allocation*, std::less<>>;

struct Refusal {
  std::string what;
  std::string_view next;
};
using Refusals = std::map<std::string, Refusal, std::less<>>;

/// Variables that cannot have their value, for they hold an address that there is not, and those
/// that hold the address of one. They are in the way of the kernels that name them, and of no
/// others.
Refusals without_value(const ptx::Module& module, const Places& places) {
  std::set<std::string_view> external;
  std::multimap<std::string_view, const ptx::Variable*> holders;
  for (const ptx::Variable& variable : module.variables) {
    if (variable.external) external.insert(variable.name);
    for (const ptx::Relocation& relocation : variable.relocations)
      holders.emplace(relocation.symbol, &variable);
  }
  Refusals refused;
  std::vector<std::string_view> todo;
  const auto refuse = [&](const ptx::Variable& variable, const Refusal& why) {
    if (refused.try_emplace(variable.name, why).second) todo.push_back(variable.name);
  };
  for (const auto& [symbol, variable] : holders) {
    if (places.find(symbol) != places.end() || address_of_function(module, symbol) != 0) continue;
    const bool undefined = external.find(symbol) != external.end();
    refuse(*variable,
           {fmt::format("variable '{}' holds the address of '{}', which is {}", variable->name,
                        symbol, undefined ? "declared but not defined" : "not a global variable"),
            undefined ? kLink : kRunElsewhere});
  }
  while (!todo.empty()) {
    const std::string_view name = todo.back();
    todo.pop_back();
    const auto [begin, end] = holders.equal_range(name);
    for (auto at = begin; at != end; ++at) refuse(*at->second, refused.find(name)->second);
  }
  return refused;
}

}  // namespace

EmulatedModule::EmulatedModule(std::string_view ptx, const std::vector<std::string>& names,
                               GlobalMemory& memory)
    : memory_(memory) {
  const ptx::Module module = ptx::read_module(ptx);
  Places places;
  try {
    for (const ptx::Variable& variable : module.variables) {
      if (variable.space == ptx::Space::shared || variable.external) continue;
      if (variable.space == ptx::Space::local) {
        fail(fmt::format("the .local variable '{}' is declared outside of a function",
                         variable.name),
             kRunElsewhere);
      }
      AllocationWish wish;
      wish.bytes = std::max<std::int64_t>(1, variable.bytes);
      wish.alignment = std::max<std::int64_t>(16, variable.alignment);
      wish.read_only = variable.space == ptx::Space::constant;
      wish.name = variable.name;
      const Allocation& at = memory_.allocate(wish);
      variables_.push_back({variable.name, {at.address, variable.bytes}});
      places.emplace(variable.name, &at);
      const auto bytes = static_cast<std::size_t>(at.bytes);
      at.fill(at.address, 0, at.bytes);
      if (!variable.initial.empty()) {
        std::memcpy(at.host(at.address), variable.initial.data(),
                    std::min(bytes, variable.initial.size()));
      }
    }
    // Addresses in initial values, once every variable has one.
    for (const ptx::Variable& variable : module.variables) {
      for (const ptx::Relocation& relocation : variable.relocations) {
        const auto to = places.find(relocation.symbol);
        const std::uint64_t target = to != places.end()
                                         ? to->second->address
                                         : address_of_function(module, relocation.symbol);
        if (target == 0) continue;
        const std::uint64_t value = target + static_cast<std::uint64_t>(relocation.addend);
        const Allocation& at = *places.find(variable.name)->second;
        std::memcpy(at.host(at.address) + relocation.offset, &value,
                    static_cast<std::size_t>(std::clamp(relocation.bytes, 0, 8)));
      }
    }
    const Refusals refused = without_value(module, places);
    const auto address_of = [&](const ptx::Variable& variable) -> std::uint64_t {
      const auto why = refused.find(variable.name);
      if (why != refused.end()) fail(why->second.what, why->second.next);
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
    free_variables();
    throw;
  }
}

EmulatedModule::~EmulatedModule() {
  free_variables();
}

void EmulatedModule::free_variables() {
  for (const auto& [name, variable] : variables_) memory_.free(variable.address);
}

std::optional<DeviceVariable> EmulatedModule::variable(const std::string& name) const {
  for (const auto& [known, variable] : variables_) {
    if (known == name) return variable;
  }
  return std::nullopt;
}

}  // namespace kiln::emulated
