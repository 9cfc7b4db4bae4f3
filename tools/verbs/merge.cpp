// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "templates/printable.hpp"
#include "tools/output/transfer_report.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

struct MergeOptions {
  std::string target;
  std::vector<std::string> sources;
};

int merge_databases(Context& context, const MergeOptions& options) {
  // All sources are opened before the target is touched: a bad one stops the merge, not half of it.
  std::vector<TuningStore> sources;
  for (const auto& path : options.sources) {
    sources.push_back(TuningStore::open(path, OpenMode::salvage));
    if (const auto& fault = sources.back().salvage_fault(); !fault.empty()) {
      context.warn(fmt::format(
          "database {} {}; merge takes only rows that can be read and match their digests. Next: "
          "`kiln doctor --db {}` gives details",
          path, fault, shell_word(path)));
    }
  }
  auto target = TuningStore::open(options.target, OpenMode::read_write);
  TransferCount total;
  for (const auto& source : sources) {
    const auto count = merge(target, source);
    total.written += count.written;
    total.present += count.present;
    total.refused += count.refused;
    total.complaints.insert(total.complaints.end(), count.complaints.begin(),
                            count.complaints.end());
    warn_of_corrupt_rows(context, source);
  }
  return report_transfer(context, "merge", total);
}

}  // namespace

Action add_merge(CLI::App& verb, const Operation& /*operation*/) {
  auto options = std::make_shared<MergeOptions>();
  verb.add_option("target", options->target,
                  "Database that gets the results; created if it does not exist")
      ->required()
      ->type_name("FILE");
  verb.add_option("sources", options->sources, "Databases to read")->required()->type_name("FILE");
  return [options](Context& context) { return merge_databases(context, *options); };
}

}  // namespace kiln::tools
