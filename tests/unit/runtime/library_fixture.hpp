// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/store/store.hpp"
#include "kiln/library.hpp"
#include "runtime/library/library_state.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln::testing {

/// A library on the fake device with databases in a folder of the test's own.
class LibraryFixture : public ::testing::Test {
 protected:
  /// Opens a library as another process would: everything but the files is new. `device` is the
  /// one most recently opened.
  Library open();
  /// A verified, timed trial for the problem in the user's database, as left by the tuner.
  Trial store_trial(const Gemm& gemm, const std::string& template_name, const Config& config,
                    double time_ns, const std::string& driver = "99.0",
                    Provenance provenance = Provenance::measured);
  Trial store_trial_of(const Problem& problem, const std::string& template_name,
                       const Config& config, double time_ns, const std::string& driver = "99.0",
                       Provenance provenance = Provenance::measured);
  /// A configuration of the template that is not its default.
  static Config other_config(const std::string& template_name, const Gemm& gemm);

  TemporaryFolder folder_;
  std::string database_ = folder_.file("tuning.db");
  Mode mode_ = Mode::use;
  std::string tuner_program_ = "/nonexistent/kiln";
  FakeCompiler::Decide decide_;  ///< the results of compilations
  std::string cuda_include_ = "/the/headers";
  std::string compiler_identity_ = "nvrtc 99.0";
  FakeDeviceOptions device_options_;
  Catalog catalog_ = Catalog::builtin();
  std::vector<std::string> template_path_;  ///< told to the tuner

  FakeDevice* device_ = nullptr;
  int compilers_made_ = 0;
  std::vector<std::string> warnings_;  ///< but that a problem was never tuned
  std::vector<std::string> untuned_;   ///< which are these
};

}  // namespace kiln::testing
