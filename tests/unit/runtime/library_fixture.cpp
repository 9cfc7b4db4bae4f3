// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runtime/library_fixture.hpp"

#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/judge.hpp"

namespace kiln::testing {

Library LibraryFixture::open() {
  detail::LibraryParts parts;
  auto device = std::make_unique<FakeDevice>(device_options_);
  device_ = device.get();
  parts.device = std::move(device);
  parts.compiler = {
      [this] {
        ++compilers_made_;
        return std::make_unique<FakeCompiler>(decide_, compiler_identity_);
      },
      [](const CompileRequest& request) { return FakeCompiler().options_text(request); }};
  parts.catalog = catalog_;
  parts.database = database_;
  parts.mode = mode_;
  parts.tuner_program = tuner_program_;
  parts.cuda_include = cuda_include_;
  parts.template_path = template_path_;
  parts.cubin_store = folder_.file("cubins.db");
  parts.warnings = std::make_shared<detail::WarningSink>(
      [this](std::string_view text) {
        (text.starts_with("not tuned: ") ? untuned_ : warnings_).emplace_back(text);
      },
      "");
  parts.cubins = std::make_shared<CubinStore>(parts.cubin_store, std::int64_t{1} << 30,
                                              [warnings = parts.warnings](const std::string& text) {
                                                warnings->warn(detail::WarningKind::cubin_store,
                                                               "cubins", text);
                                              });
  return detail::LibraryState::make_library(std::move(parts));
}

Trial LibraryFixture::store_trial(const Gemm& gemm, const std::string& template_name,
                                  const Config& config, double time_ns, const std::string& driver,
                                  Provenance provenance) {
  return store_trial_of(to_problem(gemm), template_name, config, time_ns, driver, provenance);
}

Trial LibraryFixture::store_trial_of(const Problem& problem, const std::string& template_name,
                                     const Config& config, double time_ns,
                                     const std::string& driver, Provenance provenance) {
  Trial trial;
  trial.key = {problem, fake_device_info().device_class, template_name,
               catalog_.digest(template_name), config};
  trial.environment = {driver, "nvrtc 99.0", "cold"};
  trial.provenance = provenance;
  trial.resources = KernelResources{.registers = 64, .occupancy = 0.5};
  trial.verification = Verification{true, 0.1, ""};
  trial.timing = Timing{{time_ns, time_ns, time_ns}, time_ns, 0.001 * time_ns, 1755, 350.0, 45};
  trial.rendered_digest = "0123456789abcdef0123456789abcdef";
  trial.session_id = "fedcba9876543210fedcba9876543210";
  trial.judge_digest = judge_digest(*find_operation(problem.operation));
  TuningStore store = TuningStore::open(database_, OpenMode::read_write);
  trial.id = store.record(trial);
  return trial;
}

Config LibraryFixture::other_config(const std::string& template_name, const Gemm& gemm) {
  const KernelTemplate& kernel_template = Catalog::builtin().at(template_name);
  const ParamSpace space = kernel_template.space(to_problem(gemm), fake_device_info().limits);
  return space.neighbours(space.default_config().value()).at(0);
}

}  // namespace kiln::testing
