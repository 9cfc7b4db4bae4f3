// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/engine/warp_queues.hpp"

#include "runtime/emulated/async/bulk_groups.hpp"
#include "runtime/emulated/async/copy_queue.hpp"
#include "runtime/emulated/matrix/wgmma_queue.hpp"

namespace kiln::emulated {
namespace {

struct Storage {
  explicit Storage(Warp& warp) : copy_queue(warp), bulk_groups(warp), wgmma_queue(warp) {}

  CopyQueue copy_queue;
  BulkGroups bulk_groups;
  WgmmaQueue wgmma_queue;
};

class AllQueues final : private Storage, public WarpQueues {
 public:
  explicit AllQueues(Warp& warp)
      : Storage(warp), WarpQueues(copy_queue, bulk_groups, wgmma_queue) {}

  [[nodiscard]] bool products_unfinished() const override { return wgmma_queue.unfinished(); }
  void abandon() override { wgmma_queue.abandon(); }
  void abandon_group() override { wgmma_queue.abandon_group(); }
};

}  // namespace

std::unique_ptr<WarpQueues> make_warp_queues(Warp& warp) {
  return std::make_unique<AllQueues>(warp);
}

}  // namespace kiln::emulated
