// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/foreign_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "cache/exchange/foreign_rows.hpp"
#include "cache/exchange/foreign_text.hpp"
#include "cache/exchange/packed_text.hpp"
#include "kiln/error.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostFileBytes = std::size_t{1} << 30U;
/// Of one result. Objects that keep the order of their keys take time by the square of their
/// number.
constexpr std::size_t kMostFields = 4096;

/// A character of the text that also tells how far the parser has come.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  const char& operator*() const { return *at_; }
  CountingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  friend bool operator==(const CountingIterator& left, const CountingIterator& right) {
    return left.at_ == right.at_;
  }
  friend bool operator!=(const CountingIterator& left, const CountingIterator& right) {
    return !(left == right);
  }

 private:
  const char* at_;
  const char** reached_;
};

/// Reads a text result by result, so that only one of them is in memory as JSON.
class ForeignReader {
 public:
  ForeignReader(const std::string& text, const std::string& name) : text_(text), name_(name) {}

  ForeignResults read() {
    parse();
    // Cache files with sorted keys name the tunables after the results; and Kernel Tuner writes the
    // unit of a T4 file last.
    if (needs_names_ && has_names_) parse();
    if (const double unit_ms = unit_of_times(); unit_ms != unit_ms_) {
      unit_ms_ = unit_ms;
      parse();
    }
    finish();
    return std::move(read_);
  }

 private:
  void parse() {
    const char* const begin = text_.data();
    reached_ = counted_ = begin;
    line_ = 1;
    position_ = 0;
    needs_names_ = false;
    read_.results.clear();
    read_.replaced = 0;
    places_.clear();
    try {
      header_ = Json::parse(CountingIterator(begin, &reached_),
                            CountingIterator(begin + text_.size(), &reached_),
                            [this](int depth, Json::parse_event_t event, Json& parsed) {
                              return take(depth, event, parsed);
                            });
    } catch (const Json::parse_error& error) {
      const TextPlace place = place_of(text_, error.byte == 0 ? 0 : error.byte - 1);
      throw Error(ErrorKind::usage,
                  fmt::format("{}:{}:{}: the file is not JSON: {}", name_, place.line, place.column,
                              printable(fault_of(error))));
    } catch (const Json::exception& error) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}:{}: {}", name_, line(), printable(error.what())));
    }
  }

  /// Without the number of the exception and the place, which the message has in its own way.
  static std::string fault_of(const Json::parse_error& error) {
    std::string text = error.what();
    if (const std::size_t colon = text.find(": "); colon != text.npos) text.erase(0, colon + 2);
    return text;
  }

  bool take(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::key) {
      if (++keys_ > kMostFields) refuse(fmt::format("more than {} fields", kMostFields));
      if (depth == 1) section_ = parsed.get<std::string>();
      if (depth == 2) entry_ = parsed.get<std::string>();
      return true;
    }
    if (depth == 1 && section_ == "tune_params_keys" && event == Event::array_end) {
      take_names(parsed);
      return true;
    }
    const bool is_cache = section_ == "cache";
    if (depth != 2 || (!is_cache && section_ != "results")) {
      if (depth <= 1) keys_ = 0;
      return true;
    }
    if (event == Event::object_start) {
      keys_ = 0;
      result_line_ = line();
      ++position_;
      return true;
    }
    if (event != Event::object_end) {
      refuse(fmt::format("'{}' must contain only objects", section_));
    }
    take_result(parsed, is_cache);
    keys_ = 0;
    return false;
  }

  void take_names(const Json& list) {
    read_.names.clear();
    for (const Json& name : list) {
      if (!name.is_string()) refuse("'tune_params_keys' must be a list of names");
      read_.names.push_back(name.get<std::string>());
    }
    has_names_ = true;
  }

  void take_result(const Json& json, bool is_cache) {
    read_.format = is_cache ? ForeignFormat::kernel_tuner : ForeignFormat::t4;
    if (is_cache && !has_names_) {
      needs_names_ = true;
      return;
    }
    try {
      ForeignResult result = is_cache ? read_cache_entry(json, read_.names)
                                      : read_t4_result(json, unit_ms_, read_.names);
      result.line = result_line_;
      add(std::move(result));
    } catch (const Error& error) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}:{}: {}: {}", name_, result_line_,
                              is_cache ? fmt::format("cache entry \"{}\"", printable(entry_))
                                       : fmt::format("result {}", position_),
                              printable(error.what())));
    }
  }

  void add(ForeignResult result) {
    std::string key;
    for (const ForeignValue& value : result.values) key += value.text + '\x1f';
    const auto [place, is_new] = places_.try_emplace(std::move(key), read_.results.size());
    if (is_new) {
      read_.results.push_back(std::move(result));
    } else {
      read_.results[place->second] = std::move(result);
      ++read_.replaced;
    }
  }

  void finish() {
    if (!header_.is_object()) foreign();
    const bool is_cache = header_.contains("cache") && header_["cache"].is_object();
    const bool is_t4 = header_.contains("results") && header_["results"].is_array();
    if (is_cache == is_t4) foreign();
    if (is_cache) {
      if (!has_names_) {
        throw Error(ErrorKind::usage,
                    fmt::format("{}: the cache file has no field 'tune_params_keys'", name_));
      }
      finish_cache();
    } else {
      read_.format = ForeignFormat::t4;
      read_.objective = "time";
    }
    if (read_.results.empty()) {
      throw Error(ErrorKind::usage, fmt::format("{}: the file has no results", name_));
    }
  }

  void finish_cache() {
    read_.format = ForeignFormat::kernel_tuner;
    read_.kernel = text_field("kernel_name");
    read_.device = text_field("device_name");
    if (const auto size = header_.find("problem_size"); size != header_.end()) {
      read_.problem_size = size->dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    read_.objective = "time";
    const auto objective = header_.find("objective");
    if (objective == header_.end()) return;
    if (objective->is_string()) read_.objective = objective->get<std::string>();
    if (!objective->is_array()) return;
    read_.objective.clear();
    for (const Json& one : *objective) {
      if (!one.is_string()) continue;
      read_.objective += (read_.objective.empty() ? "" : ",") + one.get<std::string>();
    }
  }

  [[nodiscard]] double unit_of_times() const {
    const auto metadata = header_.is_object() ? header_.find("metadata") : header_.end();
    if (metadata == header_.end() || !metadata->is_object()) return 1.0;
    const auto unit = metadata->find("timeunit");
    if (unit == metadata->end()) return 1.0;
    const auto factor =
        unit->is_string() ? milliseconds_in(unit->get<std::string>()) : std::nullopt;
    if (factor) return *factor;
    throw Error(ErrorKind::usage,
                fmt::format("{}: field 'metadata.timeunit' is {}, but must be \"seconds\", "
                            "\"milliseconds\", \"microseconds\" or \"nanoseconds\"",
                            name_, printable(unit->dump(-1, ' ', true))));
  }

  std::string text_field(const std::string& field) const {
    const auto found = header_.find(field);
    return found != header_.end() && found->is_string() ? found->get<std::string>() : "";
  }

  [[noreturn]] void foreign() const {
    throw Error(ErrorKind::usage,
                fmt::format("{}: the file is neither a Kernel Tuner cache file (an object with "
                            "'tune_params_keys' and 'cache') nor a T4 file (an object with a list "
                            "'results')",
                            name_));
  }

  [[noreturn]] void refuse(const std::string& fault) {
    throw Error(ErrorKind::usage, fmt::format("{}:{}: {}", name_, line(), fault));
  }

  /// Where the parser is.
  std::uint64_t line() {
    const char* const reached = std::min(reached_, text_.data() + text_.size());
    line_ += static_cast<std::uint64_t>(std::count(counted_, reached, '\n'));
    counted_ = reached;
    return line_;
  }

  const std::string& text_;
  const std::string& name_;
  const char* reached_ = nullptr;
  const char* counted_ = nullptr;
  std::uint64_t line_ = 1;
  Json header_;  ///< the file without its results
  std::string section_;
  std::string entry_;
  std::uint64_t position_ = 0;
  std::uint64_t result_line_ = 0;
  std::size_t keys_ = 0;
  double unit_ms_ = 1.0;
  bool has_names_ = false;
  bool needs_names_ = false;
  ForeignResults read_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

std::string_view words_of(ForeignFormat format) {
  return format == ForeignFormat::kernel_tuner ? "a Kernel Tuner cache file" : "a T4 file";
}

std::optional<std::size_t> ForeignResults::find(std::string_view name) const {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

ForeignResults parse_foreign_results(std::string text, const std::string& name) {
  mend_python_json(text, name);
  return ForeignReader(text, name).read();
}

ForeignResults read_foreign_results(const std::filesystem::path& path) {
  return parse_foreign_results(read_packed_text(path, kMostFileBytes), path.string());
}

bool begins_foreign(std::string_view beginning) {
  if (beginning.starts_with("\x1f\x8b")) return true;
  const std::size_t brace = beginning.find_first_not_of(" \t\r\n");
  if (brace == beginning.npos || beginning[brace] != '{') return false;
  constexpr std::array<std::string_view, 5> kKeys{"\"tune_params_keys\"", "\"device_name\"",
                                                  "\"cache\"", "\"results\"", "\"timeunit\""};
  return std::ranges::any_of(
      kKeys, [&](std::string_view key) { return beginning.find(key) != beginning.npos; });
}

}  // namespace kiln
