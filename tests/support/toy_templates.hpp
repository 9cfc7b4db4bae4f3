// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "templates/catalog.hpp"

namespace kiln::testing {

/// A folder that is removed with its owner.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kiln-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A gemm template with a space of any size and a kernel that is never run.
struct ToyTemplate {
  std::string name;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> tunables;
  std::string requirement = "true";
  std::string smem = "0";
  std::string block = "128";
  std::vector<std::string> costs = {};        ///< "fp32 = x * k"
  std::vector<std::string> preferences = {};  ///< "x >= 2"
  std::string priority = "";                  ///< "" for no such line
  /// Tunables that are known only at launch.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> at_launch = {};

  [[nodiscard]] std::string source() const {
    std::string text = fmt::format(
        "//@ template   {0}\n//@ purpose    A toy.\n//@ operation  gemm\n"
        "//@ arch       sm >= 50\n//@ types      a=f16|bf16|f32 b=a c=a d=a acc=f32\n",
        name);
    for (const auto& cost : costs) text += fmt::format("//@ cost       {}\n", cost);
    for (const auto& preference : preferences) text += fmt::format("//@ prefer {}\n", preference);
    if (!priority.empty()) text += fmt::format("//@ priority {}\n", priority);
    text += fmt::format(
        "//@ require    {1}   // the test says so\n//@ launch     {0}\n"
        "//@   grid     ceil_div(n, 16), ceil_div(m, 16)\n//@   block    {2}\n//@   smem     "
        "{3}\n\n"
        "struct {0}_config {{  //@ config\n",
        name, requirement, block, smem);
    const auto add_fields = [&](const auto& fields) {
      for (const auto& [tunable, values] : fields) {
        text += fmt::format("  int {};  //@ tune {}*", tunable, values.front());
        for (std::size_t i = 1; i < values.size(); ++i) text += fmt::format(" {}", values[i]);
        text += "\n";
      }
      text += "};\n";
    };
    add_fields(tunables);
    if (!at_launch.empty()) {
      text += fmt::format("struct {}_launch {{  //@ at launch\n", name);
      add_fields(at_launch);
    }
    text += fmt::format(
        "template <{0}_config C, class A, class B, class CIn, class D, class Acc>\n"
        "__global__ void {0}(const kiln::GemmArgs args) {{}}\n",
        name);
    return text;
  }
};

/// 0, 1, ... count-1.
[[nodiscard]] inline std::vector<std::int64_t> first_numbers(std::int64_t count) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

/// The built-in templates and these.
[[nodiscard]] inline Catalog catalog_with(const TempFolder& folder,
                                          const std::vector<ToyTemplate>& toys) {
  for (const auto& toy : toys) {
    std::ofstream(folder.path() / (toy.name + ".cu")) << toy.source();
  }
  return Catalog::with_directories({folder.path().string()});
}

}  // namespace kiln::testing
