// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/matrix/wgmma_detail.hpp"
#include "runtime/emulated/matrix/wgmma_sequence.hpp"

namespace kiln::emulated {

class Warp;

/// The wgmma operations of one warp that are still in flight. A warp multiplies its own quarter
/// of the warpgroup's 64 rows, and does so when wgmma.wait_group demands it and not before; if
/// nobody waits for very many, the oldest are done, as they may be at any time.
///
/// Groups are the warpgroup's: whoever waits for one waits until all four warps have committed it,
/// and then it is done for all of them. So one thread may tell others that matrices have been read.
///
/// Until then the registers of the accumulators hold marks, which are signalling NaNs that name an
/// accumulator. Compiled PTX may move unfinished accumulators from register to register, as long as
/// it does not look at them: when they are finished, every register that holds a mark gets the
/// value. A chain of operations on the same accumulators goes on with the same marks.
class WgmmaQueue {
 public:
  explicit WgmmaQueue(Warp& warp) : warp_(warp) {}

  void fence();
  void start(const Instr& instr);
  void commit();
  /// Finishes all operations but those of the `pending` newest groups. If other warps have not
  /// committed them, this one waits at a barrier until they have.
  void wait(const Instr& instr, LaneMask active, std::uint32_t pending);

  /// The warp comes to any wgmma instruction.
  void note(const Instr& instr);
  /// No thread of the warp is left: reports what it has left to the others of its warpgroup.
  void abandon();
  /// The same of all warps of the warpgroup, which wait for ever.
  void abandon_group();

  [[nodiscard]] bool unfinished() const { return !operations_.empty(); }
  /// Reports an instruction that computes with or stores an unfinished accumulator.
  void check_use(const Instr& instr, LaneMask active) const;

 private:
  struct Chain {
    std::uint32_t first_mark = 0;
    const FragmentLayout* layout = nullptr;
    MatrixType type = MatrixType::f32;
    const std::uint32_t* rows = nullptr;  ///< registers of the last operation
    std::vector<float> real;              ///< 16 x N, or `whole`
    std::vector<std::int32_t> whole;
    int unfinished = 0;
  };
  struct Operation {
    const Instr* instr = nullptr;
    std::shared_ptr<Chain> chain;
    std::uint64_t a = 0;  ///< descriptors
    std::uint64_t b = 0;
    bool accumulates = false;
    std::uint32_t group = 0;
    std::vector<float> a_real;  ///< A from registers, as they were
    std::vector<std::int32_t> a_whole;
    std::uint64_t token = 0;
  };

  void check_fence(const Instr& instr, const WgmmaDetail& detail);
  [[nodiscard]] std::shared_ptr<Chain> chain_of(const Instr& instr, const WgmmaDetail& detail);
  void begin_reads(Operation& operation, const WgmmaDetail& detail);
  /// Calls visit(queue) for the queues of the warpgroup's warps.
  template <class Visit>
  void for_each_queue(Visit visit);
  [[nodiscard]] bool is_committed(std::uint32_t groups);
  /// The warpgroup's first `groups` groups are committed, and this warp waits for them.
  void finish_wait(const Instr& instr, LaneMask active, std::uint32_t groups);
  /// What observers are told that the warpgroup's operations report to.
  [[nodiscard]] std::uint64_t object();
  void finish_groups(std::uint32_t groups);
  void finish(const Operation& operation);
  template <class T>
  void multiply(const Operation& operation, const WgmmaDetail& detail, std::vector<T>& sums);
  void publish(const Operation& last, const Chain& chain);
  [[nodiscard]] bool holds_mark(std::uint32_t row, LaneMask lanes) const;
  /// The same of a register that may hold one by right: other values may look alike.
  [[nodiscard]] bool is_unfinished(std::uint32_t row, LaneMask lanes) const;

  /// A wait that goes on.
  struct Waiting {
    const Instr* instr = nullptr;  ///< null: none
    LaneMask lanes = 0;
    std::uint32_t groups = 0;  ///< that it waits for
  };

  /// The queue of the warpgroup's first warp.
  [[nodiscard]] WgmmaQueue& leader();

  Warp& warp_;
  Waiting waiting_;
  std::vector<Operation> operations_;
  std::vector<Chain> finished_;  ///< since the last fence
  std::uint32_t group_ = 0;      ///< how many this warp has committed
  std::uint32_t next_mark_ = 0;
  bool fenced_ = false;
  std::unique_ptr<WgmmaSequence> sequence_;  ///< of the warpgroup, kept by its leader
};

}  // namespace kiln::emulated
