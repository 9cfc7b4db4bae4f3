// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/candidate_request.hpp"

namespace kiln {

CodeKind code_kind_of(const CompileOptions& options, CodeKind device_code) {
  const bool by_driver = device_code == CodeKind::cubin && options.route == CompileRoute::ptx;
  return by_driver ? CodeKind::driver_ptx : device_code;
}

CompileRequest candidate_request(const RenderedKernel& rendered, const std::string& arch,
                                 CodeKind device_code) {
  CompileRequest request;
  request.source = rendered.text;
  request.source_name = rendered.template_name + ".cu";
  request.source_digest = rendered.digest;
  request.name_expressions = rendered.name_expressions;
  request.arch = arch;
  request.options = rendered.options.flags;
  request.code = code_kind_of(rendered.options, device_code);
  return request;
}

}  // namespace kiln
