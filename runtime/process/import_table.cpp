// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/process/import_table.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>

namespace kiln {
namespace {

using Address = ElfW(Addr);

#if defined(__x86_64__)
constexpr std::array<std::uint32_t, 3> kSlots{R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64};
#elif defined(__aarch64__)
constexpr std::array<std::uint32_t, 3> kSlots{R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT,
                                              R_AARCH64_ABS64};
#else
#error "CUDA runs on x86-64 and 64-bit ARM; name the relocations of this processor here"
#endif

/// The parts of a loaded library's dynamic section that locate its imports.
struct Imports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> functions;
  std::span<const ElfW(Rela)> data;
};

template <class Entry>
const Entry* at(const link_map& map, Address value) {
  // glibc has turned these offsets into addresses, other loaders leave them.
  return reinterpret_cast<const Entry*>(value < map.l_addr ? value + map.l_addr : value);
}

Imports imports_of(const link_map& map) {
  Imports imports;
  const ElfW(Rela)* functions = nullptr;
  const ElfW(Rela)* data = nullptr;
  std::size_t function_bytes = 0;
  std::size_t data_bytes = 0;
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const Address value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        imports.symbols = at<ElfW(Sym)>(map, value);
        break;
      case DT_STRTAB:
        imports.names = at<char>(map, value);
        break;
      case DT_JMPREL:
        functions = at<ElfW(Rela)>(map, value);
        break;
      case DT_PLTRELSZ:
        function_bytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        data = at<ElfW(Rela)>(map, value);
        break;
      case DT_RELASZ:
        data_bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  if (functions != nullptr) imports.functions = {functions, function_bytes / sizeof(*functions)};
  if (data != nullptr) imports.data = {data, data_bytes / sizeof(*data)};
  return imports;
}

Address page_bytes() {
  return static_cast<Address>(::sysconf(_SC_PAGESIZE));
}

/// Where the page of an address begins.
Address page_of(Address address) {
  return address & ~(page_bytes() - 1);
}

/// The pages that the loader made read-only after it had resolved everything.
struct ReadOnly {
  Address base;
  Address begin = 0;
  Address end = 0;
};

int find_read_only(dl_phdr_info* info, std::size_t, void* data) {
  auto& found = *static_cast<ReadOnly*>(data);
  if (info->dlpi_addr != found.base) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_GNU_RELRO) continue;
    // As the loader does: what shares the last page with other data stays writable.
    found.begin = page_of(info->dlpi_addr + header.p_vaddr);
    found.end = page_of(info->dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  return 1;
}

/// Writes one slot. Other threads may be calling through it: they see the old or the new address.
std::string replace(const ReadOnly& read_only, Address slot, void* replacement) {
  auto* const page = reinterpret_cast<void*>(page_of(slot));
  const bool is_protected = slot >= read_only.begin && slot < read_only.end;
  if (is_protected && ::mprotect(page, page_bytes(), PROT_READ | PROT_WRITE) != 0) {
    return fmt::format("cannot write to NVRTC's import table ({})", std::strerror(errno));
  }
  std::atomic_ref(*reinterpret_cast<void**>(slot)).store(replacement);
  // Left writable if this fails: what is stored there is right in either case.
  if (is_protected) static_cast<void>(::mprotect(page, page_bytes(), PROT_READ));
  return {};
}

/// The replacements are in the application's program or in a library that it may close one day.
void keep_loaded(const void* code) {
  Dl_info info{};
  if (::dladdr(code, &info) == 0) return;
  static_cast<void>(::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace

std::string redirect_imports(void* handle, std::span<const Redirection> redirections,
                             std::vector<std::string>* found) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) {
    return "the dynamic loader does not report the address of NVRTC";
  }
  const Imports imports = imports_of(*map);
  if (imports.symbols == nullptr || imports.names == nullptr) return "NVRTC has no symbol table";
  // Otherwise one thread could revoke the permission with which another is about to write.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  ReadOnly read_only{.base = map->l_addr};
  ::dl_iterate_phdr(find_read_only, &read_only);
  for (const auto& table : {imports.functions, imports.data}) {
    for (const ElfW(Rela) & relocation : table) {
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
      if (std::find(kSlots.begin(), kSlots.end(), type) == kSlots.end()) continue;
      const auto& symbol = imports.symbols[ELF64_R_SYM(relocation.r_info)];
      const std::string_view name = imports.names + symbol.st_name;
      for (const Redirection& redirection : redirections) {
        if (name != redirection.symbol) continue;
        keep_loaded(redirection.replacement);
        const Address slot = map->l_addr + relocation.r_offset;
        std::string why = replace(read_only, slot, redirection.replacement);
        if (!why.empty()) return why;
        if (found != nullptr) found->emplace_back(name);
      }
    }
  }
  return {};
}

}  // namespace kiln
