// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cache/exchange/value_json.hpp"
#include "cache/records.hpp"
#include "cache/store/store.hpp"
#include "kiln/types.hpp"

namespace kiln::tools {

/// Keeps the order of insertion, so that the output reads as it was written.
using Json = nlohmann::ordered_json;

/// {"schema": 2, "kiln": kind}: the head of every document on standard output. The schema number
/// changes when a field changes its meaning or goes.
[[nodiscard]] Json json_document(const std::string& kind);
/// Indented text with a newline; bytes that are not UTF-8 (a compiler's log) are replaced, and
/// characters that a terminal obeys escaped.
[[nodiscard]] std::string json_text(const Json& json);

[[nodiscard]] Json to_json(const Problem& problem);
/// {"copy": "cp_async", "tile_m": 128}
[[nodiscard]] Json to_json(const Config& config);
[[nodiscard]] Json to_json(const DeviceClass& device);
[[nodiscard]] Json to_json(const SessionRecord& session);
/// The trial as `kiln export --database` writes it, its problem with its canonical text, and
/// "tflops" added when it was timed.
[[nodiscard]] Json to_json(const Trial& trial);
/// "metrics": the operation's own units by name; absent if it declares none. Without an energy (0)
/// such as need it are left out.
void add_metrics(Json& json, const Problem& problem, double time_ns, double energy_j = 0.0);

}  // namespace kiln::tools
