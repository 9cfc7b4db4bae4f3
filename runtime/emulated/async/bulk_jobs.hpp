// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/emulated/async/async_memory.hpp"
#include "runtime/emulated/async/tensor_map.hpp"
#include "runtime/emulated/memory/atomics.hpp"

/// \file
/// Bulk copies, once addresses are known: what linear copies and tensor copies have in common.

namespace kiln::emulated {

/// Bytes that a bulk copy moves in one go.
struct BulkPiece {
  std::byte* host = nullptr;  ///< the other side; null: outside of the tensor
  std::uint64_t address = 0;  ///< of the other side if it is global memory, else 0
  std::uint32_t shared = 0;   ///< offset in the block's shared memory
  std::uint32_t bytes = 0;
};

/// What happens to elements on the way; nothing by default.
struct BulkElements {
  AtomicFunction reduce = nullptr;
  int bytes = 1;
  TensorType type = TensorType::u8;
  bool converts = false;  ///< by loaded()
  std::uint64_t fill = 0;
};

/// A copy into the shared memory of one or more blocks, which reports to an mbarrier in each.
struct BulkLoad {
  Warp* warp = nullptr;
  const Instr* instr = nullptr;
  int lane = 0;
  std::vector<Block*> targets;
  std::uint32_t barrier = 0;  ///< offset of the mbarrier
  std::uint32_t bytes = 0;    ///< to report
  std::vector<BulkPiece> pieces;
  BulkElements elements;
  SharedSpot source;  ///< of a copy from shared memory; else without owner
};
void begin_bulk_load(BulkLoad load);

/// A copy from the own block's shared memory, waited for in groups.
struct BulkStoreJob {
  Warp* warp = nullptr;
  const Instr* instr = nullptr;
  int lane = 0;
  std::vector<BulkPiece> pieces;
  BulkElements elements;
};
void begin_bulk_store(BulkStoreJob job);

}  // namespace kiln::emulated
