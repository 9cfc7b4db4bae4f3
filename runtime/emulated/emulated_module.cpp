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
  const auto& bound = program.max_threads;
  if (bound[0] == 0) return 1024;
  return bound[0] * std::max(1, bound[1]) * std::max(1, bound[2]);
}

}  // namespace

EmulatedModule::EmulatedModule(std::string_view ptx, const std::vector<std::string>& names,
                               GlobalMemory& memory)
    : memory_(memory) {
  const ptx::Module module = ptx::read_module(ptx);
  std::map<std::string, const Allocation*, std::less<>> places;
  try {
    for (const ptx::Variable& variable : module.variables) {
      if (variable.space == ptx::Space::shared) continue;
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
    // Addresses in initial values, once every variable has one.
    for (const ptx::Variable& variable : module.variables) {
      for (const ptx::Relocation& relocation : variable.relocations) {
        const auto to = places.find(relocation.symbol);
        if (to == places.end()) {
          throw Error(ErrorKind::device,
                      fmt::format("variable '{}' holds the address of '{}', which is no global "
                                  "variable. Next: the emulated GPU cannot run this kernel; run "
                                  "it on a GPU.",
                                  variable.name, relocation.symbol));
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
      throw Error(ErrorKind::device,
                  fmt::format("'{}' is declared but not defined. Next: link the kernel's parts "
                              "into one source.",
                              variable.name));
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
