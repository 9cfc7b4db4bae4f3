// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/records.hpp"

/// \file
/// Results that another autotuner measured: cache files of Kernel Tuner, and files in the T4 format
/// (results schema 1.0.0). docs/reference/exchange.md describes both.

namespace kiln {

enum class ForeignFormat : std::uint8_t { kernel_tuner, t4 };

/// "a Kernel Tuner cache file", "a T4 file".
[[nodiscard]] std::string_view words_of(ForeignFormat format);

/// The value of a tunable as the file spells it. Equal numbers have equal texts: "16" for 16
/// and 16.0.
struct ForeignValue {
  enum class Kind : std::uint8_t { number, boolean, text };
  Kind kind = Kind::number;
  std::string text;  ///< "16", "0.5", "true", "row_major"
  friend bool operator==(const ForeignValue&, const ForeignValue&) = default;
};

/// One configuration and its result.
struct ForeignResult {
  std::uint64_t line = 0;            ///< where the result begins in the file
  std::vector<ForeignValue> values;  ///< of the tunables, in the order of their names
  Outcome outcome = Outcome::ok;
  std::string failure;             ///< the file's word for an outcome that is not ok
  double time_ms = 0.0;            ///< the measurement `time`; 0 if there is none
  std::vector<double> samples_ms;  ///< all runs
  double compile_ms = 0.0;
  std::int64_t created_unix_ms = 0;  ///< 0 if the file has no time stamp
  /// The other fields: a JSON object in one line, with the names that cache files use
  /// ("framework_time", "GFLOP/s"); "" if there are none. Times in milliseconds.
  std::string others;
};

/// A file of results, each configuration once.
struct ForeignResults {
  ForeignFormat format = ForeignFormat::kernel_tuner;
  std::string kernel;              ///< "" in a T4 file, as the next two
  std::string device;              ///< "NVIDIA A100"
  std::string problem_size;        ///< as JSON: "[4096,4096]"
  std::string objective;           ///< "time"; several are separated by commas
  std::vector<std::string> names;  ///< of the tunables
  std::vector<ForeignResult> results;
  /// Results that a later one of the same configuration replaced, as Kernel Tuner does.
  std::uint64_t replaced = 0;

  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
};

/// Reads a file, which may be compressed with gzip. A cache file need not have its closing braces,
/// which Kernel Tuner writes last. Throws Error(usage) that names the file, and line and column
/// or the faulty result, for everything else.
[[nodiscard]] ForeignResults read_foreign_results(const std::filesystem::path& path);

/// The same of a text; `name` is for messages.
[[nodiscard]] ForeignResults parse_foreign_results(std::string text, const std::string& name);

/// Whether the beginning of a file, some thousand bytes, looks like one of these formats, or like
/// data compressed with gzip.
[[nodiscard]] bool begins_foreign(std::string_view beginning);

}  // namespace kiln
