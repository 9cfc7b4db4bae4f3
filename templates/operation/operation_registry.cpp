// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The operations of the process, a list that only grows, so that it is read without a lock, and
// those that a catalog sees of them.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "kiln/error.hpp"
#include "templates/catalog.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/typed_operation.hpp"

namespace kiln {
namespace {

/// One entry of the list; it and all behind it are never changed but at `next`, once.
struct RegisteredOperation {
  explicit RegisteredOperation(Operation declared) : operation(std::move(declared)) {}
  const Operation operation;
  std::atomic<RegisteredOperation*> next{nullptr};
};

/// With all that their references include.
bool is_same_text(const Operation& left, const Operation& right) {
  return left.origin.source == right.origin.source &&
         left.origin.headers_digest == right.origin.headers_digest;
}

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

  /// What is compiled in.
  [[nodiscard]] const std::vector<const Operation*>& built_in() const { return built_in_; }

  /// Keeps the operation, unless it is there and the latest of its name has the same text. One of
  /// another file is another operation: messages name its file.
  const Operation* add(Operation operation) {
    const std::lock_guard lock(mutex_);
    const Operation* same = nullptr;
    for (const auto* at = first(); at != nullptr; at = at->next.load(std::memory_order_acquire)) {
      if (at->operation.name != operation.name) continue;
      if (!is_same_text(at->operation, operation)) {
        same = nullptr;
      } else if (at->operation.origin.file == operation.origin.file) {
        same = &at->operation;
      }
    }
    return same != nullptr ? same : append(std::move(operation));
  }

  /// The latest of that name.
  [[nodiscard]] const Operation* find(std::string_view name) const {
    const Operation* latest = nullptr;
    for (const auto* at = first(); at != nullptr; at = at->next.load(std::memory_order_acquire)) {
      if (at->operation.name == name) latest = &at->operation;
    }
    return latest;
  }

 private:
  OperationRegistry() {
    for (const auto& [path, text] : embedded_files()) {
      if (!path.ends_with(".cu") || !declares_operation(text)) continue;
      Operation operation = Operation::parse(path, text);
      if (const auto* const typed = find_typed_operation(operation.name)) typed->place(operation);
      built_in_.push_back(append(std::move(operation)));
    }
  }

  const Operation* append(Operation operation) {
    auto* const added = new RegisteredOperation(std::move(operation));
    end_->store(added, std::memory_order_release);
    end_ = &added->next;
    return &added->operation;
  }

  std::atomic<RegisteredOperation*> first_{nullptr};
  std::atomic<RegisteredOperation*>* end_ = &first_;  ///< where the next one goes
  std::vector<const Operation*> built_in_;
  std::mutex mutex_;
};

thread_local constinit const OperationSet* current_set = nullptr;

const Operation* find_in(const std::vector<const Operation*>& list, std::string_view name) {
  const auto found =
      std::ranges::find_if(list, [&](const Operation* each) { return each->name == name; });
  return found == list.end() ? nullptr : *found;
}

/// `rival`: what has the same name already, or null.
void check_declarable(const Operation& operation, const Operation* rival) {
  if (!operation.is_declared()) {
    throw Error(ErrorKind::template_,
                fmt::format("{}:1:1: the operation \"{}\" has no \"//@ reference\" line and no "
                            "\"//@ checker\" line, so Kiln cannot check results. Next: add one of "
                            "these lines; docs/reference/operations.md has an example",
                            operation.origin.file, operation.name));
  }
  if (rival == nullptr || is_same_text(*rival, operation)) return;
  throw Error(
      ErrorKind::template_,
      fmt::format("{0}:1:1: the operation \"{1}\" is also declared in {2}, but differently. "
                  "Next: rename one of the two operations",
                  operation.origin.file, operation.name, rival->origin.file));
}

}  // namespace

void OperationSet::declare(Operation operation) {
  const Operation* const rival = find(operation.name);
  check_declarable(operation, rival);
  if (rival == nullptr) {
    declared_.push_back(OperationRegistry::instance().add(std::move(operation)));
  }
}

const Operation* OperationSet::find(std::string_view name) const {
  const Operation* const declared = find_in(declared_, name);
  return declared != nullptr ? declared : find_in(OperationRegistry::instance().built_in(), name);
}

std::vector<const Operation*> OperationSet::all() const {
  std::vector<const Operation*> all = OperationRegistry::instance().built_in();
  all.insert(all.end(), declared_.begin(), declared_.end());
  return all;
}

OperationScope::OperationScope(const OperationSet& set) noexcept
    : outer_(std::exchange(current_set, &set)) {}

OperationScope::~OperationScope() {
  current_set = outer_;
}

std::vector<const Operation*> operations() {
  if (current_set != nullptr) return current_set->all();
  std::vector<const Operation*> all;
  for (const auto* at = OperationRegistry::instance().first(); at != nullptr;
       at = at->next.load(std::memory_order_acquire)) {
    const auto same = std::ranges::find_if(
        all, [&](const Operation* each) { return each->name == at->operation.name; });
    if (same == all.end()) {
      all.push_back(&at->operation);
    } else {
      *same = &at->operation;
    }
  }
  return all;
}

const Operation* find_operation(std::string_view name) {
  return current_set != nullptr ? current_set->find(name)
                                : OperationRegistry::instance().find(name);
}

void declare_operation(Operation operation) {
  OperationRegistry& registry = OperationRegistry::instance();
  check_declarable(operation, find_in(registry.built_in(), operation.name));
  registry.add(std::move(operation));
}

}  // namespace kiln
