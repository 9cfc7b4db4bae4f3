// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/transfer_report.hpp"

#include <fmt/format.h>

#include "templates/printable.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/output/json.hpp"
#include "tools/output/units.hpp"

namespace kiln::tools {

int report_transfer(Context& context, const std::string& verb, const TransferCount& count) {
  for (const auto& complaint : count.complaints) context.warn(complaint);
  if (context.flags.json) {
    Json document = json_document(verb);
    document["written"] = count.written;
    document["present"] = count.present;
    document["refused"] = count.refused;
    document["complaints"] = count.complaints;
    document["broken_off"] = count.broken_off;
    context.print(json_text(document));
  } else {
    context.print(fmt::format("{} rows added, {} already there, {} refused\n", count.written,
                              count.present, count.refused));
  }
  if (!count.broken_off.empty()) {
    context.warn(
        fmt::format("{}. The rows before this point are stored. Next: fix the cause and repeat the "
                    "command; Kiln stores no row twice",
                    count.broken_off));
  }
  return count.refused == 0 && count.broken_off.empty() ? kExitOk : kExitFailure;
}

void warn_of_corrupt_rows(const Context& context, const TuningStore& source) {
  if (source.corrupt_rows() == 0) return;
  context.warn(fmt::format(
      "{} contains {}, which Kiln left out; `kiln doctor --db {}` gives details", source.path(),
      counted(source.corrupt_rows(), "damaged row"), shell_word(source.path())));
}

}  // namespace kiln::tools
