// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cache/files/cubin_store.hpp"
#include "runtime/compile/compiler.hpp"

namespace kiln::testing {

/// $XDG_CACHE_HOME for tests of all programs. The kernels that judge are the same for all of them,
/// and compiling them takes longer than most tests.
inline std::string shared_cache() {
  return KILN_BINARY_DIR "/tests/cache";
}

/// NVRTC with the store of that cache. Throws what make_nvrtc_compiler() throws.
inline std::unique_ptr<Compiler> shared_compiler() {
  return std::make_unique<CachingCompiler>(
      make_nvrtc_compiler("", SystemHeaders::precompile),
      std::make_shared<CubinStore>(shared_cache() + "/kiln/cubins.db", std::int64_t{1} << 30,
                                   nullptr));
}

}  // namespace kiln::testing
