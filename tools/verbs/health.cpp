// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/health.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "kiln/error.hpp"
#include "kiln/types.hpp"
#include "runtime/compile/cuda_paths.hpp"
#include "runtime/device.hpp"
#include "runtime/process/shared_object.hpp"
#include "tools/command_line/variables.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/units.hpp"

namespace kiln::tools {
namespace {

using State = Finding::State;

constexpr std::string_view kVariablePrefix = "KILN_";

/// Compiles for any architecture that NVRTC has had for years.
constexpr const char* kProbeArch = "sm_80";
constexpr const char* kProbeSource =
    "#include <cuda_fp16.h>\n#include <mma.h>\nextern \"C\" __global__ void probe() {}\n";

Finding check_driver() {
  std::string why;
  if (const auto driver = SharedObject::open("libcuda.so.1", why)) {
    return {"driver", State::ok, fmt::format("libcuda.so.1 in {}", driver->directory()), ""};
  }
  return {"driver", State::warning, "no NVIDIA driver (libcuda.so.1) on this machine",
          "install NVIDIA's driver 580 or newer (570 or newer if Kiln was built with CUDA 12); "
          "start a container with --gpus all"};
}

Finding check_device(const Context& context, Health& health) {
  const auto spec = context.device();
  try {
    const auto device = open_device(spec.value);
    const auto& info = device->info();
    health.device_found = true;
    if (info.provenance == Provenance::modelled) {
      return {
          "device", State::ok,
          fmt::format(
              "{}: an emulated {}; kernels run on this machine's CPU, and times are predictions",
              spec.value, device_text(info.device_class)),
          ""};
    }
    return {"device", State::ok,
            fmt::format("{}: {}, {}, driver {}", spec.value, device_text(info.device_class),
                        bytes_text(info.total_memory_bytes), info.driver),
            ""};
  } catch (const Error& error) {
    const bool misspelt = error.kind() == ErrorKind::usage;
    // What is wrong with an emulated GPU's name or profile, the error says with the next step.
    if (names_emulated_device(spec.value)) return {"device", State::broken, error.what(), ""};
    return {"device", misspelt ? State::broken : State::warning, error.what(),
            misspelt
                ? fmt::format("{} must name a device, e.g. cuda:0 or emulated:h200", spec.origin)
                : "tune, bench and run need a GPU or an emulated GPU (--device emulated:h200); all "
                  "other verbs work without a device"};
  }
}

Finding check_nvrtc(const std::string& include, std::unique_ptr<Compiler>& compiler) {
  try {
    const auto warning = std::make_shared<std::string>();
    compiler = make_nvrtc_compiler(include, SystemHeaders::parse,
                                   [warning](const std::string& text) { *warning = text; });
    const auto archs = compiler->supported_archs();
    return {"nvrtc", warning->empty() ? State::ok : State::warning,
            archs.empty() ? compiler->identity()
                          : fmt::format("{}; supported architectures: {} to {}",
                                        compiler->identity(), archs.front(), archs.back()),
            *warning};
  } catch (const Error& error) {
    return {"nvrtc", State::broken, error.what(),
            "install the CUDA toolkit 12.8 or newer, or its NVRTC package"};
  }
}

Finding check_headers(const Located& include, Compiler* compiler) {
  const char* const kFix =
      "install the toolkit's headers, or name their folder with --cuda-include or "
      "KILN_CUDA_INCLUDE";
  if (compiler == nullptr) {
    return {"headers", State::warning, "not checked: there is no NVRTC", "install NVRTC first"};
  }
  CompileRequest request;
  request.source = kProbeSource;
  request.source_name = "probe.cu";
  request.plain_names = {"probe"};
  request.arch = kProbeArch;
  try {
    const auto result = compiler->compile(request);
    if (result.ok) {
      return {"headers", State::ok,
              fmt::format("cuda_fp16.h and mma.h compile ({})",
                          include.value.empty() ? "found in a default folder" : include.value),
              ""};
    }
    return {"headers", State::broken, result.log.substr(0, result.log.find('\n')), kFix};
  } catch (const Error& error) {
    return {"headers", State::broken, error.what(), kFix};
  }
}

Finding check_library(const std::string& item, const std::string& component,
                      const std::vector<std::string>& names, const std::string& without,
                      const std::string& fix) {
  std::vector<std::string> places = names;
  if (!component.empty()) {
    for (const auto& folder : cuda_library_folders(component)) {
      for (const auto& name : names) places.push_back(fmt::format("{}/{}", folder, name));
    }
  }
  std::vector<std::string> tried;
  if (const auto found = SharedObject::open_first(places, tried)) {
    return {item, State::ok, found->name(), ""};
  }
  return {item, State::warning, fmt::format("no {}: {}", names.front(), without), fix};
}

Finding check_templates(Context& context) {
  const auto path = context.template_path();
  try {
    const auto& catalog = context.catalog();
    if (const auto& broken = catalog.broken(); !broken.empty()) {
      throw Error(ErrorKind::template_,
                  fmt::format("{} left out: {}", counted(broken.size(), "file"),
                              broken.front().error.what()));
    }
    std::string text = counted(catalog.templates().size(), "template");
    if (!path.value.empty())
      text += fmt::format(" (built in, or found in the template path {})", path.value);
    return {"templates", State::ok, text, ""};
  } catch (const Error& error) {
    return {"templates", State::broken, error.what(),
            fmt::format("correct the file, or correct the template path (it was set by {})",
                        path.origin)};
  }
}

/// Whether the nearest existing directory above `file` lets this user make it.
bool can_be_made(const std::filesystem::path& file) {
  std::error_code ignored;
  auto folder = std::filesystem::absolute(file, ignored).parent_path();
  while (!std::filesystem::exists(folder, ignored) && folder != folder.root_path()) {
    folder = folder.parent_path();
  }
  return access(folder.c_str(), W_OK | X_OK) == 0;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

Finding absent_file(const std::string& item, const std::string& path, const std::string& flag) {
  if (can_be_made(path)) return {item, State::ok, path + ": does not exist yet", ""};
  return {item, State::broken, path + ": does not exist, and its folder is not writable",
          "make the folder writable, or choose another file with " + flag};
}

Finding check_database(const Context& context) {
  const auto path = context.database().value;
  if (!is_there(path)) return absent_file("database", path, "--db or KILN_DB");
  const std::string rescue =
      fmt::format("save the intact rows with `{}`. Then move {} away, and run `{}`",
                  context.command("export --database -o sound.jsonl"), path,
                  context.command("import sound.jsonl"));
  try {
    const auto store = TuningStore::open(path, OpenMode::read_only);
    const auto faults = store.check();
    if (!faults.empty()) {
      return {
          "database", State::broken,
          fmt::format("{}: {}, first: {}", path, counted(faults.size(), "fault"), faults.front()),
          rescue};
    }
    const auto summaries = store.summaries();
    if (access(path.c_str(), W_OK) != 0) {
      return {"database", State::warning,
              fmt::format("{}: {}, but you have no write permission", path,
                          counted(summaries.size(), "problem")),
              "for tuning, choose a writable file with --db or KILN_DB"};
    }
    return {"database", State::ok,
            fmt::format("{}: {}, schema {}, sound", path, counted(summaries.size(), "problem"),
                        store.schema_version()),
            ""};
  } catch (const Error& error) {
    return {"database", State::broken, error.what(), rescue};
  }
}

Finding check_cubins(const Context& context) {
  const auto path = context.cubins().value;
  if (!is_there(path)) return absent_file("cubin store", path, "XDG_CACHE_HOME");
  std::string complaint;
  // A limit that nothing reaches: a check must not throw entries away.
  CubinStore store(path, std::int64_t{1} << 60, [&](const std::string& text) { complaint = text; });
  const auto entries = store.entries();
  if (!complaint.empty() || !store.usable()) {
    return {"cubin store", State::warning,
            complaint.empty() ? path + ": cannot be used" : complaint,
            fmt::format("delete {}; the file is only a cache", path)};
  }
  return {"cubin store", State::ok,
          fmt::format("{}: {}, {}", path, counted(static_cast<std::uint64_t>(entries), "kernel"),
                      bytes_text(store.total_bytes())),
          ""};
}

Finding check_mode() {
  const auto mode = environment_setting("KILN_MODE");
  if (mode.empty() || parse_mode(mode)) {
    return {"mode", State::ok, mode.empty() ? "use" : mode, ""};
  }
  return {"mode", State::broken, fmt::format("KILN_MODE={} is not a mode", mode),
          fmt::format("set KILN_MODE to one of {}", fmt::join(kModeNames, ", "))};
}

/// A misspelt variable is silently without effect, so it is looked for.
Finding check_variables() {
  std::string strange;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with(kVariablePrefix)) continue;
    const auto name = text.substr(0, text.find('='));
    const bool known = std::any_of(kVariables.begin(), kVariables.end(),
                                   [&](const Variable& variable) { return name == variable.name; });
    if (!known) strange += fmt::format("{}{}", strange.empty() ? "" : ", ", name);
  }
  if (strange.empty())
    return {"variables", State::ok, "Kiln knows all KILN_ variables that are set", ""};
  std::vector<std::string_view> ours;
  for (const auto& variable : kVariables) {
    if (variable.name.starts_with(kVariablePrefix)) ours.push_back(variable.name);
  }
  return {"variables", State::warning, fmt::format("unknown: {}", strange),
          fmt::format("Kiln reads {}", fmt::join(ours, ", "))};
}

SettingOrigin from(const char* name, const Located& located) {
  return {name, located.value, located.origin};
}

SettingOrigin from_environment(const char* name, const char* fallback) {
  const auto value = environment_setting(name);
  return value.empty() ? SettingOrigin{name, fallback, "default"}
                       : SettingOrigin{name, value, name};
}

}  // namespace

bool Health::broken() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.state == State::broken; });
}

Health examine(Context& context) {
  Health health;
  std::unique_ptr<Compiler> compiler;
  auto& findings = health.findings;
  findings.push_back(check_driver());
  findings.push_back(check_device(context, health));
  findings.push_back(check_nvrtc(context.cuda_include().value, compiler));
  findings.push_back(check_headers(context.cuda_include(), compiler.get()));
  findings.push_back(
      check_library("cublaslt", "cublas", {"libcublasLt.so.13", "libcublasLt.so.12"},
                    "kernels cannot be compared with cuBLASLt",
                    "install the toolkit's cuBLAS library; tuning works without this library"));
  findings.push_back(check_library("nvml", "", {"libnvidia-ml.so.1"},
                                   "clock, power and temperature are not recorded",
                                   "install the NVIDIA driver; it contains libnvidia-ml.so.1"));
  findings.push_back(check_templates(context));
  findings.push_back(check_database(context));
  findings.push_back(check_cubins(context));
  findings.push_back(check_mode());
  findings.push_back(check_variables());
  health.settings = {from("KILN_DB", context.database()),
                     from_environment("KILN_MODE", "use"),
                     from("KILN_DEVICE", context.device()),
                     from_environment("KILN_OBJECTIVE", "time"),
                     from("KILN_TEMPLATE_PATH", context.template_path()),
                     from("KILN_CUDA_INCLUDE", context.cuda_include()),
                     from_environment("KILN_LOG", "")};
  return health;
}

}  // namespace kiln::tools
