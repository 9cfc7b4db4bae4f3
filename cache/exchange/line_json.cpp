// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/line_json.hpp"

#include <fmt/format.h>

#include "kiln/error.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostKeys = 1024;
constexpr int kMostDepth = 16;

}  // namespace

Json json_of_line(const std::string& line) {
  std::size_t keys = 0;
  const auto check = [&](int depth, Json::parse_event_t event, Json& /*parsed*/) {
    if (event == Json::parse_event_t::key && ++keys > kMostKeys) {
      throw Error(ErrorKind::usage, fmt::format("the line has more than {} fields", kMostKeys));
    }
    if (depth > kMostDepth) {
      throw Error(ErrorKind::usage,
                  fmt::format("the line nests fields more than {} levels deep", kMostDepth));
    }
    return true;
  };
  try {
    return Json::parse(line, check);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, fmt::format("the line is not JSON: {}", error.what()));
  }
}

}  // namespace kiln
