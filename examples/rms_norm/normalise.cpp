// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// Launches the kernel of examples/adopted/rms_norm with the best configuration known for this
/// device. docs/tutorial/first-program.md explains it line by line.
/// usage: normalise FOLDER, where FOLDER has the operation and its template

#include <cstdio>
#include <kiln/kiln.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
  constexpr std::size_t kRows = 64;
  constexpr std::size_t kCols = 4096;
  kiln::LibraryOptions options;
  options.template_path = {argc > 1 ? argv[1] : "kernels"};
  const kiln::Library library = kiln::Library::open(options);
  const kiln::OperationKernel norm = library.get(kiln::OperationProblem{
      .operation = "rms_norm",
      .sizes = {{"rows", kRows}, {"cols", kCols}},
      .types = {{"y", kiln::DType::f32}, {"x", kiln::DType::f32}, {"w", kiln::DType::f32}}});

  std::vector<float> numbers(kRows * kCols, 3.0F);
  const std::vector<float> weights(kCols, 0.5F);
  const kiln::DeviceMemory y = library.allocate(numbers.size() * sizeof(float), "y");
  kiln::DeviceMemory x = library.allocate(numbers.size() * sizeof(float), "x");
  kiln::DeviceMemory w = library.allocate(weights.size() * sizeof(float), "w");
  x.copy_from_host(numbers.data(), x.bytes());
  w.copy_from_host(weights.data(), w.bytes());

  norm.launch(nullptr, {.operands = {y.get(), x.get(), w.get()}});
  y.copy_to_host(numbers.data(), y.bytes());  // waits for the kernel

  std::printf("y[0] = %g\n", static_cast<double>(numbers[0]));
  std::printf("%s [%s] on %s\n%s\n", std::string(norm.template_name()).c_str(),
              std::string(norm.config()).c_str(), library.device_description().c_str(),
              std::string(norm.match_reason()).c_str());
  return 0;
} catch (const kiln::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
