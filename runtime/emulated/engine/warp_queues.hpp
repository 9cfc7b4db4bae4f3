// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace kiln::emulated {

class BulkGroups;
class CopyQueue;
class Warp;
class WgmmaQueue;

/// The asynchronous work of one warp that nothing has waited for yet. The engine keeps it with the
/// warp and names the events that end it; what it is, the rooms above know.
struct WarpQueues {
  WarpQueues(CopyQueue& copy_queue, BulkGroups& bulk_groups, WgmmaQueue& wgmma_queue)
      : copies(copy_queue), bulk(bulk_groups), wgmma(wgmma_queue) {}
  virtual ~WarpQueues() = default;
  WarpQueues(const WarpQueues&) = delete;
  WarpQueues& operator=(const WarpQueues&) = delete;

  /// Whether products of matrices are unfinished.
  [[nodiscard]] virtual bool products_unfinished() const = 0;
  /// No thread of the warp is left.
  virtual void abandon() = 0;
  /// The warps of its warpgroup wait forever.
  virtual void abandon_group() = 0;

  CopyQueue& copies;
  BulkGroups& bulk;
  WgmmaQueue& wgmma;
};

/// Empty queues for a warp, which must outlive them. Defined in matrix/, the highest room that has
/// a queue.
[[nodiscard]] std::unique_ptr<WarpQueues> make_warp_queues(Warp& warp);

}  // namespace kiln::emulated
