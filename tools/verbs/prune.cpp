// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/command_line/whole_number.hpp"
#include "tools/output/json.hpp"
#include "tools/output/units.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

struct PruneOptions {
  std::string older = "30d";
  int keep_best = 5;
  std::string cubins;
  bool dry_run = false;
};

int prune(Context& context, const PruneOptions& options) {
  const double older_s = parse_duration_s("--older", options.older);
  const std::int64_t cubin_bytes =
      options.cubins.empty() ? 0 : parse_bytes("--cubins", options.cubins);
  std::uint64_t removed = 0;
  // Reading first: an absent database is no reason to make one.
  if (auto store = context.open_for_reading()) {
    if (!options.dry_run) store = context.open_for_writing();
    removed = store->prune(std::llround(older_s * 1e3), options.keep_best, options.dry_run);
  }
  std::int64_t removed_cubins = 0;
  // A store that is not there has nothing to remove, and a dry run makes none.
  if (!options.cubins.empty() &&
      !(options.dry_run && !std::filesystem::exists(context.cubins().value))) {
    CubinStore cubins(context.cubins().value, cubin_bytes,
                      [&](const std::string& text) { context.warn(text); });
    removed_cubins = cubins.shrink(cubin_bytes, options.dry_run);
  }
  if (context.flags.json) {
    Json document = json_document("prune");
    document["dry_run"] = options.dry_run;
    document["trials_removed"] = removed;
    document["cubins_removed"] = removed_cubins;
    context.print(json_text(document));
  } else {
    context.print(
        fmt::format("{} and {} {}\n", counted(removed, "trial"),
                    counted(static_cast<std::uint64_t>(removed_cubins), "compiled kernel"),
                    options.dry_run ? "would be removed (dry run)" : "removed"));
  }
  return kExitOk;
}

}  // namespace

Action add_prune(CLI::App& verb, const Operation& /*operation*/) {
  auto options = std::make_shared<PruneOptions>();
  verb.add_option("--older", options->older,
                  "Remove trials that are at least this old (default 30d)")
      ->type_name("TIME");
  verb.add_option("--keep-best", options->keep_best,
                  "Keep the N best trials of each problem and device (default 5)")
      ->type_name("N")
      ->check(whole_number(1, kMostInt));  // or there would be nothing left to load
  verb.add_option("--cubins", options->cubins, "Shrink the store of compiled kernels to this size")
      ->type_name("SIZE");
  verb.add_flag("--dry-run", options->dry_run,
                "Print how many trials and kernels would be removed, and remove nothing");
  return [options](Context& context) { return prune(context, *options); };
}

}  // namespace kiln::tools
