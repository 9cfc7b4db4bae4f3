// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/device_memory.hpp"
#include "kiln/error.hpp"
#include "kiln/export.hpp"
#include "kiln/gemm.hpp"
#include "kiln/operation.hpp"
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
  /// Memory of the caller's for the kernel to work in: Kernel::workspace_bytes(), a multiple of
  /// kCallerWorkspaceAlignment, which no other launch uses at the time. Null: the library's, of
  /// which each stream has one.
  void* workspace = nullptr;
};

/// How a library opens. Every empty field takes its value from the environment variable named
/// beside it, then from the default.
struct LibraryOptions {
  std::string database;                    ///< KILN_DB; $XDG_DATA_HOME/kiln/tuning.db
  std::string cubin_store;                 ///< $XDG_CACHE_HOME/kiln/cubins.db
  std::vector<std::string> template_path;  ///< KILN_TEMPLATE_PATH: directories of user templates
  std::vector<std::string> include;        ///< folders of headers that user templates include
  std::string cuda_include;                ///< KILN_CUDA_INCLUDE: the folder of cuda_fp16.h
  std::string device;                      ///< KILN_DEVICE: "cuda:0" (or just "0"), "emulated:h200"
  std::optional<Mode> mode;                ///< KILN_MODE; Mode::use
  std::string log;  ///< KILN_LOG: none | warning | info, to stderr; some warnings
  /// For tune_on_miss; `kiln` of the same installation, beside the running program, or on PATH.
  std::string tuner_program;
  /// Receives each warning once per cause (a database that cannot be used or is not where it was
  /// said to be, a kernel that had to fall back, a kind of problem that was never tuned, a problem
  /// that is being tuned), safe to print: control characters of what it quotes are escaped, as in
  /// Error::what(). It is called while the library works, by one thread at a time, in prepare()
  /// also by threads of the library; so it must not call the library.
  /// Without one, warnings go where `log` says: with `warning` and `info` all to stderr, with
  /// `none` nowhere, and without `log` the first of each kind to stderr, once per process.
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
class GemmKernels;
class LibraryState;
class OperationKernels;
}  // namespace detail

/// What a loaded kernel of any kind says of itself. A small value: copy it freely. It is valid
/// while its Library lives, from any thread.
class KILN_API AnyKernel {
 public:
  [[nodiscard]] Match match() const noexcept;
  /// One sentence: why this kernel was chosen.
  [[nodiscard]] std::string_view match_reason() const noexcept;
  /// "" where no result has elements: there is no kernel; likewise the configuration.
  [[nodiscard]] std::string_view template_name() const noexcept;
  /// Canonical text of the configuration, e.g. "stages=3 tile_k=32 tile_m=128 tile_n=256".
  [[nodiscard]] std::string_view config() const noexcept;
  /// Device memory that each launch needs besides the operands; the library owns it per stream.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;

 protected:
  explicit AnyKernel(const detail::KernelEntry* entry) : entry_(entry) {}
  const detail::KernelEntry* entry_;
};

/// A loaded kernel for one Gemm, safe to launch from several threads at once.
class KILN_API Kernel : public AnyKernel {
 public:
  /// Enqueues the computation on `stream`, which belongs to the library's device. Neither locks nor
  /// allocates, except for the first launch on a stream of a kernel with workspace_bytes(): make it
  /// before the stream is captured into a graph, replay that graph on the same stream, and destroy
  /// no stream before such launches have ended. With a workspace of the caller's none of that is
  /// needed, but no two launches (or replays) that use it may overlap.
  /// Where m or n is 0 it does nothing, not even on the stream. Where k is 0 a kernel writes
  /// D = beta * C, whatever alpha is.
  /// Throws Error(usage) if an operand breaks a promise of the problem (null, rows less aligned
  /// than its alignment and leading dimension say, a workspace less aligned than
  /// kCallerWorkspaceAlignment, beta where reads_c is false) or if alpha or beta is not a value of
  /// the accumulator's type (1e300 for f32, 0.5 for s32); Error(device) if CUDA refuses the launch,
  /// or a kernel faults on the emulated device.
  void launch(Stream stream, const GemmOperands& operands) const;

 private:
  friend class detail::GemmKernels;
  Kernel(const detail::KernelEntry* entry, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
         std::int64_t ldd)
      : AnyKernel(entry), lda_(lda), ldb_(ldb), ldc_(ldc), ldd_(ldd) {}
  std::int64_t lda_, ldb_, ldc_, ldd_;
};

/// A loaded kernel for one OperationProblem, safe to launch from several threads at once.
///
///     kiln::OperationKernel softmax = library.get(problem);
///     softmax.launch(stream, {.operands = {x, y}});                      // scale: as declared
///     softmax.launch(stream, {.operands = {x, y}, .scalars = {0.125}});
///
/// Or with positions found by name, once:
///
///     const std::size_t x = softmax.operand_index("x"), y = softmax.operand_index("y");
///     kiln::Arguments arguments = softmax.arguments();
///     arguments.scalars[softmax.scalar_index("scale")] = 0.125;
///     for (...) {
///       arguments.operands[x] = ...;
///       arguments.operands[y] = ...;
///       softmax.launch(stream, arguments);
///     }
class KILN_API OperationKernel : public AnyKernel {
 public:
  /// Enqueues the computation on `stream`, which belongs to the library's device. Where no operand
  /// that is written has elements it does nothing, not even on the stream.
  /// Neither locks nor allocates, except for the first launch on a stream of a kernel with
  /// workspace_bytes() to which the caller gives none: make it before the stream is captured into a
  /// graph, replay that graph on the same stream, and destroy no stream before such launches have
  /// ended. With a workspace of the caller's none of that is needed, but no two launches (or
  /// replays) that use it may overlap.
  /// Throws Error(usage) for another number of operands than the operation has, or more scalars;
  /// for an operand with elements that is null or not a multiple of kOperandAlignment bytes (or of
  /// its `align`); for a workspace that is not one of kCallerWorkspaceAlignment; and for a scalar
  /// that is not a value of its type (1e300 for f32, 0.5 for s32, -1 for u64). Error(device) if
  /// CUDA refuses the launch, or a kernel faults on the emulated device.
  void launch(Stream stream, const Arguments& arguments) const;

  /// The position of an operand or scalar, in the order of the declaration. Throws Error(usage) for
  /// a name that the operation does not have.
  [[nodiscard]] std::size_t operand_index(std::string_view name) const;
  [[nodiscard]] std::size_t scalar_index(std::string_view name) const;
  [[nodiscard]] std::size_t operand_count() const noexcept;
  [[nodiscard]] std::size_t scalar_count() const noexcept;
  /// Bytes of device memory that an operand takes: 0 where it is left out or has no elements.
  /// Throws Error(usage) for a position that the operation does not have.
  [[nodiscard]] std::size_t operand_bytes(std::size_t index) const;
  /// A place for every operand, null, and every scalar with the value of the declaration.
  [[nodiscard]] Arguments arguments() const;

 private:
  friend class detail::OperationKernels;
  explicit OperationKernel(const detail::KernelEntry* entry) : AnyKernel(entry) {}
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

  /// The same for an operation that a file of the template path declares: LibraryOptions names it,
  /// since nothing but products is built in. Where no operand that is written has elements nothing
  /// can be tuned, and the match is `exact`. The first request takes what it takes for a Gemm; a
  /// later one, whatever the order of its fields, neither locks nor allocates but compares names,
  /// so keep the kernel where a hundred nanoseconds count. Throws Error(usage) for an operation
  /// that is not declared, for sizes, types or traits that are missing, unknown or out of the
  /// declared range; Error(not_found) if no template of the path computes it, or the mode requires
  /// a tuned kernel and there is none.
  [[nodiscard]] OperationKernel get(const OperationProblem& problem) const;

  /// Makes get() of all of these fast: queries the database and loads or compiles their kernels, on
  /// as many threads as there are cores. If some cannot be served, the others are still ready, and
  /// the Error of the first in the list is thrown.
  void prepare(const std::vector<Gemm>& problems) const;
  void prepare(const std::vector<OperationProblem>& problems) const;

  /// `bytes` of the device's memory, uninitialised. Thread-safe. Throws Error(device)
  /// when memory is short.
  [[nodiscard]] DeviceMemory allocate(std::size_t bytes) const;
  /// The same, with a name for what an emulated device says of accesses outside: "operand x".
  [[nodiscard]] DeviceMemory allocate(std::size_t bytes, const std::string& name) const;
  /// Waits for everything that this process launched on the device, whatever the stream. Throws
  /// Error(device) if a kernel faulted.
  void synchronize() const;

  /// "NVIDIA H200, sm_90a, 132 SMs", "emulated NVIDIA H200, ...".
  [[nodiscard]] std::string device_description() const;
  /// Whether kernels run on this machine's CPU instead of a GPU: results are right, but execution
  /// is slow, and how long it takes means nothing.
  [[nodiscard]] bool is_emulated() const noexcept;
  [[nodiscard]] LibraryCounters counters() const noexcept;

  /// One that was moved from has no device: calls throw Error(usage), and what is noexcept says
  /// that there is nothing.
  Library(Library&&) noexcept;
  Library& operator=(Library&&) noexcept;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

 private:
  friend class detail::LibraryState;
  explicit Library(std::unique_ptr<detail::LibraryState> state);
  [[nodiscard]] detail::LibraryState& state() const;
  std::unique_ptr<detail::LibraryState> state_;
};

}  // namespace kiln
