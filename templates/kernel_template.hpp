// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "templates/device_limits.hpp"
#include "templates/operation/problem.hpp"
#include "templates/space/param_space.hpp"
#include "templates/template_parts.hpp"

namespace kiln {

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
/// Names in expressions: tunables and lets in any order, sizes (m n k), traits (trans_a ...),
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

  [[nodiscard]] const std::string& name() const { return parts_.about.name; }
  [[nodiscard]] const std::string& purpose() const { return parts_.about.purpose; }
  [[nodiscard]] const std::string& operation() const { return parts_.about.operation; }
  [[nodiscard]] const std::string& file() const { return parts_.about.file; }
  [[nodiscard]] const std::string& source() const { return parts_.about.source; }
  /// Folders that it names for headers, relative to its own.
  [[nodiscard]] const std::vector<IncludeLine>& includes() const { return parts_.about.includes; }

  /// What is compiled in. Without a type its fields are macros.
  [[nodiscard]] const StructSpec& config_struct() const { return parts_.config_struct; }
  /// What is known only at launch.
  [[nodiscard]] const StructSpec& launch_struct() const { return parts_.launch_struct; }
  /// What it has in place of a config struct, by name: tunables and lets that its text finds
  /// defined.
  [[nodiscard]] std::vector<std::string> macros() const;
  /// Whether the tunable or derived value is known only at launch, and so not compiled in.
  [[nodiscard]] bool is_at_launch(std::string_view name) const;
  /// A configuration without what is known only at launch: those that differ in nothing else have
  /// the same text, and so the same cubin.
  [[nodiscard]] Config compiled_part(const Config& config) const;

  [[nodiscard]] const std::vector<TypeRow>& type_rows() const { return parts_.support.type_rows; }
  /// Whether its kernels finish D as a problem's expression says.
  [[nodiscard]] bool takes_epilogue() const { return parts_.support.takes_epilogue; }
  [[nodiscard]] const std::string& arch_text() const;
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

  [[nodiscard]] const SpaceSpec& space_spec() const { return parts_.space; }
  /// The configurations for that problem and device. Precondition: supported.
  [[nodiscard]] ParamSpace space(const Problem& problem, const DeviceLimits& limits) const;
  /// Values of the names that no configuration changes, by slot; 0 for all others.
  [[nodiscard]] std::vector<std::int64_t> fixed_values(const Problem& problem,
                                                       const DeviceLimits& limits) const;

  // LaunchPlanner evaluates launches, workspace and costs for a candidate.
  [[nodiscard]] const RunSpec& run_spec() const { return parts_.run; }
  [[nodiscard]] const std::vector<LaunchSpec>& launches() const { return parts_.run.launches; }
  /// Bytes of device memory; nothing: it needs none.
  [[nodiscard]] const std::optional<Expression>& workspace() const { return parts_.run.workspace; }
  [[nodiscard]] const std::vector<CostLine>& cost_lines() const { return parts_.run.costs; }
  /// "FILE:LINE: launch of KERNEL", for errors.
  [[nodiscard]] std::string launch_place(std::size_t index) const;
  /// Arrays in constant memory that are filled before the launches of every run.
  [[nodiscard]] const std::vector<ConstantSpec>& constants() const { return parts_.run.constants; }
  /// What a problem's operands put there; without those that have no elements.
  [[nodiscard]] std::vector<ConstantFill> constant_fills(const Problem& problem) const;

 private:
  explicit KernelTemplate(TemplateParts parts) : parts_(std::move(parts)) {}

  TemplateParts parts_;
};

}  // namespace kiln
