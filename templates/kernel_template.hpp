// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "templates/device_limits.hpp"
#include "templates/expression/expression.hpp"
#include "templates/front_matter/allow_spec.hpp"
#include "templates/front_matter/argument_list.hpp"
#include "templates/front_matter/constant_spec.hpp"
#include "templates/front_matter/include_line.hpp"
#include "templates/launch/tensor_map_plan.hpp"
#include "templates/operation/problem.hpp"
#include "templates/space/param_space.hpp"

namespace kiln {

/// One row of element types that a template accepts: for each slot the allowed types, and the slots
/// whose type it may repeat (`d=a|f32` has one of each).
struct TypeRow {
  struct Slot {
    std::string name;
    std::vector<DType> allowed;
    std::vector<std::string> same_as;
  };
  std::vector<Slot> slots;
};

/// A tensor map that a launch gives its kernel:
/// `map slot: extents; box extents; pitch strides; swizzle bytes; promote bytes; workspace offset`.
struct TensorMapSpec {
  std::string slot;                 ///< of the operation's types; an operand, or else in workspace
  std::vector<Expression> extents;  ///< 1 to 5, the innermost first
  std::vector<Expression> box;      ///< as many
  std::vector<Expression> pitch;    ///< in elements, of dimensions 1 and up; 0: leading dimension
  std::optional<Expression> swizzle;    ///< bytes
  std::optional<Expression> promote;    ///< bytes
  std::optional<Expression> workspace;  ///< where in the workspace, in bytes; negative: not there
  int line = 0;                         ///< of the front matter, for errors
};

/// One kernel launch of a template.
struct LaunchSpec {
  std::string kernel;  ///< name of the __global__ function
  /// What the front matter has between angle brackets after the name, if it has those.
  std::optional<std::string> template_arguments;
  std::vector<Expression> grid;       ///< 1 to 3
  std::vector<Expression> block;      ///< 1 to 3
  std::vector<Expression> cluster;    ///< 0 (none) to 3
  std::optional<Expression> smem;     ///< dynamic shared memory, bytes
  std::optional<Expression> when;     ///< whether there is something to launch
  std::optional<Expression> overlap;  ///< whether it may begin while the launch before it ends
  /// Whether all its blocks run at once, so that they can wait for each other.
  std::optional<Expression> cooperative;
  std::vector<TensorMapSpec> maps;    ///< up to kMostTensorMaps
  std::vector<AllowSpec> allowances;  ///< what checks may find in the kernel
  std::vector<ArgumentSpec> args;     ///< of the kernel; none: the operation's one struct
  int line = 0;                       ///< of the front matter, for errors
  int args_line = 0;                  ///< likewise; 0: it has none, and these are the default
};

/// What a block of the main launch does, as the template states it (`cost`), for an estimate of
/// its time before anything is compiled: runtime/model/static_model.hpp says how each is used.
///
///     tensor     multiply-adds on matrix units by mma.sync or WMMA
///     wgmma      by wgmma
///     fp32 fp64  lane operations of that pipe; a multiply-add is one
///     issues     warp instructions of every kind
///     memory     wavefronts of shared memory and passes of the L1 cache, one a clock
///     l2_bytes   bytes it requests from L2
///     dram_bytes   that all blocks read from memory, if more than the operands have
///     waits      round trips to memory during which the block computes nothing
///     stalls     clocks likewise, beside those
///     trips      consecutive round trips, computing meanwhile or not
///     tail       clocks in which it only stores its results, once all of them are computed
///     before     clocks that the launches before it work, in all
///     registers  per thread
inline constexpr std::array<std::string_view, 14> kCostNames{
    "tensor",     "wgmma", "fp32",   "fp64",  "issues", "memory", "l2_bytes",
    "dram_bytes", "waits", "stalls", "trips", "tail",   "before", "registers"};

struct CostLine {
  std::string name;  ///< one of kCostNames, or of a value that lines below mention
  int slot = -1;     ///< of that value; else -1
  Expression value;
  std::string comment;
  std::string file;  ///< where it stands, for errors
  int line = 0;
};

/// A field of the config struct, or a macro where there is none.
struct ConfigField {
  std::string name;
  std::string type = {};  ///< "int", "bool", or the name of an enumeration; a macro has "macro"
  int slot = -1;          ///< of its value
  std::string base = {};  ///< the base of the struct that has it; "": the struct itself
};

/// "Config{{.repack = Repack::none}, 128, 64}": a struct with those values of its fields, in their
/// order, as C++ has it. C++ takes names of fields only where a struct has no bases.
[[nodiscard]] std::string struct_text(std::string_view type, const std::vector<ConfigField>& fields,
                                      std::span<const std::int64_t> values);

/// The fields of a template's struct at launch, in the order of their declaration: what a kernel
/// gets by value after its first argument. Of fixed size, because launches copy it.
inline constexpr std::size_t kMostLaunchValues = 24;
struct LaunchValues {
  std::array<std::int32_t, kMostLaunchValues> items{};
  std::uint32_t count = 0;  ///< 0: the kernel has no such parameter
  friend bool operator==(const LaunchValues&, const LaunchValues&) = default;
};

/// The geometry of one launch for a given problem, ready for the device.
struct LaunchGeometry {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::uint32_t smem_bytes = 0;
  LaunchValues values = {};
  TensorMapPlans maps = {};
  bool overlaps = false;     ///< may begin while the launch before it on the stream ends
  bool cooperative = false;  ///< all blocks run at once, and may wait for each other
  std::uint8_t allowed = 0;  ///< what checks may find: Allowed, put together
  friend bool operator==(const LaunchGeometry&, const LaunchGeometry&) = default;
  /// A launch whose `when` does not hold: nothing to do, and no blocks to do it.
  [[nodiscard]] bool left_out() const { return grid[0] == 0; }
};

/// What plan() works out of launches: what their time depends on, or also what kernels get.
enum class LaunchDetail : std::uint8_t { extents, arguments };

/// All that a candidate's template says of running it.
struct LaunchPlan {
  std::vector<LaunchGeometry> launches;
  std::vector<NamedValue> costs;  ///< of a block of the launch that does the work
  std::int64_t workspace_bytes = 0;
};

/// Blocks of a grid or cluster, threads of a block.
[[nodiscard]] constexpr std::uint64_t count_of(const std::array<std::uint32_t, 3>& extent) {
  return std::uint64_t{extent[0]} * extent[1] * extent[2];
}

/// A file of CUDA C++ with its front matter. docs/reference/templates.md describes the grammar:
///
///     //@ template   product_tiled
///     //@ purpose    One line that says what it is.
///     //@ operation  product
///     //@ arch       sm >= 70                        (an expression over device.*; `sm` is short)
///     //@ types      a=f16|bf16 b=a c=d d=a|f32 acc=f32   (one or more rows)
///     //@ priority   100                            (of the family, unmeasured; optional)
///
///     struct TiledConfig {      //@ config
///       int tile_m;             //@ tune 32 64* 128          // comment; * marks the default
///       int threads;            //@ let (tile_m / 4) * 32    // comment
///     };
///     struct TiledLaunch {      //@ at launch                (optional)
///       int group_m;            //@ tune 1 8*
///     };
///     //@ require    threads <= device.max_threads   // why
///     //@ prefer     m * n < 4194304 || tile_m >= 64 // why
///     //@ usual      tile_m=128 tile_n=32|64  // good for some problems; others have defaults
///     //@ launch     product_tiled
///     //@   grid     ceil_div(n, tile_n), ceil_div(m, tile_m)
///     //@   block    threads
///     //@   cluster  1
///     //@   smem     smem_bytes
///     //@   when     k > 0                           (else it is left out; optional)
///     //@   overlap  1                   (it may begin while the one before ends; optional)
///     //@   cooperative                  (all its blocks run at once; optional)
///     //@   allow    race same_value     // why (what checks find is accepted; optional)
///     //@   map      a: k, m; box 64, tile_m; swizzle 128   (a tensor map; optional, up to 4)
///     //@ workspace  0                               (bytes of device memory; optional)
///     //@ epilogue   yes                          (it takes expressions; optional)
///     //@ cost       fp32 = tile_m * tile_n * k      (of a block, see kCostNames; optional)
///     //@ cost       let turns = ceil_div(k, tile_k)   (for cost and prefer lines below)
///
/// The kernel is `template <TiledConfig C, class A, class B, class CIn, class D, class Acc>` (types
/// in the order of the operation's slots) and takes the operation's one struct (TypedOperation) by
/// value, then one `TiledLaunch` if there is such a struct, then a `const __grid_constant__
/// kiln::TensorMap` for each `map` of its launch. Both structs are at global scope (nvcc's host
/// pass cannot spell a config in a namespace); all their fields are declared by `tune` or `let`.
/// Names in expressions: tunables, lets above, sizes (m n k), traits (trans_a ...),
/// `<slot>_bytes` (a_bytes, acc_bytes), `<slot>_type` compared with `type.f16` and so on, and
/// `device.<limit>` for the numbers of DeviceLimits. The config must not depend on sizes or on what
/// is known only at launch (one cubin serves many shapes): a `let` of it that mentions one is an
/// error; lets at launch, grids, requirements, workspace and costs may.
///
/// A template of an operation with a `reference` can do without a config struct. Its tunables and
/// lets then are macros, and its kernels are named and called as they are:
///
///     //@ tune       block_size = 64 128* 256
///     //@ let        warps = block_size / 32
///     //@ launch     row_sum<x, block_size>   (or row_sum: slots become types, tunables numbers)
///     //@   grid     rows
///     //@   block    block_size
///     //@   args     x, y, rows, cols         (optional: see default_argument_list())
///     //@ constant   d_filter = filter        (a __constant__ array and the operand in it)
///
/// What only guides the search may be in a file beside the template, NAME.hints: `prefer`, `usual`
/// and `cost` lines. They are no part of the template's digest: editing them makes no result stale.
class KernelTemplate {
 public:
  struct Hints {
    std::string file;
    std::string text;
  };
  /// A header that a `use` line names: `file` is for errors.
  struct Fragment {
    std::string file;
    std::string text;
  };
  /// Finds what `#include "header"` would find; nothing if there is no such header.
  using FragmentSearch = std::function<std::optional<Fragment>(const std::string& header)>;
  /// Reads front matter. `file` names the source in errors. Throws Error(template_).
  static KernelTemplate parse(std::string file, std::string source, const Hints& hints = {},
                              const FragmentSearch& fragments = {});

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& purpose() const { return purpose_; }
  [[nodiscard]] const std::string& operation() const { return operation_; }
  /// "" if there is none: config_fields() are macros, then.
  [[nodiscard]] const std::string& config_type() const { return config_type_; }
  /// What it has instead, by name: tunables and lets that its text finds defined.
  [[nodiscard]] std::vector<std::string> macros() const;
  /// The config struct, or the macros, in the order of declaration.
  [[nodiscard]] const std::vector<ConfigField>& fields() const { return fields_; }
  /// The struct at launch; "" if there is none.
  [[nodiscard]] const std::string& launch_type() const { return launch_type_; }
  [[nodiscard]] const std::vector<ConfigField>& launch_fields() const { return launch_fields_; }
  /// Whether the tunable or derived value is known only at launch, and so not compiled in.
  [[nodiscard]] bool is_at_launch(std::string_view name) const;
  /// A configuration without what is known only at launch: those that differ in nothing else have
  /// the same text, and so the same cubin.
  [[nodiscard]] Config compiled_part(const Config& config) const;
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& source() const { return source_; }
  /// Folders that it names for headers, relative to its own.
  [[nodiscard]] const std::vector<IncludeLine>& includes() const { return includes_; }
  [[nodiscard]] const std::vector<Tunable>& tunables() const { return tunables_; }
  [[nodiscard]] const std::vector<DerivedValue>& derived() const { return derived_; }
  [[nodiscard]] const std::vector<Requirement>& requirements() const { return requirements_; }
  [[nodiscard]] const std::vector<Requirement>& preferences() const { return preferences_; }
  /// Complete configurations that are good for some problems each, valid or not for a given one.
  [[nodiscard]] const std::vector<Config>& usual() const { return usual_; }
  [[nodiscard]] const std::vector<TypeRow>& type_rows() const { return type_rows_; }
  [[nodiscard]] const std::vector<LaunchSpec>& launches() const { return launches_; }
  /// "FILE:LINE: launch of KERNEL", for errors.
  [[nodiscard]] std::string launch_place(std::size_t index) const;
  /// Arrays in constant memory that are filled before the launches of every run.
  [[nodiscard]] const std::vector<ConstantSpec>& constants() const { return constants_; }
  /// What a problem's operands put there; without those that have no elements.
  [[nodiscard]] std::vector<ConstantFill> constant_fills(const Problem& problem) const;
  [[nodiscard]] const std::vector<CostLine>& cost_lines() const { return costs_; }
  [[nodiscard]] const std::string& arch_text() const;
  /// Whether its kernels finish D as a problem's expression says.
  [[nodiscard]] bool takes_epilogue() const { return takes_epilogue_; }
  /// The text of `priority`; "0" if there is none.
  [[nodiscard]] const std::string& priority_text() const;
  /// The family's rank as long as nothing has been measured; higher ones come first. A search tries
  /// a family of negative rank only on request, or where no other computes the problem. 0 if the
  /// template says nothing, or nothing that is defined for that problem.
  [[nodiscard]] std::int64_t priority(const Problem& problem, const DeviceLimits& limits) const;

  /// Nothing if the template can compute the problem on that device, else the reason in words
  /// ("product_tiled does not take a=f64", "needs sm >= 80, but this is sm_75").
  [[nodiscard]] std::optional<std::string> why_unsupported(const Problem& problem,
                                                           const DeviceLimits& limits) const;
  /// The configurations for that problem and device. Precondition: supported.
  [[nodiscard]] ParamSpace space(const Problem& problem, const DeviceLimits& limits) const;
  /// Geometry of every launch, with its values at launch; one that is left out keeps its place,
  /// with a grid of zeros. `config` must be valid. Throws Error(template_) if a grid, block or
  /// shared-memory expression is undefined or out of CUDA's range, or all launches are left out.
  [[nodiscard]] std::vector<LaunchGeometry> geometry(const Config& config, const Problem& problem,
                                                     const DeviceLimits& limits) const;
  /// What each launch gives its kernel: its arguments, then the struct at launch if there is one.
  /// Empty for an operation without a reference, whose kernels get its one struct; a launch that is
  /// left out has no parameters. `config` must be valid. Throws Error(template_) if an argument is
  /// undefined or does not fit its type.
  [[nodiscard]] std::vector<ArgumentPlan> argument_plans(const Config& config,
                                                         const Problem& problem,
                                                         const DeviceLimits& limits) const;
  [[nodiscard]] std::int64_t workspace_bytes(const Config& config, const Problem& problem,
                                             const DeviceLimits& limits) const;
  /// Every stated cost of a block of the first launch, in the order of the front matter; empty if
  /// the template states none. `config` must be valid. Throws Error(template_) if one is
  /// undefined or negative.
  [[nodiscard]] std::vector<NamedValue> costs(const Config& config, const Problem& problem,
                                              const DeviceLimits& limits) const;
  /// The three above together, in the time of one; throws what they throw, costs first.
  /// `bindings`: what the space of that problem and device says of the configuration
  /// (ParamSpace::bindings), where it was asked before, which takes half of the time.
  [[nodiscard]] LaunchPlan plan(const Config& config, const Problem& problem,
                                const DeviceLimits& limits,
                                std::span<const std::int64_t> bindings = {},
                                LaunchDetail detail = LaunchDetail::arguments) const;
  /// The fields of the config struct, or the macros, with their values, in the order of
  /// declaration: the part of a configuration that is compiled in.
  /// Throws Error(usage) for an invalid `config`, Error(template_) for a value that is not an int.
  [[nodiscard]] std::vector<NamedValue> config_fields(const Config& config, const Problem& problem,
                                                      const DeviceLimits& limits) const;

 private:
  friend class FrontMatterParser;
  [[nodiscard]] std::vector<std::int64_t> fixed_values(const Problem&, const DeviceLimits&) const;
  [[nodiscard]] std::vector<std::int64_t> bind(const Config&, const Problem&,
                                               const DeviceLimits&) const;
  // What is worked out from the values of all names, bound for a candidate; it is for errors.
  struct Bound;
  [[nodiscard]] std::vector<LaunchGeometry> geometry(const Bound&, const DeviceLimits&,
                                                     LaunchDetail) const;
  [[nodiscard]] std::int64_t workspace_bytes(const Bound&) const;
  [[nodiscard]] std::vector<NamedValue> costs(const Bound&) const;
  [[nodiscard]] std::string launch_text(const LaunchSpec&, const Bound&) const;
  [[nodiscard]] std::int64_t field_value(const ConfigField& field, const Config& config,
                                         std::span<const std::int64_t> values) const;

  std::string name_, purpose_, operation_, config_type_, launch_type_, file_, source_;
  std::vector<IncludeLine> includes_;
  NameTable names_;
  std::optional<Expression> arch_;
  std::vector<TypeRow> type_rows_;
  std::vector<Tunable> tunables_;
  std::vector<DerivedValue> derived_;
  std::vector<ConfigField> fields_;         ///< of the config struct, or macros
  std::vector<ConfigField> launch_fields_;  ///< of the struct at launch
  std::vector<Requirement> requirements_;
  std::vector<Requirement> preferences_;
  std::vector<Config> usual_;
  std::shared_ptr<const SpaceLayout> layout_;  ///< of the above
  std::optional<Expression> priority_;
  std::vector<LaunchSpec> launches_;
  std::vector<ConstantSpec> constants_;
  std::optional<Expression> workspace_;
  std::vector<CostLine> costs_;
  bool takes_epilogue_ = false;
};

}  // namespace kiln
