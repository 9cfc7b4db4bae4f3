// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compile/mutants/plain_specimen.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace kiln::testing {

Observed PlainSpecimen::run(const std::string& source) {
  CompileRequest request;
  request.source = source;
  request.plain_names = {kernel_};
  request.arch = "sm_90a";
  request.code = CodeKind::ptx;
  CompileResult compiled = nvrtc()->compile(request);
  Observed observed;
  EXPECT_TRUE(compiled.ok) << compiled.log;
  if (!compiled.ok) return observed;
  Bench bench(std::move(compiled.cubin), {kernel_});
  run_(bench, observed);
  observed.reports = bench.take_reports();
  return observed;
}

}  // namespace kiln::testing
