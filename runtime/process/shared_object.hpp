// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// A library opened at run time and never closed: NVIDIA's libraries keep threads and exit handlers
/// that do not survive being unmapped.
class SharedObject {
 public:
  /// Nothing if it cannot be opened; `why` then receives the loader's text.
  [[nodiscard]] static std::optional<SharedObject> open(const std::string& name, std::string& why);
  /// Whether an opened library is suitable; if not, `why` receives what is wrong with it.
  using Fit = std::function<bool(const SharedObject& library, std::string& why)>;
  /// The first of `names` that opens and is suitable; `tried` gets one line for each other one.
  [[nodiscard]] static std::optional<SharedObject> open_first(const std::vector<std::string>& names,
                                                              std::vector<std::string>& tried,
                                                              const Fit& fit = nullptr);

  /// Sets `function` to the symbol; false if the library lacks it.
  template <class Function>
  [[nodiscard]] bool resolve(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(find(symbol));
    return function != nullptr;
  }
  /// The name it was opened by; `directory` is where the loader found it.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  /// What dlopen() returned.
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  SharedObject(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  [[nodiscard]] void* find(const char* symbol) const;

  void* handle_;
  std::string name_;
  std::string directory_;
};

}  // namespace kiln
