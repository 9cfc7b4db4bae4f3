// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/digest.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace kiln {

/// xxHash makes it, so that it lies as its vector code needs it.
struct RunningDigest::State {
  State() : xxh(XXH3_createState()) {
    if (xxh == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(xxh);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XXH3_freeState(xxh); }
  XXH3_state_t* xxh;
};

RunningDigest::RunningDigest() : state_(std::make_unique<State>()) {}

RunningDigest::~RunningDigest() = default;

void RunningDigest::add(const void* bytes, std::size_t count) {
  XXH3_128bits_update(state_->xxh, bytes, count);
}

std::string RunningDigest::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string digest_hex(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

DigestBuilder& DigestBuilder::add(std::string_view field) {
  buffer_ += std::to_string(field.size());
  buffer_ += ':';
  buffer_ += field;
  return *this;
}

}  // namespace kiln
