// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/save_profile.hpp"

#include <fmt/format.h>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/device_lock.hpp"
#include "tools/verbs/ceilings.hpp"

namespace kiln::tools {

std::string device_of_profile(const std::string& path) {
  const bool plain_name = path.find('/') == std::string::npos && !path.ends_with(".toml");
  return fmt::format("emulated:{}{}", plain_name ? "./" : "", path);
}

int save_profile(Context& context, const std::string& path) {
  const std::string spec = context.device().value;
  const auto device = open_device(spec);
  const DeviceInfo& info = device->info();
  if (info.provenance == Provenance::modelled) {
    throw Error(ErrorKind::usage,
                fmt::format("--save-profile measures a real GPU, but {} is emulated. Next: name "
                            "a real GPU, e.g. --device cuda:0.",
                            spec));
  }
  const DeviceLock lock = lock_device(context, info, IfTaken::wait);
  warn_if_busy(context, info);
  // Not through the cubin store: these kernels are needed only once.
  const auto compiler = make_nvrtc_compiler(context.cuda_include().value);
  const DeviceProfile profile = measure_ceilings(*device, *compiler, [&](const std::string& what) {
    context.note(fmt::format("Measuring: {}", what));
  });
  if (const auto why = why_implausible(profile)) {
    throw Error(ErrorKind::device,
                fmt::format("the measured figures cannot be right: {}. Therefore Kiln wrote no "
                            "profile. Next: make sure that nothing else uses the GPU (`nvidia-smi` "
                            "lists the processes), and try again.",
                            *why));
  }
  const std::string text =
      fmt::format("# Measured by kiln doctor --save-profile, driver {}, {}.\n{}", info.driver,
                  compiler->identity(), profile_text(profile));
  write_file(path, text);
  if (!path.empty() && path != "-") {
    context.note(fmt::format("Wrote {}. Use it with --device {}", path, device_of_profile(path)));
  }
  return kExitOk;
}

}  // namespace kiln::tools
