// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tuner/planted_kernels.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "templates/kernels/common/gemm_args.cuh"
#include "templates/render/renderer.hpp"
#include "tests/support/host_kernels.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::testing {
namespace {

const GemmArgs& args_of(const FakeLaunch& launch) {
  return *static_cast<const GemmArgs*>(launch.arguments);
}

/// Runs the right kernel with other arguments.
void run_with(const FakeLaunch& launch, const GemmArgs& args) {
  FakeLaunch changed = launch;
  changed.arguments = &args;
  host_gemm(changed);
}

/// A kernel that is right except for its arguments.
template <class Change>
FakeKernel with_arguments(Change change) {
  return [change](const FakeLaunch& launch) {
    GemmArgs args = args_of(launch);
    change(args);
    run_with(launch, args);
  };
}

/// A right kernel that does something else at the end. Outputs are f32 in these tests.
template <class Damage>
FakeKernel with_damage(Damage damage) {
  return [damage](const FakeLaunch& launch) {
    host_gemm(launch);
    damage(args_of(launch), launch);
  };
}

float* d_of(const GemmArgs& args) {
  return static_cast<float*>(args.d);
}

void register_wrong_values(FakeDevice& device) {
  device.register_kernel("skips_last_row", with_arguments([](GemmArgs& args) { args.m -= 1; }));
  device.register_kernel("forgets_beta", with_arguments([](GemmArgs& args) { args.beta = 0.0; }));
  device.register_kernel("forgets_alpha", with_arguments([](GemmArgs& args) { args.alpha = 1.0; }));
  device.register_kernel("drops_k_tail", with_arguments([](GemmArgs& args) { args.k &= ~7; }));
  device.register_kernel("reads_padding", with_arguments([](GemmArgs& args) {
                           if (args.lda > args.k) args.k += 1;
                         }));
  device.register_kernel("uses_ld_of_d_for_c",
                         with_arguments([](GemmArgs& args) { args.ldc = args.ldd; }));
  device.register_kernel("shifts_rows", with_damage([](const GemmArgs& args, const FakeLaunch&) {
                           std::memmove(d_of(args) + args.ldd, d_of(args),
                                        static_cast<std::size_t>(args.n) * sizeof(float));
                         }));
  device.register_kernel("slightly_off", with_damage([](const GemmArgs& args, const FakeLaunch&) {
                           // Integers survive the rounding, other numbers lose 13 bits.
                           for (int i = 0; i < args.n; ++i) {
                             float& value = d_of(args)[i];
                             value = std::round(value * 1024.0F) / 1024.0F;
                           }
                         }));
  device.register_kernel("reads_c_always", with_damage([](const GemmArgs& args, const FakeLaunch&) {
                           if (args.c == nullptr) return;
                           const float zero = 0.0F * *static_cast<const float*>(args.c);
                           d_of(args)[0] += zero;
                         }));
}

void register_in_place(FakeDevice& device) {
  // The product goes to D before C is read, which matters only where they are the same.
  device.register_kernel("keeps_the_product_in_d", [](const FakeLaunch& launch) {
    GemmArgs args = args_of(launch);
    const double beta = args.beta;
    args.beta = 0.0;
    run_with(launch, args);
    const auto* c = static_cast<const float*>(args.c);
    for (int i = 0; beta != 0.0 && i < args.m; ++i) {
      for (int j = 0; j < args.n; ++j) {
        d_of(args)[i * args.ldd + j] += static_cast<float>(beta) * c[i * args.ldc + j];
      }
    }
  });
  device.register_kernel("writes_padding_in_place",
                         with_damage([](const GemmArgs& args, const FakeLaunch&) {
                           if (args.c == args.d) d_of(args)[args.n] = 1.0F;
                         }));
}

void register_damage(FakeDevice& device) {
  device.register_kernel("writes_padding", with_damage([](const GemmArgs& args, const FakeLaunch&) {
                           if (args.ldd > args.n) d_of(args)[2 * args.ldd + args.n] = 1.0F;
                         }));
  device.register_kernel("writes_behind", with_damage([](const GemmArgs& args, const FakeLaunch&) {
                           d_of(args)[args.m * args.ldd + 3] = 1.0F;
                         }));
  device.register_kernel("writes_before", with_damage([](const GemmArgs& args, const FakeLaunch&) {
                           d_of(args)[-2] = 1.0F;
                         }));
  device.register_kernel("changes_input", with_damage([](const GemmArgs& args, const FakeLaunch&) {
                           auto* b = static_cast<float*>(const_cast<void*>(args.b));
                           b[args.ldb + 1] += 1.0F;
                         }));
  device.register_kernel("overruns_workspace",
                         with_damage([](const GemmArgs& args, const FakeLaunch&) {
                           // A quarter as many bytes as there are elements, and one more.
                           auto* bytes = static_cast<unsigned char*>(args.workspace);
                           std::memset(bytes, 0, static_cast<std::size_t>(args.m) + 1);
                         }));
  device.register_kernel("unstable",
                         with_damage([](const GemmArgs& args, const FakeLaunch& launch) {
                           float& value = d_of(args)[1];
                           if (launch.index % 2 == 1 && value != std::round(value)) {
                             value = std::nextafter(value, 1e30F);
                           }
                         }));
}

void register_deadly(FakeDevice& device) {
  device.register_kernel("sleeps_forever", [](const FakeLaunch&) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  });
  device.register_kernel("prints_forever", [](const FakeLaunch&) {
    const std::string lines(1 << 16, '\n');
    for (;;) std::fputs(lines.c_str(), stderr);
  });
  device.register_kernel("aborts", [](const FakeLaunch&) {
    std::fputs("assertion failed in a planted kernel\n", stderr);
    std::abort();
  });
  device.register_kernel("segfaults", [](const FakeLaunch&) {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  });
  device.register_kernel("exits", [](const FakeLaunch&) { std::_Exit(7); });
  device.register_kernel("is_killed", [](const FakeLaunch&) { std::raise(SIGKILL); });
  device.register_kernel("is_killed_once", with_damage([](const GemmArgs&, const FakeLaunch&) {
                           // The folder outlives the process, and informs the next one.
                           const char* const mark = std::getenv("KILN_TEST_MARK");
                           if (mark != nullptr && ::mkdir(mark, 0700) == 0) std::raise(SIGKILL);
                         }));
  device.register_kernel("prints", with_damage([](const GemmArgs&, const FakeLaunch&) {
                           std::puts("a kernel that prints must not disturb the protocol");
                           std::fflush(stdout);
                         }));
}

}  // namespace

void register_planted_kernels(FakeDevice& device) {
  device.register_kernel("right", host_gemm);
  register_wrong_values(device);
  register_in_place(device);
  register_damage(device);
  register_deadly(device);
}

std::unique_ptr<FakeDevice> make_planted_device(FakeDeviceOptions options) {
  if (options.info.limits.arch.empty()) {
    options.info = fake_device_info();
    options.info.limits.l2_bytes = 64 << 10;
  }
  auto device = std::make_unique<FakeDevice>(std::move(options));
  register_planted_kernels(*device);
  return device;
}

std::string kernel_name(const std::string& name, const Gemm& gemm) {
  return fmt::format("{}<Config{{.k_major_a = {}, .k_major_b = {}}}, {}, {}, {}, {}, {}>", name,
                     gemm.storage_a == Storage::t ? 0 : 1, gemm.storage_b == Storage::t ? 1 : 0,
                     device_type_name(gemm.a), device_type_name(gemm.b), device_type_name(gemm.c),
                     device_type_name(gemm.d), device_type_name(gemm.acc));
}

EvaluationSetup planted_setup(const std::vector<GemmCase>& cases) {
  EvaluationSetup setup;
  FakeCubin support;
  support.names = {"kiln_fill_random",     "kiln_absolute",       "kiln_convert",
                   "kiln_compare",         "kiln_compare_detail", "kiln_count_mismatch",
                   "kiln_count_difference"};
  setup.support = {support.bytes(), support.names};
  Gemm reference = cases.at(0).gemm;
  reference.d = reference.acc = DType::f64;
  FakeCubin cubin;
  cubin.names = {kernel_name("gemm_naive", reference)};
  setup.reference = {cubin.bytes(), cubin.names};
  setup.reference_geometry.resize(cases.size());
  setup.cases = problem_cases(cases);
  return setup;
}

std::vector<GemmCase> planted_cases() {
  Gemm tuned = Gemm::of(DType::f32, 24, 20, 40);
  tuned.reads_c = true;
  Gemm ragged = Gemm::of(DType::f32, 17, 13, 23, Storage::n, Storage::n);
  ragged.reads_c = true;
  ragged.lda = 25;
  ragged.ldb = 15;
  ragged.ldc = 14;
  ragged.ldd = 16;
  ragged.alignment_a = ragged.alignment_b = ragged.alignment_c = ragged.alignment_d = 4;
  return {{tuned, 1.0, 0.0}, {ragged, 1.25, -0.5}};
}

EvaluationJob planted_job(const EvaluationSetup& setup, const std::string& name, double time_ns,
                          std::string_view behaviour) {
  EvaluationJob job;
  job.label = name;
  FakeCubin cubin;
  cubin.behaviour = behaviour;
  cubin.time_ns = time_ns;
  cubin.names = {kernel_name(name, gemm_of(setup.cases[0]))};
  job.unit = {cubin.bytes(), cubin.names};
  job.geometry.assign(setup.cases.size(), {LaunchGeometry{}});
  for (const ProblemCase& one : setup.cases) job.arguments.push_back({plan_gemm_argument(one)});
  job.workspace_bytes.assign(setup.cases.size(), 0);
  return job;
}

}  // namespace kiln::testing
