// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/cuda/device_info.hpp"
#include "runtime/device.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/output/json.hpp"
#include "tools/output/table.hpp"
#include "tools/output/units.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

/// A device that can be named with --device.
struct DeviceRow {
  std::string spec;
  DeviceClass device_class;
  std::string driver;   ///< of a GPU
  std::string figures;  ///< of an emulated one: "measured" or "published"
  bool is_default = false;
};

/// The GPUs of this machine; a note where there is none.
std::vector<DeviceRow> gpus(const Context& context) {
  std::vector<DeviceRow> rows;
  try {
    require_device(0);
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) return rows;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      const DeviceInfo info = query_device_info(ordinal);
      rows.push_back({info.spec, info.device_class, info.driver, "", false});
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::device) throw;
    context.note(error.what());
  }
  return rows;
}

DeviceRow emulated(const std::string& model) {
  const DeviceProfile profile = profile_of(model);
  return {"emulated:" + model, profile.device_class, "", profile.figures, false};
}

/// `chosen`, as the device column spells it.
std::string spec_of(const std::string& chosen) {
  if (names_emulated_device(chosen)) return chosen;
  const auto ordinal = parse_device_spec(chosen);
  if (!ordinal) static_cast<void>(open_device(chosen));  // says what is wrong with the name
  return fmt::format("cuda:{}", *ordinal);
}

std::vector<DeviceRow> all_devices(const Context& context) {
  const std::string chosen = spec_of(context.device().value);
  std::vector<DeviceRow> rows;
  for (const auto& model : built_in_profiles()) rows.push_back(emulated(model));
  const auto is_chosen = [&](const DeviceRow& row) { return row.spec == chosen; };
  // A profile of the user's own, or a name that the error then explains.
  if (names_emulated_device(chosen) && std::none_of(rows.begin(), rows.end(), is_chosen)) {
    rows.push_back(emulated(chosen.substr(chosen.find(':') + 1)));
  }
  const auto real = gpus(context);
  rows.insert(rows.begin(), real.begin(), real.end());
  for (auto& row : rows) row.is_default = is_chosen(row);
  return rows;
}

int list_devices(Context& context) {
  const auto rows = all_devices(context);
  if (context.flags.json) {
    Json document = json_document("devices");
    document["devices"] = Json::array();
    for (const auto& row : rows) {
      Json json{{"device", row.spec},
                {"emulated", names_emulated_device(row.spec)},
                {"default", row.is_default},
                {"device_class", to_json(row.device_class)}};
      if (!row.driver.empty()) json["driver"] = row.driver;
      if (!row.figures.empty()) json["figures"] = row.figures;
      document["devices"].push_back(std::move(json));
    }
    context.print(json_text(document));
    return kExitOk;
  }
  using enum Table::Align;
  Table table(
      {{"device"}, {"name"}, {"arch"}, {"SMs", right}, {"L2", right}, {"times"}, {"default"}});
  for (const auto& row : rows) {
    const auto& device = row.device_class;
    const std::string name =
        device.mig_profile.empty() ? device.name : device.name + " MIG " + device.mig_profile;
    table.add_row(
        {row.spec, name, device.arch, fmt::format("{}", device.sm_count),
         bytes_text(device.l2_bytes),
         row.figures.empty() ? "measured" : fmt::format("predicted from {} figures", row.figures),
         row.is_default ? "*" : ""});
  }
  context.print(table.text());
  return kExitOk;
}

}  // namespace

Action add_devices(CLI::App& /*verb*/, const Operation& /*operation*/) {
  return list_devices;
}

}  // namespace kiln::tools
