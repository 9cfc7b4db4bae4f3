// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/records.hpp"

namespace kiln {

/// Whatever decides the bytes of a compiled kernel.
struct CubinKey {
  std::string rendered_digest;
  std::string options;       ///< canonical compiler options
  std::string compiler;      ///< "nvrtc 13.0"
  std::string arch;          ///< "sm_90a"
  std::string headers = {};  ///< which CUDA headers, where they are not the compiler's own
  [[nodiscard]] std::string canonical() const;
};

struct CubinRecord {
  std::vector<std::byte> cubin;
  std::vector<std::string> lowered_names;  ///< one per name expression of the rendered kernel
  KernelResources resources;
};

/// Compiled kernels: a cache that may be deleted at any time. Any failure (cannot open, damaged,
/// full disk) makes it behave as empty and calls `warn` once; a lock of another process does so
/// only while it lasts. Nothing here throws, nor does construction. Entries carry a digest over key
/// and payload. When the total passes `limit_bytes` the least recently used go. A damaged file, or
/// one whose schema was altered, is set aside and replaced by a new one; a file that is not Kiln's
/// is left alone. A file that others could change (see file_guard) is not read: a cubin is code.
/// Thread-safe.
class CubinStore {
 public:
  using Warn = std::function<void(const std::string&)>;
  CubinStore(std::string path, std::int64_t limit_bytes, Warn warn);
  /// A store that keeps nothing.
  CubinStore();
  CubinStore(CubinStore&&) noexcept;
  CubinStore& operator=(CubinStore&&) noexcept;
  ~CubinStore();

  [[nodiscard]] std::optional<CubinRecord> get(const CubinKey& key);
  void put(const CubinKey& key, const CubinRecord& record);
  [[nodiscard]] std::int64_t total_bytes();
  [[nodiscard]] std::int64_t entries();
  /// Removes least recently used entries until at most `limit_bytes` remain; returns how many went.
  std::int64_t shrink(std::int64_t limit_bytes, bool dry_run = false);
  [[nodiscard]] bool usable() const;
  [[nodiscard]] const std::string& path() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
