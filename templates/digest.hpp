// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

/// 128-bit XXH3 of the bytes, as 32 lower-case hexadecimal digits. Detects change and corruption;
/// it does not protect against an attacker.
[[nodiscard]] std::string digest_hex(std::string_view bytes);

/// The same of bytes that come piece by piece.
class RunningDigest {
 public:
  RunningDigest();
  RunningDigest(const RunningDigest&) = delete;
  RunningDigest& operator=(const RunningDigest&) = delete;
  ~RunningDigest();
  void add(const void* bytes, std::size_t count);
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Collects fields so that ("ab","c") and ("a","bc") differ: each is preceded by its length.
class DigestBuilder {
 public:
  DigestBuilder& add(std::string_view field);
  [[nodiscard]] std::string hex() const { return digest_hex(buffer_); }

 private:
  std::string buffer_;
};

}  // namespace kiln
