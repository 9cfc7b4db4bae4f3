// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The operations of the process: a list that only grows, so that it is read without a lock.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "kiln/error.hpp"
#include "templates/catalog.hpp"
#include "templates/operation.hpp"
#include "templates/typed_operation.hpp"

namespace kiln {
namespace {

/// One entry of the list; it and all behind it are never changed but at `next`, once.
struct RegisteredOperation {
  explicit RegisteredOperation(Operation declared) : operation(std::move(declared)) {}
  const Operation operation;
  std::atomic<RegisteredOperation*> next{nullptr};
};

class OperationRegistry {
 public:
  /// Never destroyed: threads of an application may still launch while the process ends.
  static OperationRegistry& instance() {
    static OperationRegistry& registry = *new OperationRegistry;
    return registry;
  }

  [[nodiscard]] const RegisteredOperation* first() const {
    return first_.load(std::memory_order_acquire);
  }

  void declare(Operation operation) {
    if (!operation.is_declared()) {
      throw Error(
          ErrorKind::template_,
          fmt::format(
              "{}:1:1: the operation \"{}\" has no \"//@ reference\" line and no "
              "\"//@ checker\" line, so nothing says which results of its kernels are right; "
              "docs/writing-templates.md has an example",
              operation.file, operation.name));
    }
    const std::lock_guard lock(mutex_);
    for (const RegisteredOperation* at = first(); at != nullptr;
         at = at->next.load(std::memory_order_relaxed)) {
      if (at->operation.name != operation.name) continue;
      if (at->operation.source == operation.source) return;
      throw Error(ErrorKind::template_,
                  fmt::format("{}:1:1: the operation \"{}\" is declared by {}, too, with another "
                              "text; rename one of them",
                              operation.file, operation.name, at->operation.file));
    }
    append(std::move(operation));
  }

 private:
  OperationRegistry() {
    for (const auto& [path, text] : embedded_files()) {
      if (!path.ends_with(".cu") || !declares_operation(text)) continue;
      Operation operation = Operation::parse(path, text);
      if (const auto* const typed = find_typed_operation(operation.name)) typed->place(operation);
      append(std::move(operation));
    }
  }

  void append(Operation operation) {
    auto* const added = new RegisteredOperation(std::move(operation));
    end_->store(added, std::memory_order_release);
    end_ = &added->next;
  }

  std::atomic<RegisteredOperation*> first_{nullptr};
  std::atomic<RegisteredOperation*>* end_ = &first_;  ///< where the next one goes
  std::mutex mutex_;
};

}  // namespace

std::vector<const Operation*> operations() {
  std::vector<const Operation*> all;
  for (const auto* at = OperationRegistry::instance().first(); at != nullptr;
       at = at->next.load(std::memory_order_acquire)) {
    all.push_back(&at->operation);
  }
  return all;
}

const Operation* find_operation(std::string_view name) {
  for (const auto* at = OperationRegistry::instance().first(); at != nullptr;
       at = at->next.load(std::memory_order_acquire)) {
    if (at->operation.name == name) return &at->operation;
  }
  return nullptr;
}

void declare_operation(Operation operation) {
  OperationRegistry::instance().declare(std::move(operation));
}

}  // namespace kiln
