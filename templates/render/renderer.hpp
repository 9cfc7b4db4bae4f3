// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "templates/catalog.hpp"
#include "templates/compile_options.hpp"

namespace kiln {

/// The one self-contained `.cu` text of a candidate. Deterministic: no paths, no dates.
struct RenderedKernel {
  std::string template_name;
  std::string template_digest;
  Config config;
  std::string text;
  std::string digest;  ///< of `text`
  /// One per launch: `product_tiled<TiledConfig{.tile_m = 128, ...}, __half, ...>`, or what the
  /// launch says: `row_sum<__half, 256>`, `row_sum`.
  std::vector<std::string> name_expressions;
  CompileOptions options;  ///< that the text has to be compiled with; `text` names them
};

/// Assembles provenance header, CUDA includes, the macros of a template without a config struct,
/// project headers inlined with #line, and the template. Throws Error(usage) if `config` is invalid
/// for the problem and device (saying which requirement it violates), Error(template_) for a header
/// that is not found or an include cycle.
[[nodiscard]] RenderedKernel render(const Catalog& catalog, const KernelTemplate& kernel_template,
                                    const Config& config, const Problem& problem,
                                    const DeviceLimits& limits);

/// The text of an embedded file that is not a template, for one problem: with its element types
/// and its epilogue, as a rendered kernel has them. Messages call it `shown`, or else `path`.
[[nodiscard]] std::string render_support(const HeaderSearch& headers, std::string_view path,
                                         std::string_view source, const Problem& problem,
                                         std::string_view shown = "");

/// Inlines the project headers of one embedded file that is not a template (the support kernels).
[[nodiscard]] std::string inline_headers(const HeaderSearch& headers, std::string_view path,
                                         std::string_view source);

/// What `kiln export` writes: the rendered text, an explicit instantiation that plain nvcc
/// compiles, and a comment with the launch geometry for `problem` and the nvcc command.
[[nodiscard]] std::string export_text(const RenderedKernel& rendered,
                                      const KernelTemplate& kernel_template, const Problem& problem,
                                      const DeviceLimits& limits);

/// The C++ spelling of an element type in device code: f16 -> "__half".
[[nodiscard]] std::string_view device_type_name(DType type);

}  // namespace kiln
