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

/// A CUDA stream. A `cudaStream_t` or `CUstream` converts to Stream implicitly. A null Stream is
/// CUDA's legacy default stream. An emulated device has no streams: launch() ignores the stream,
/// and returns when the kernel has ended.
using Stream = void*;

/// An operand of an epilogue expression. `data` is the address of the operand in device memory.
/// For a matrix operand such as x[m,n], `ld` is the leading dimension in elements. If `ld` is 0,
/// the leading dimension is n. Kernels read an operand element by element, so `data` needs only the
/// alignment of the element type. If the expression contains amax(x, peak), kernels also write to
/// the operand `peak`. `peak` must not overlap another operand.
struct EpilogueOperand {
  const void* data = nullptr;
  std::int64_t ld = 0;
};

/// The operands of one launch. All addresses are in device memory, from cudaMalloc or DeviceMemory.
/// Kernels read `c` only if beta is not zero or the epilogue contains `c`. `d` may equal `c` (in
/// place) if C and D have the same element type and leading dimension. Any other overlap of D with
/// an operand gives undefined results. A launch ignores the address of an operand that has no
/// elements. The address may then be null. If k is 0, A and B have no elements. If m or n is 0, no
/// operand has elements.
struct GemmOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  double alpha = 1.0;
  double beta = 0.0;
  /// The operands of the epilogue, in the order of their first appearance in the expression.
  std::array<EpilogueOperand, kMostEpilogueOperands> epilogue{};
  /// A workspace that the caller allocated: Kernel::workspace_bytes() bytes of device memory,
  /// aligned to kCallerWorkspaceAlignment. No other launch may use the workspace at the same time.
  /// If this pointer is null, the launch uses the library's workspace for the stream.
  void* workspace = nullptr;
};

/// Options of Library::open(). Each field has a default. You can also set some options with an
/// environment variable. If a field is empty, Library::open() uses the value of the field's
/// variable. If the variable is not set either, Library::open() uses the default.
struct LibraryOptions {
  /// The path of the tuning database. Variable: KILN_DB. Default: $XDG_DATA_HOME/kiln/tuning.db.
  std::string database;
  /// The path of the store of compiled kernels. Default: $XDG_CACHE_HOME/kiln/cubins.db.
  std::string cubin_store;
  /// Folders that contain your templates and operations. Variable: KILN_TEMPLATE_PATH.
  std::vector<std::string> template_path;
  /// Folders that contain headers of your templates.
  std::vector<std::string> include;
  /// The folder of CUDA's headers, such as cuda_fp16.h. Variable: KILN_CUDA_INCLUDE. By default,
  /// the library searches near the NVRTC library, then in installed CUDA toolkits.
  std::string cuda_include;
  /// The device, for example "cuda:0" or "emulated:h200". Variable: KILN_DEVICE. Default: "cuda:0".
  std::string device;
  /// How get() chooses a kernel. Variable: KILN_MODE. Default: Mode::use.
  std::optional<Mode> mode;
  /// What makes a kernel the best: "time", "energy", "energy_delay" (energy times time), or an
  /// expression such as "energy_j * time_ns * time_ns". Each is smaller for a better kernel; the
  /// flag `--objective` of `kiln tune` has the names for expressions. If no stored result of the
  /// problem has an energy, the library uses the fastest kernel, and match() is
  /// Match::other_objective. Variable: KILN_OBJECTIVE. Default: "time".
  std::string objective;
  /// What the library prints to stderr: "none" (nothing), "warning" (every warning) or "info"
  /// (every warning, and the chosen kernel for each problem). Variable: KILN_LOG. By default, each
  /// process prints only the first warning of each kind. If you set on_warning, this function gets
  /// every warning, and the library prints no warnings.
  std::string log;
  /// The program that Mode::tune_on_miss runs. By default, the library looks for `kiln` in its own
  /// installation, then next to the running program, then on PATH.
  std::string tuner_program;
  /// The library calls this function with the text of a warning, once for each cause. Causes of
  /// warnings are, for example:
  /// - the library cannot use a database;
  /// - the database that you named does not exist;
  /// - a kernel could not run, so the library chose another kernel;
  /// - the program requests a kernel for a kind of problem that was never tuned;
  /// - the library starts to tune a problem, or tuning failed.
  /// The text is safe to print, because the library escapes control characters in it. The library
  /// never calls the function from two threads at the same time. prepare() may call the function
  /// from a thread that the library started. The function must not call the library, because the
  /// library holds a lock during the call. If you set no function, `log` decides which warnings the
  /// library prints to stderr.
  std::function<void(std::string_view)> on_warning;
};

/// What the library has done since Library::open().
struct LibraryCounters {
  /// The number of compilations with NVRTC.
  std::uint64_t compiles = 0;
  /// The number of kernels that the library loaded from the store of compiled kernels.
  std::uint64_t cubin_hits = 0;
  /// The number of times that the library queried the tuning database.
  std::uint64_t database_reads = 0;
};

namespace detail {
struct KernelEntry;
class GemmKernels;
class LibraryState;
class OperationKernels;
}  // namespace detail

/// The description of a loaded kernel. AnyKernel is the base class of Kernel and OperationKernel.
/// Objects of these classes are small, so copy them freely. Any thread may use a kernel object. A
/// kernel object is valid as long as its Library exists.
class KILN_API AnyKernel {
 public:
  [[nodiscard]] Match match() const noexcept;
  /// One sentence that says why the library chose this kernel.
  [[nodiscard]] std::string_view match_reason() const noexcept;
  /// The name of the template. If no output has elements, the library loads no kernel, and
  /// template_name() and config() are empty.
  [[nodiscard]] std::string_view template_name() const noexcept;
  /// The canonical text of the configuration, e.g. "stages=3 tile_k=32 tile_m=128 tile_n=256".
  [[nodiscard]] std::string_view config() const noexcept;
  /// The size in bytes of the workspace of a launch. A workspace is device memory that a launch
  /// needs in addition to the operands. The library keeps one workspace per stream.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;

 protected:
  explicit AnyKernel(const detail::KernelEntry* entry) : entry_(entry) {}
  const detail::KernelEntry* entry_;
};

/// A loaded kernel for one Gemm, safe to launch from several threads at once.
class KILN_API Kernel : public AnyKernel {
 public:
  /// Enqueues the computation on `stream`, which must belong to the library's device. If m or n is
  /// 0, launch() enqueues nothing. If k is 0, the product A * B is zero. Without an epilogue, the
  /// kernel then writes D = beta * C and ignores alpha.
  ///
  /// A launch neither locks nor allocates, with one exception. If workspace_bytes() is not 0 and
  /// the caller passes no workspace, the first launch on a stream allocates the library's workspace
  /// for this stream. Three rules then apply:
  /// - launch the kernel once on a stream before you capture this stream into a graph;
  /// - replay the graph only on the stream from which you captured it;
  /// - do not destroy a stream before its launches have ended.
  ///
  /// If the caller passes a workspace, the three rules do not apply. However, two launches or
  /// replays with the same workspace must not run at the same time.
  ///
  /// Throws Error(usage) in these cases:
  /// - an operand has elements, but its address is null;
  /// - an operand's address is not a multiple of the problem's alignment for this operand
  ///   (`alignment_a` to `alignment_d`). The rule is weaker if the distance between rows is not a
  ///   multiple of this alignment. The address must then be a multiple of the largest power of two
  ///   that divides the distance. For example, if rows are 24 bytes apart, the address must be a
  ///   multiple of 8 bytes;
  /// - the workspace is not aligned to kCallerWorkspaceAlignment;
  /// - beta is not 0, but the problem's reads_c is false;
  /// - the address of an epilogue operand is null or is not aligned to the operand's element size;
  /// - an epilogue operand is a matrix, but its leading dimension is too small. It must be 0, or at
  ///   least n;
  /// - an epilogue operand is not a matrix, but its leading dimension is not 0;
  /// - the expression of the epilogue does not use alpha, but the caller passes an alpha other
  ///   than 1;
  /// - the expression of the epilogue does not use beta, but the caller passes a beta other than 0;
  /// - the accumulator's type cannot hold alpha or beta. For example, f32 cannot hold 1e300,
  ///   and s32 cannot hold 0.5.
  /// Throws Error(device) if CUDA refuses the launch, or if a kernel faults on the emulated device.
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
///     softmax.launch(stream, {.operands = {x, y}});                      // default scale
///     softmax.launch(stream, {.operands = {x, y}, .scalars = {0.125}});
///
/// If you do not know the order of operands and scalars, look up their positions once, by name:
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
  /// Enqueues the computation on `stream`, which must belong to the library's device. If every
  /// operand that the kernel writes is empty, launch() enqueues nothing.
  ///
  /// A launch neither locks nor allocates, with one exception. If workspace_bytes() is not 0 and
  /// the caller passes no workspace, the first launch on a stream allocates the library's workspace
  /// for this stream. Three rules then apply:
  /// - launch the kernel once on a stream before you capture this stream into a graph;
  /// - replay the graph only on the stream from which you captured it;
  /// - do not destroy a stream before its launches have ended.
  ///
  /// If the caller passes a workspace, the three rules do not apply. However, two launches or
  /// replays with the same workspace must not run at the same time.
  ///
  /// Throws Error(usage) in these cases:
  /// - the number of operands is not the number that the operation declares;
  /// - `scalars` has more values than the operation has scalars;
  /// - an operand has elements, but its address is null;
  /// - an operand has elements, but its address is not a multiple of the operand's alignment. The
  ///   declaration states the alignment with `align`. The default is kOperandAlignment;
  /// - the workspace is not aligned to kCallerWorkspaceAlignment;
  /// - a scalar's declared type cannot hold its value. For example, f32 cannot hold 1e300, and u64
  ///   cannot hold -1.
  /// Throws Error(device) if CUDA refuses the launch, or if a kernel faults on the emulated device.
  void launch(Stream stream, const Arguments& arguments) const;

  /// The position of the operand `name` in Arguments::operands. Throws Error(usage) if the
  /// operation has no operand of this name.
  [[nodiscard]] std::size_t operand_index(std::string_view name) const;
  /// The position of the scalar `name` in Arguments::scalars. Throws Error(usage) if the operation
  /// has no scalar of this name.
  [[nodiscard]] std::size_t scalar_index(std::string_view name) const;
  [[nodiscard]] std::size_t operand_count() const noexcept;
  [[nodiscard]] std::size_t scalar_count() const noexcept;
  /// The size of an operand in device memory, in bytes. The result is 0 if the operand is absent
  /// from the problem or has no elements. Throws Error(usage) if `index` is not less than
  /// operand_count().
  [[nodiscard]] std::size_t operand_bytes(std::size_t index) const;
  /// Returns arguments in which every operand is null and every scalar has its declared default.
  [[nodiscard]] Arguments arguments() const;

 private:
  friend class detail::OperationKernels;
  explicit OperationKernel(const detail::KernelEntry* entry) : AnyKernel(entry) {}
};

/// The entry point to tuned kernels. Several threads may use one Library at the same time. A
/// process should open only one Library for each device.
///
/// After fork(), the child process must not use its parent's Library, kernels or memory. In the
/// child, calls that only describe such an object, such as match_reason(), still work. All other
/// calls on these objects throw Error(usage). Their destructors do nothing. The child may open its
/// own Library. However, do not fork while another thread of the parent opens or closes a Library,
/// or requests a new kernel. Otherwise, Library::open() throws Error(usage) in the child.
class KILN_API Library {
 public:
  /// Opens the device and the database that `options` names. If the database is unusable, the
  /// library gives a warning and continues without a database. Throws Error(device) if there is no
  /// usable GPU. Throws Error(usage) if an option is invalid.
  [[nodiscard]] static Library open(const LibraryOptions& options = {});

  /// Returns the kernel for `problem`. The first request for a problem queries the database, then
  /// loads or compiles the kernel. While one thread compiles a kernel, other threads can get other
  /// kernels. While one thread tunes a problem, other threads can get the kernels of tuned
  /// problems. Later requests for the same problem neither lock nor allocate.
  ///
  /// If m, n or k is 0, there is nothing to tune. get() then skips the database in every mode, even
  /// in Mode::require, and the kernel's match() is Match::exact. If only k is 0, get() loads the
  /// simplest kernel for the problem's types. If m or n is 0, get() loads no kernel.
  ///
  /// Throws Error(usage) for an invalid problem. Throws Error(not_found) if no template can compute
  /// the problem, or if the mode requires a tuned kernel and none exists.
  [[nodiscard]] Kernel get(const Gemm& problem) const;

  /// Returns the kernel for a problem of an operation that you declared. A file in the template
  /// path must contain the declaration. Set this path with LibraryOptions::template_path or
  /// KILN_TEMPLATE_PATH. Gemm is the only built-in operation.
  ///
  /// The first request for a problem queries the database, then loads or compiles the kernel. Later
  /// requests for the same problem neither lock nor allocate. A problem may list its sizes, types
  /// and traits in any order. Each request takes a few hundred nanoseconds, because get() compares
  /// names. Therefore call get() before a hot loop, not in the loop.
  ///
  /// If no output has elements, there is nothing to tune, and the kernel's match() is Match::exact.
  ///
  /// Throws Error(usage) if the operation is not declared, or if a size, type or trait is missing,
  /// unknown or outside its declared range. Throws Error(not_found) if no template in the path can
  /// compute the problem, or if the mode requires a tuned kernel and none exists.
  [[nodiscard]] OperationKernel get(const OperationProblem& problem) const;

  /// Prepares the kernels of all `problems`, so that later calls of get() are fast. prepare() uses
  /// at most one thread per core. These threads query the database, and load or compile the
  /// kernels. If prepare() cannot prepare the kernel of a problem, it still tries all other
  /// problems. At the end, it throws the error of this problem. If several problems failed,
  /// prepare() throws the error of the problem that is first in `problems`.
  void prepare(const std::vector<Gemm>& problems) const;
  void prepare(const std::vector<OperationProblem>& problems) const;

  /// Allocates `bytes` bytes of uninitialised device memory. Thread-safe. Throws Error(device) if
  /// the device has too little free memory.
  [[nodiscard]] DeviceMemory allocate(std::size_t bytes) const;
  /// Like allocate(bytes), but also gives the memory a name, such as "operand x". When an emulated
  /// device reports an access outside the memory, the report contains the name.
  [[nodiscard]] DeviceMemory allocate(std::size_t bytes, const std::string& name) const;
  /// Waits for all launches of this process on the device, on every stream. Throws Error(device) if
  /// a kernel faulted.
  void synchronize() const;

  /// Describes the device in one line, for example "NVIDIA H200, sm_90a, 132 SMs" or "emulated
  /// NVIDIA H200, ...".
  [[nodiscard]] std::string device_description() const;
  /// Whether kernels run on this machine's CPU instead of a GPU. On the CPU, results are correct,
  /// but kernels run slowly. Their run times say nothing about a GPU.
  [[nodiscard]] bool is_emulated() const noexcept;
  [[nodiscard]] LibraryCounters counters() const noexcept;

  /// A moved-from Library has no device. Its noexcept member functions return empty values. All its
  /// other member functions throw Error(usage).
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
