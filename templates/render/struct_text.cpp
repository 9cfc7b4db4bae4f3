// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/struct_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "templates/space/tunable_value.hpp"

namespace kiln {

std::string struct_text(const StructSpec& spec, std::span<const std::int64_t> values) {
  const std::vector<ConfigField>& fields = spec.fields;
  const bool has_bases =
      std::ranges::any_of(fields, [](const ConfigField& field) { return !field.base.empty(); });
  std::string text = fmt::format("{}{{", spec.type);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& base = fields[i].base;
    const bool begins_base = !base.empty() && (i == 0 || fields[i - 1].base != base);
    const bool ends_base = !base.empty() && (i + 1 == fields.size() || fields[i + 1].base != base);
    if (i > 0) text += ", ";
    if (begins_base) text += "{";
    if (!has_bases || !base.empty()) text += fmt::format(".{} = ", fields[i].name);
    const bool is_enumerator = is_named_value(values[i]) && !is_boolean_value(values[i]);
    if (is_enumerator) text += fields[i].type + "::";
    text += value_text(values[i]);
    if (fields[i].type == "float" && is_real_value(values[i]) && !text.ends_with('f')) text += 'f';
    if (ends_base) text += "}";
  }
  return text + "}";
}

}  // namespace kiln
