// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kiln/error.hpp"
#include "kiln/version.hpp"
#include "runtime/device.hpp"
#include "tests/support/fake_device.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

template <class Call>
std::string error_of(ErrorKind kind, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

std::string error_with(const std::vector<std::string>& files) {
  return error_of(ErrorKind::device, [&] { static_cast<void>(open_with_library(files, "h200")); });
}

TEST(EmulatorLibrary, IsLookedForBesideThisProgramAndThenByTheLoader) {
  const auto files = emulator_library_files();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_THAT(files[0], AllOf(HasSubstr(KILN_BINARY_DIR), EndsWith("/" + files[1])));
  EXPECT_THAT(files[1], HasSubstr("libkiln_emulator.so"));
}

TEST(EmulatorLibrary, ThatIsMissingIsNamedWithTheNextStep) {
  EXPECT_THAT(error_with({"/nowhere/libkiln_emulator.so", "libkiln_emulator_of_nobody.so"}),
              AllOf(HasSubstr("device 'emulated:h200' needs the emulated GPU"),
                    HasSubstr("/nowhere/libkiln_emulator.so: cannot open"),
                    HasSubstr("libkiln_emulator_of_nobody.so"), HasSubstr("Next: ")));
}

TEST(EmulatorLibrary, OfAnotherVersionIsNotAsked) {
  EXPECT_THAT(
      error_with({KILN_OLD_EMULATOR}),
      HasSubstr(
          "old_emulator.so: is version 0.0.1, but the library that opens the emulator is version " +
          std::string(KILN_VERSION_STRING)));
}

TEST(EmulatorLibrary, MustBeOne) {
  EXPECT_THAT(error_with({KILN_IMPORTING_LIBRARY}),
              HasSubstr("is not the library of Kiln's emulator"));
}

TEST(EmulatorLibrary, MakesDevicesAndItsErrorsAreOurs) {
  const auto device = open_with_library({KILN_OLD_EMULATOR, KILN_EMULATOR_FILE}, "h200");
  EXPECT_EQ(device->info().spec, "emulated:h200");
  EXPECT_THAT(error_with({KILN_EMULATOR_FILE}), "no error");
  EXPECT_THAT(error_of(ErrorKind::device,
                       [] { static_cast<void>(open_with_library({KILN_EMULATOR_FILE}, "b300")); }),
              HasSubstr("b300"));
}

TEST(OpenDevice, AsksTheFactoryThatAProgramRegistered) {
  static std::string asked;
  register_emulated_devices([](const std::string& model) -> std::unique_ptr<Device> {
    asked = model;
    return std::make_unique<testing::FakeDevice>();
  });
  const auto device = open_device("emulated:some/profile.toml");
  register_emulated_devices(nullptr);
  EXPECT_NE(device, nullptr);
  EXPECT_EQ(asked, "some/profile.toml");
}

}  // namespace
}  // namespace kiln
