// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/device_memory.hpp"
#include "kiln/error.hpp"
#include "kiln/export.hpp"
#include "kiln/gemm.hpp"
#include "kiln/types.hpp"

namespace kiln {

/// A CUDA stream: a `cudaStream_t` or `CUstream` converts to it; null is the legacy default stream.
/// An emulated device has no streams: it takes any, and a launch has ended when launch() returns.
using Stream = void*;

/// An operand of an epilogue's expression: its address in device memory, and for x[m,n] its leading
/// dimension in elements (0: tight, n). It is read element by element, so it may start anywhere
/// that its type may. One that amax() records in is written as well, and overlaps no other operand.
struct EpilogueOperand {
  const void* data = nullptr;
  std::int64_t ld = 0;
};

/// Operands of one launch, all addresses of device memory (of cudaMalloc, or DeviceMemory). `c` is
/// read only when beta is not zero, or when an epilogue names it. D may be C (in place): the same
/// address, element type and
/// leading dimension. Any other overlap of D with an operand gives undefined results. Operands
/// without elements (A and B where k is 0, all where m or n is 0) are not looked at and may be
/// null.
struct GemmOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  double alpha = 1.0;
  double beta = 0.0;
  /// Those of the epilogue, in the order in which its expression first names them.
  std::array<EpilogueOperand, kMostEpilogueOperands> epilogue{};
};

/// How a library opens. Every empty field takes its value from the environment variable named
/// beside it, then from the default.
struct LibraryOptions {
  std::string database;                    ///< KILN_DB; $XDG_DATA_HOME/kiln/tuning.db
  std::string cubin_store;                 ///< $XDG_CACHE_HOME/kiln/cubins.db
  std::vector<std::string> template_path;  ///< KILN_TEMPLATE_PATH: directories of user templates
  std::string cuda_include;                ///< KILN_CUDA_INCLUDE: the folder of cuda_fp16.h
  std::string device;                      ///< KILN_DEVICE: "cuda:0" (or just "0"), "emulated:h200"
  std::string mode;  ///< KILN_MODE: use | tune_on_miss | require | default_only
  std::string log;   ///< KILN_LOG: warning | info, to stderr; nothing
  /// For tune_on_miss; `kiln` of the same installation, beside the running program, or on PATH.
  std::string tuner_program;
  /// Receives each warning once per cause (a database that cannot be used, a kernel that had to
  /// fall back, a problem that is being tuned), safe to print: control characters of what it
  /// quotes are escaped, as in Error::what(). It is called while the library works, by one thread
  /// at a time, in prepare() also by threads of the library; so it must not call the library.
  /// Without one, warnings go where `log` says.
  std::function<void(std::string_view)> on_warning;
};

/// Counts since the library was opened.
struct LibraryCounters {
  std::uint64_t compiles = 0;        ///< NVRTC compilations
  std::uint64_t cubin_hits = 0;      ///< kernels loaded from the cubin store
  std::uint64_t database_reads = 0;  ///< look-ups that queried the database
};

namespace detail {
struct KernelEntry;
class LibraryState;
}  // namespace detail

/// A loaded kernel for one problem. A small value: copy it freely. It is valid while its Library
/// lives, and safe to launch from several threads at once.
class KILN_API Kernel {
 public:
  /// Enqueues the computation on `stream`, which belongs to the library's device. Neither locks nor
  /// allocates, except for the first launch on a stream of a kernel with workspace_bytes(): make it
  /// before the stream is captured into a graph, and replay that graph on the same stream; and wait
  /// for such launches on the per-thread stream before the thread ends.
  /// Where m or n is 0 it does nothing, not even on the stream. Where k is 0 a kernel writes
  /// D = beta * C, whatever alpha is.
  /// Throws Error(usage) if an operand breaks a promise of the problem (null, rows less aligned
  /// than its alignment and leading dimension say, beta where reads_c is false) or if alpha or
  /// beta is not a value of the accumulator's type (1e300 for f32, 0.5 for s32); Error(device)
  /// if CUDA refuses the launch, or a kernel faults on the emulated device.
  void launch(Stream stream, const GemmOperands& operands) const;

  [[nodiscard]] Match match() const noexcept;
  /// One sentence: why this kernel was chosen.
  [[nodiscard]] std::string_view match_reason() const noexcept;
  /// "" where m or n is 0: there is no kernel; likewise the configuration.
  [[nodiscard]] std::string_view template_name() const noexcept;
  /// Canonical text of the configuration, e.g. "stages=3 tile_k=32 tile_m=128 tile_n=256".
  [[nodiscard]] std::string_view config() const noexcept;
  /// Device memory that each launch needs besides the operands; the library owns it per stream.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;

 private:
  friend class detail::LibraryState;
  Kernel(const detail::KernelEntry* entry, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
         std::int64_t ldd);
  const detail::KernelEntry* entry_;
  std::int64_t lda_, ldb_, ldc_, ldd_;
};

/// The entry point to tuned kernels. Thread-safe. One per device and process is enough. In a child
/// of fork() the parent's Library, its kernels and its memory only describe themselves: whatever
/// uses the device or files throws Error(usage), and their destructors do nothing. The child
/// may open a Library of its own, unless another thread was opening one, closing one or getting a
/// new kernel at the time of the fork(): that too is Error(usage).
class KILN_API Library {
 public:
  /// Opens with the given options. A database that cannot be used is a warning, not an error;
  /// throws Error(device) if there is no usable GPU, Error(usage) for a bad option.
  [[nodiscard]] static Library open(const LibraryOptions& options = {});

  /// The kernel for `problem`. The first request for a problem queries the database and loads (or
  /// compiles) the kernel; other threads wait for a compilation, or for the tuner, only if they
  /// want the same kernel. Later requests neither lock nor allocate. Where m, n or k is 0 nothing
  /// can be tuned: in every mode the database is not asked and the match is `exact`; a kernel is
  /// loaded only for k 0, the plainest that takes the problem's types. Throws Error(usage) for an
  /// impossible problem, Error(not_found) if no template computes it or the mode requires a tuned
  /// kernel and there is none.
  [[nodiscard]] Kernel get(const Gemm& problem) const;

  /// Makes get() of all of these fast: queries the database and loads or compiles their kernels, on
  /// as many threads as there are cores. If some cannot be served, the others are still ready, and
  /// the Error of the first in the list is thrown.
  void prepare(const std::vector<Gemm>& problems) const;

  /// `bytes` of the device's memory, uninitialised. Thread-safe. Throws Error(device)
  /// when memory is short.
  [[nodiscard]] DeviceMemory allocate(std::size_t bytes) const;
  /// Waits for everything that this process launched on the device, whatever the stream. Throws
  /// Error(device) if a kernel faulted.
  void synchronize() const;

  /// "NVIDIA H200, sm_90a, 132 SMs", "emulated NVIDIA H200, ...".
  [[nodiscard]] std::string device_description() const;
  /// Whether kernels run on this machine's CPU instead of a GPU: results are right, but execution
  /// is slow, and how long it takes means nothing.
  [[nodiscard]] bool is_emulated() const noexcept;
  [[nodiscard]] LibraryCounters counters() const noexcept;

  Library(Library&&) noexcept;
  Library& operator=(Library&&) noexcept;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

 private:
  friend class detail::LibraryState;
  explicit Library(std::unique_ptr<detail::LibraryState> state);
  std::unique_ptr<detail::LibraryState> state_;
};

}  // namespace kiln
