// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cache/records.hpp"

namespace kiln {

/// A search space with the results of all or some of its configurations, from another autotuner.
struct MeasuredSpace {
  struct Parameter {
    std::string name;
    /// Those that occur, each once: in ascending order if all are numbers, else as they are met.
    std::vector<std::string> values;
  };
  struct Measured {
    std::vector<std::uint16_t> code;  ///< the index of the value of each parameter
    Outcome outcome = Outcome::ok;
    double time_ns = 0.0;    ///< 0 unless the outcome is ok
    double compile_s = 0.0;  ///< 0 if the file does not say
  };

  std::string kernel;     ///< "" if the file does not name it, as T4 files
  std::string device;     ///< likewise
  std::string objective;  ///< "time"
  std::vector<Parameter> parameters;
  std::vector<Measured> rows;  ///< in the order of the file, no code twice
};

/// Reads a cache file of Kernel Tuner or a T4 file, as read_foreign_results(). Of a configuration
/// that the file has twice, the last result counts. Throws Error(usage) that names file and place.
[[nodiscard]] MeasuredSpace read_measured_space(const std::filesystem::path& path);

}  // namespace kiln
