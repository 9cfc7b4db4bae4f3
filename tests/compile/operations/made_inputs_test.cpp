// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that read what fill kernels have made (see made_inputs/), and mutants of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/error.hpp"
#include "tests/compile/operations/folder_bench.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MadeInputs : public FolderBench {
 protected:
  MadeInputs() : FolderBench("made_inputs") {}
};

TEST_F(MadeInputs, SlopesOfAPolygonComeThroughConstantMemory) {
  const Sizes sizes{{"points", 300}, {"vertices", 50}};
  examine("point_in_polygon", "polygon_tiles", sizes);
  EXPECT_THAT(complaint_of("point_in_polygon", "polygon_tiles", sizes, "slopes[i]",
                           "slopes[i > 0 ? i - 1 : 0]"),
              HasSubstr("wrong_result: points=77 vertices=40"));
}

TEST_F(MadeInputs, AStructureOfArraysHasTheNumbersOfTheArrayOfStructures) {
  const Sizes bodies{{"bodies", 100}};
  examine("attraction", "attraction_blocks", bodies);
  EXPECT_THAT(
      complaint_of("attraction", "attraction_blocks", bodies, "z[i], mass[i]", "y[i], mass[i]"),
      HasSubstr("wrong_result: bodies=45"));
  const Sizes lattice{{"height", 9}, {"width", 40}, {"atoms", 30}};
  examine("potential", "potential_columns", lattice);
  EXPECT_THAT(
      complaint_of("potential", "potential_columns", lattice, "place[atoms + i]", "place[i]"),
      HasSubstr("wrong_result: "));
}

TEST_F(MadeInputs, AFillKernelsMistakeIsItsOwn) {
  const Sizes bodies{{"bodies", 100}};
  const auto refusal = [&](const std::string& from, const std::string& to) {
    return test::error_text(ErrorKind::template_, [&] {
      (void)complaint_of("attraction", "attraction_blocks", bodies, from, to, true);
    });
  };
  EXPECT_THAT(refusal("if (i >= bodies) return;\n  to.x", "to.x"),
              AllOf(HasSubstr("the fill kernel split_bodies does not run for bodies="),
                    HasSubstr("Next: correct this kernel")));
  EXPECT_THAT(
      refusal("to.mass[i] = body[4 * i + 3];", "to.mass[i] = body[4 * i + 3] + clock() % 1000;"),
      HasSubstr("two runs gave different data for mass"));
  EXPECT_THAT(refusal("{x, y, z, mass}, bodies", "{x, y, z, mass}, (float) bodies"),
              HasSubstr("argument 3 of split_bodies"));
}

}  // namespace
}  // namespace kiln::testing
