// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/process/shared_object.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>

namespace kiln {

std::optional<SharedObject> SharedObject::open(const std::string& name, std::string& why) {
  // RTLD_LOCAL: our copy must not satisfy symbols of the application.
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* text = ::dlerror();
    why = text != nullptr ? text : "cannot be opened";
    return std::nullopt;
  }
  SharedObject object(handle, name);
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr) {
    object.directory_ = std::filesystem::path(map->l_name).parent_path().string();
  }
  return object;
}

std::optional<SharedObject> SharedObject::open_first(const std::vector<std::string>& names,
                                                     std::vector<std::string>& tried,
                                                     const Fit& fit) {
  for (const std::string& name : names) {
    std::string why;
    auto object = open(name, why);
    if (object && (!fit || fit(*object, why))) return object;
    // The loader's text usually begins with the name.
    tried.push_back(why.starts_with(name) ? why : fmt::format("{}: {}", name, why));
  }
  return std::nullopt;
}

void* SharedObject::find(const char* symbol) const {
  return ::dlsym(handle_, symbol);
}

}  // namespace kiln
