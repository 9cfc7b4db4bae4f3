// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Operands whose data come from files.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "templates/digest.hpp"
#include "tests/support/toy_templates.hpp"
#include "tests/support/typed_kernel.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/tuner/declared_verifier_fixture.hpp"
#include "tests/unit/tuner/planted_operations.hpp"
#include "tuner/data_file.hpp"
#include "tuner/npy.hpp"
#include "tuner/policy.hpp"

namespace kiln::testing {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// As numpy.save writes it.
std::string npy_file(const std::string& header, const std::string& data, int major = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  std::string padded = header;
  const std::size_t begin = major == 1 ? 10 : 12;
  while ((begin + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  for (std::size_t i = 0; i < begin - 8; ++i) {
    text += static_cast<char>(padded.size() >> (8 * i) & 0xff);
  }
  return text + padded + data;
}

std::string npy_header(const std::string& type, const std::string& shape,
                       const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

/// y = x of three columns, whose rows lie apart.
constexpr std::string_view kCopied = R"(//@ operation  copied
//@ purpose    A copy
//@ size       rows 1..4096
//@ size       ldx 3..4096 = 3
//@ type       x f32
//@ type       y f32
//@ trait      with_z 0 1
//@ type       z s32
//@ operand    x in: rows, 3; ld ldx
//@ operand    z in: rows; when with_z
//@ operand    y out: rows, 3
//@ right      y exact
//@ ragged     rows=5 ldx=4
//@ flops      rows
//@ reference  copied_reference
//@   grid     1
//@   block    1
//@   args     x, y, rows, ldx

__global__ void copied_reference(const float* x, float* y, int rows, int ldx);
)";

class DataFiles : public DeclaredVerifierTest {
 protected:
  DataFiles() {
    const auto copy = [](const float* x, float* y, int rows, int ldx, float most) {
      for (int i = 0; i < 3 * rows; ++i) {
        const float value = x[i / 3 * ldx + i % 3];
        y[i] = value < most ? value : most;
      }
    };
    register_typed<const float*, float*, int, int>(
        device_, "copied_reference",
        [copy](const FakeLaunch&, const float* x, float* y, int rows, int ldx) {
          copy(x, y, rows, ldx, 1e30F);
        });
    for (const auto& [name, most] : {std::pair{"copied_right", 1e30F}, {"copied_small", 50.0F}}) {
      register_typed<const float*, const int*, float*, int, int>(
          device_, name,
          [copy, most = most](const FakeLaunch&, const float* x, const int*, float* y, int rows,
                              int ldx) { copy(x, y, rows, ldx, most); });
    }
  }

  std::string write(const std::string& name, const std::string& bytes) {
    const auto path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  static ProblemCase case_of(std::int64_t rows, std::int64_t ldx = 3, std::int64_t with_z = 0) {
    const Operation& operation = planted_operation(kCopied);
    return declared_case(
        operation, problem_of(operation, {{"rows", rows}, {"ldx", ldx}}, {{"with_z", with_z}}), {});
  }
  static ProblemCase with_file(const std::string& path, std::int64_t rows = 2,
                               std::int64_t ldx = 3) {
    ProblemCase one = case_of(rows, ldx);
    attach_data(planted_operation(kCopied), {{"x", path}}, one);
    return one;
  }
  std::string refused(const std::string& path) {
    return error_text(ErrorKind::usage, [&] { (void)with_file(path); });
  }
  std::string refused_npy(const std::string& header, const std::string& data, int major = 1) {
    return refused(write("broken.npy", npy_file(header, data, major)));
  }

  const std::vector<float> numbers_{1, 2, 3, 4, 5, 99};
  const std::string data_ = bytes_of(numbers_);
  TempFolder folder_;
};

TEST_F(DataFiles, OfEveryFormAreTheSameData) {
  const std::string digest = digest_hex(data_);
  const std::string header = npy_header("<f4", "(2, 3)");
  for (const int major : {1, 2, 3}) {
    const ProblemCase one = with_file(write("x.npy", npy_file(header, data_, major)));
    EXPECT_EQ(one.operands[0].data.digest, digest) << major;
    EXPECT_EQ(one.operands[0].data.offset % 64, 0) << major;
  }
  const ProblemCase raw = with_file(write("x.bin", data_));
  EXPECT_EQ(raw.operands[0].data.digest, digest);
  EXPECT_EQ(raw.operands[0].data.offset, 0);
  EXPECT_EQ(data_text(raw), "x=" + digest);
  EXPECT_EQ(data_text(case_of(2)), "");
  EXPECT_TRUE(std::filesystem::path(raw.operands[0].data.path).is_absolute());
}

TEST_F(DataFiles, AreWhatTheTunedSizeIsVerifiedOn) {
  for (const std::int64_t ldx : {3, 5}) {
    prepare(with_file(write("x.bin", data_), 2, ldx));
    expect_right("copied_right");
    const Verification found = judge("copied_small");
    EXPECT_FALSE(found.passed) << "no generated number is as large";
    EXPECT_THAT(found.evidence,
                HasSubstr(fmt::format(
                    "rows=2 ldx={} (normal data): row 1 column 2: 50, expected 99", ldx)));
    std::vector<float> found_data(6, 0.0F);
    const Matrix& x = verifier_->tuned_operands()[0];
    for (std::size_t row = 0; row < 2; ++row) {
      device_.copy_to_host(&found_data[3 * row], x.data() + row * 4 * static_cast<std::size_t>(ldx),
                           12);
    }
    EXPECT_EQ(found_data, numbers_);
  }
  prepare(case_of(2));
  expect_right("copied_small");
}

TEST_F(DataFiles, ThatChangeAreRefused) {
  const std::string path = write("x.bin", data_);
  const ProblemCase one = with_file(path);
  write("x.bin", bytes_of(std::vector<float>{1, 2, 3, 4, 5, 98}));
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { prepare(one); }),
              AllOf(HasSubstr(path), HasSubstr("the file is not as it was")));
  write("x.bin", data_.substr(4));
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { prepare(one); }),
              HasSubstr("the file is not as it was"));
}

TEST_F(DataFiles, ThatCannotBeReadAreRefused) {
  EXPECT_THAT(refused((folder_.path() / "none.npy").string()),
              AllOf(HasSubstr("none.npy: this file cannot be opened"), HasSubstr("No such file")));
  EXPECT_THAT(refused(folder_.path().string()), HasSubstr("this is no regular file"));
  EXPECT_THAT(refused(write("x.npy", data_)), HasSubstr("this is no .npy file"));
  EXPECT_THAT(refused(write("x.bin", data_.substr(1))),
              HasSubstr("the file has 23 bytes, but the operand x of the problem rows=2 ldx=3 has "
                        "the shape (2, 3), which takes 24 bytes as f32"));
  EXPECT_THAT(refused(write("x.bin", "")), HasSubstr("the file has 0 bytes"));
}

TEST_F(DataFiles, OfOtherTypesAndShapesAreRefused) {
  EXPECT_THAT(refused_npy(npy_header("<f8", "(2, 3)"), data_ + data_),
              AllOf(HasSubstr("the elements have the type <f8, but the operand x has the type f32"),
                    HasSubstr("array.astype('<f4')")));
  EXPECT_THAT(refused_npy(npy_header(">f4", "(2, 3)"), data_), HasSubstr("big-endian"));
  EXPECT_THAT(refused_npy(npy_header("<f4", "(3, 2)"), data_),
              HasSubstr("the array has the shape (3, 2), but the operand x of the problem rows=2 "
                        "ldx=3 has the shape (2, 3)"));
  EXPECT_THAT(refused_npy(npy_header("<f4", "(6,)"), data_), HasSubstr("the shape (6,), but"));
  EXPECT_THAT(refused_npy(npy_header("<f4", "(2, 3)", "True"), data_), HasSubstr("Fortran order"));
  EXPECT_THAT(
      refused_npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }", data_),
      HasSubstr("the elements are structures"));
}

TEST_F(DataFiles, WithBrokenHeadersAreRefused) {
  const std::string right = npy_header("<f4", "(2, 3)");
  EXPECT_THAT(refused_npy(right, data_, 4), HasSubstr("has the version 4"));
  EXPECT_THAT(refused_npy(right, data_ + "x"),
              HasSubstr("the file has 25 bytes behind its header"));
  EXPECT_THAT(refused_npy(right, data_.substr(1)), HasSubstr("the file has 23 bytes behind"));
  EXPECT_THAT(refused_npy("{'descr': '<f4', 'shape': (2, 3)}", data_), HasSubstr("it lacks"));
  EXPECT_THAT(refused_npy("{'descr': '<f4', 'descr': '<f4'}", data_), HasSubstr("'descr' twice"));
  EXPECT_THAT(refused_npy("{'what': 3}", data_), HasSubstr("unknown key 'what'"));
  for (const char* const broken :
       {"", "{", "{'descr", "{'descr': }", "{'descr': '<f4', 'fortran_order': Maybe}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 6}",
        "{'descr': '<f4' 'fortran_order': False}", "{} {}"}) {
    EXPECT_THAT(refused_npy(broken, data_), HasSubstr("the header of this .npy file is broken"))
        << broken;
  }
  const std::string whole = npy_file(right, data_);
  for (const std::size_t length : {6U, 9U, 40U}) {
    EXPECT_THAT(refused(write("cut.npy", whole.substr(0, length))),
                HasSubstr("the file ends within it"))
        << length;
  }
}

TEST_F(DataFiles, BelongToOperandsThatAreRead) {
  const std::string path = write("x.bin", data_);
  const auto complaint = [&](const std::vector<GivenData>& given, std::int64_t with_z = 0) {
    return error_text(ErrorKind::usage, [&] {
      ProblemCase one = case_of(2, 3, with_z);
      attach_data(planted_operation(kCopied), given, one);
    });
  };
  EXPECT_THAT(complaint({{"xx", path}}), HasSubstr("copied has no operand \"xx\""));
  EXPECT_THAT(complaint({{"y", path}}), HasSubstr("y is an output of copied"));
  EXPECT_THAT(complaint({{"x", path}, {"x", path}}), HasSubstr("two files are given for x"));
  EXPECT_THAT(complaint({{"z", path}}), HasSubstr("the operand z does not exist in this problem"));
  EXPECT_THAT(complaint({{"z", path}}, 1), HasSubstr("takes 8 bytes as s32"));
}

TEST_F(DataFiles, MayBeNamedByTheDeclaration) {
  write("x.bin", data_);
  std::string text(kCopied);
  text.replace(text.find("copied\n"), 6, "copied_from_file");
  text.replace(text.find("ld ldx\n"), 6, "ld ldx; fill file x.bin; fill uniform");
  const std::string file = (folder_.path() / "copied.cu").string();
  declare_operation(Operation::parse(file, text));
  const Operation& operation = *find_operation("copied_from_file");
  EXPECT_EQ(operation.operand("x")->file, "x.bin");
  EXPECT_EQ(operation.operand("x")->fill.kind, FillSpec::Kind::uniform);
  const auto attached = [&](std::int64_t rows, const std::vector<GivenData>& given) {
    ProblemCase one = declared_case(
        operation, problem_of(operation, {{"rows", rows}, {"ldx", 3}}, {{"with_z", 0}}), {});
    attach_data(operation, given, one);
    return data_text(one);
  };
  EXPECT_EQ(attached(2, {}), "x=" + digest_hex(data_));
  EXPECT_EQ(attached(3, {{"x", ""}}), "");
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)attached(3, {}); }),
              AllOf(HasSubstr("the file has 24 bytes"),
                    HasSubstr("copied.cu:9 names this file; \"--data x=FILE\" gives another one")));
}

TEST(DataPolicies, SayWhichDataTimesAreOf) {
  MeasurementPolicy policy;
  const std::string generated = policy.canonical();
  EXPECT_EQ(data_of_policy(generated), "");
  policy.data = "x=0123";
  EXPECT_EQ(policy.canonical(), generated + " data: x=0123");
  EXPECT_EQ(data_of_policy(policy.canonical()), "x=0123");
}

TEST(NpyTypes, AreThoseOfNumbersInMemory) {
  EXPECT_TRUE(is_type_of("<f2", DType::f16));
  EXPECT_TRUE(is_type_of("|V2", DType::bf16));
  EXPECT_TRUE(is_type_of("<c16", DType::cf64));
  EXPECT_TRUE(is_type_of("|b1", DType::u8));
  EXPECT_TRUE(is_type_of("|i1", DType::s8));
  EXPECT_FALSE(is_type_of("<i4", DType::u32));
  EXPECT_FALSE(is_type_of("", DType::f32));
  EXPECT_EQ(npy_type_of(DType::u8), "|u1");
  EXPECT_EQ(npy_type_of(DType::s64), "<i8");
  EXPECT_EQ(shape_text({}), "()");
}

}  // namespace
}  // namespace kiln::testing
