// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/types.hpp"
#include "templates/expression/expression.hpp"
#include "templates/front_matter/allow_spec.hpp"
#include "templates/front_matter/argument_list.hpp"
#include "templates/front_matter/constant_spec.hpp"
#include "templates/front_matter/include_line.hpp"
#include "templates/space/config.hpp"
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

/// `repeat steps / tile_t; launches 2`: a launch and those below it run again and again.
struct RepeatSpec {
  Expression times;
  int launches = 1;  ///< this one and those that follow it, which take turns
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
  std::optional<RepeatSpec> repeat;   ///< absent: it runs once, or as part of a launch above
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

/// A struct whose fields are tunables and lets, or the macros that stand in for it.
struct StructSpec {
  std::string type;                 ///< "": no struct; the fields, if any, are macros
  std::vector<ConfigField> fields;  ///< in the order of declaration
};

/// What a template is, and where it comes from.
struct TemplateAbout {
  std::string name;
  std::string purpose;
  std::string operation;
  std::string file;
  std::string source;
  std::vector<IncludeLine> includes;
};

/// What a template can compute, and on which devices.
struct SupportSpec {
  std::optional<Expression> arch;  ///< over device_names()
  std::vector<TypeRow> type_rows;
  std::optional<Expression> priority;  ///< over problem_names()
  bool takes_epilogue = false;
};

/// The configurations of a template, for all problems.
struct SpaceSpec {
  NameTable names;  ///< without those of `cost let` lines
  std::vector<Tunable> tunables;
  std::vector<DerivedValue> derived;
  std::vector<Requirement> requirements;
  std::vector<Requirement> preferences;
  /// Complete configurations that are good for some problems each, valid or not for a given one.
  std::vector<Config> usual;
  std::shared_ptr<const SpaceLayout> layout;  ///< of the above
};

/// `scratch partial f32: ceil_div(n, tile)`: an array in device memory that launches share.
struct ScratchSpec {
  std::string name;
  std::string type;  ///< a type slot of the operation, or the name of an element type
  std::vector<Expression> extents;
  int line = 0;  ///< of the front matter, for errors
};

/// What a run of a template does on the device.
struct RunSpec {
  std::vector<LaunchSpec> launches;
  /// Of `repeat_index`, and behind it `repeat_count`, in the values of a launch's expressions; -1
  /// where no launch repeats.
  int repeat_slot = -1;
  std::vector<ScratchSpec> scratch;
  std::vector<ConstantSpec> constants;  ///< filled before the launches of every run
  std::optional<Expression> workspace;  ///< bytes
  std::vector<CostLine> costs;          ///< of a block of the launch that does the work
};

/// A file of CUDA C++ as its front matter describes it.
struct TemplateParts {
  TemplateAbout about;
  SupportSpec support;
  StructSpec config_struct;  ///< compiled in
  StructSpec launch_struct;  ///< known only at launch
  SpaceSpec space;
  RunSpec run;
};

}  // namespace kiln
