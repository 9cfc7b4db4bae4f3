// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "cache/exchange/line_json.hpp"
#include "cache/exchange/line_reader.hpp"
#include "cache/exchange/offer_check.hpp"
#include "cache/exchange/trial_json.hpp"
#include "cache/rows/trial_check.hpp"
#include "kiln/error.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kExportSchema = 5;
constexpr std::size_t kMaxComplaints = 20;
/// Rows per transaction: few enough to keep memory small and tuning runs from waiting, enough to
/// make commits rare.
constexpr std::size_t kBatch = 500;
/// A longer line is not a row of ours.
constexpr std::size_t kMaxLineBytes = 4 << 20;

void complain(TransferCount& count, std::string complaint) {
  ++count.refused;
  if (count.complaints.size() < kMaxComplaints) count.complaints.push_back(std::move(complaint));
}

void count_stored(TransferCount& count, const RecordCount& stored) {
  count.written += stored.written;
  count.present += stored.present;
}

/// The schema number of the file.
int check_header(const std::string& line, const std::string& name) {
  Json header;
  try {
    header = json_of_line(line);
  } catch (const Error&) {
    header = nullptr;  // refused below
  }
  const auto refuse = [&](const std::string& fault) {
    throw Error(ErrorKind::usage, fmt::format("{}:1: {}", name, fault));
  };
  if (!header.is_object() || header.value("kiln", Json()) != "trials") {
    refuse(
        fmt::format("not a file written by `kiln export --database`: its first line must be "
                    "{{\"kiln\":\"trials\",\"schema\":{}}}",
                    kExportSchema));
  }
  const Json schema = header.value("schema", Json());
  const bool known = schema.is_number_integer() && schema >= 1 && schema <= kExportSchema;
  if (!known) {
    refuse(
        fmt::format("the file has export schema {}, but this version of Kiln reads only schemas 1 "
                    "to {}; update Kiln",
                    schema.dump(), kExportSchema));
  }
  return schema.get<int>();
}

/// The kind that a line declares, "session" or "end", as JSON; null for a trial, which has none.
Json marked_line(const std::string& text) {
  if (text.find("\"kiln\"") == std::string::npos) return {};  // the usual case
  Json json = json_of_line(text);
  return json.is_object() && json.contains("kiln") ? json : Json();
}

/// Collects rows into batches, and counts what becomes of them.
class Importer {
 public:
  Importer(TuningStore& store, const std::string& name) : store_(store), name_(name) {}

  void line(std::uint64_t number, const std::string& text) {
    try {
      if (announced_)
        throw Error(ErrorKind::usage,
                    "the export already ended at an earlier line, so this line is not part of it");
      const Json marked = marked_line(text);
      const Json kind = marked.is_null() ? Json() : marked.at("kiln");
      if (kind == "end") {
        announced_ = {marked.at("trials").get<std::uint64_t>(),
                      marked.at("sessions").get<std::uint64_t>()};
      } else if (kind == "session") {
        ++seen_;
        add(sessions_, session_from_json(text), number);
      } else {
        ++seen_;
        add(trials_, trial_from_json(text), number);
      }
    } catch (const Json::exception& error) {
      refuse(number, error.what());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      refuse(number, error.what());
    }
    if (trials_.rows.size() + sessions_.rows.size() >= kBatch) flush();
  }

  void refuse(std::uint64_t number, const std::string& fault) {
    complain(count_, fmt::format("{}:{}: {}", name_, number, fault));
  }

  /// Since schema 2 a file says how many rows it has.
  void expect_all(int schema) {
    if (schema < 2 || !count_.broken_off.empty()) return;
    if (!announced_) {
      count_.broken_off = fmt::format(
          "{} is cut off: the last line of the export is missing; export the database again",
          name_);
    } else if (seen_ < announced_->trials + announced_->sessions) {
      count_.broken_off = fmt::format(
          "{} is incomplete: its last line states {} trials and {} sessions, but the file has only "
          "{} of these {} entries; export the database again",
          name_, announced_->trials, announced_->sessions, seen_,
          announced_->trials + announced_->sessions);
    }
  }
  void break_off(std::uint64_t number, const std::string& fault) {
    count_.broken_off = fmt::format("{}, after line {}: {}", name_, number, fault);
  }

  TransferCount finish() {
    flush();
    return std::move(count_);
  }

 private:
  template <class Row>
  struct Batch {
    std::vector<Row> rows;
    std::vector<std::uint64_t> lines;
  };

  template <class Row>
  void add(Batch<Row>& batch, Row row, std::uint64_t number) {
    check_offer(row);
    batch.lines.push_back(number);
    batch.rows.push_back(std::move(row));
  }

  void flush() {
    try {
      count_stored(count_, store_.adopt_sessions(sessions_.rows));
      const RecordCount recorded = store_.record_all(trials_.rows);
      count_stored(count_, recorded);
      for (const std::size_t i : recorded.conflicts) {
        refuse(
            trials_.lines[i],
            fmt::format(
                "the database already has a different trial with the id {}; Kiln skips this line",
                trials_.rows[i].id));
      }
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{} (before this error, Kiln stored {} rows of {})",
                                            error.what(), count_.written, name_));
    }
    sessions_ = {};
    trials_ = {};
  }

  TuningStore& store_;
  const std::string& name_;
  Batch<SessionRecord> sessions_;
  Batch<Trial> trials_;
  std::uint64_t seen_ = 0;  ///< lines of rows, including bad ones
  std::optional<RowCount> announced_;
  TransferCount count_;
};

/// The rows that may be stored; complains of the others.
template <class Row>
std::vector<Row> admissible(std::vector<Row> rows, const std::string& kind,
                            const TuningStore& source, TransferCount& count) {
  std::erase_if(rows, [&](const Row& row) {
    try {
      check_offer(checked(row));
      return false;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      complain(count, fmt::format("{}: {} {}: {}", source.path(), kind, row.id, error.what()));
      return true;
    }
  });
  return rows;
}

/// Passes rows to `store`, some at a time.
template <class Row, class Store>
void in_batches(const std::vector<Row>& rows, const Store& store) {
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto left = static_cast<std::size_t>(rows.end() - begin);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(left, kBatch));
    store(std::vector<Row>(begin, end));
    begin = end;
  }
}

}  // namespace

RowCount export_rows(const TuningStore& store, const TrialFilter& filter, std::ostream& out) {
  out << Json{{"kiln", "trials"}, {"schema", kExportSchema}}.dump() << '\n';
  RowCount count;
  TrialFilter unlimited = filter;
  unlimited.limit = 0;
  for (const SessionRecord& session : store.sessions(unlimited)) {
    out << session_to_json(session) << '\n';
    ++count.sessions;
  }
  for (const Trial& trial : store.trials(filter)) {
    out << trial_to_json(trial) << '\n';
    ++count.trials;
  }
  out << Json{{"kiln", "end"}, {"trials", count.trials}, {"sessions", count.sessions}}.dump()
      << '\n';
  if (!out.flush()) {
    throw Error(
        ErrorKind::usage,
        "the export is incomplete, because writing failed; check the free space of the disk");
  }
  return count;
}

TransferCount import_rows(TuningStore& store, std::istream& in, const std::string& name) {
  using enum LineReader::Line;
  LineReader lines(in, kMaxLineBytes);
  std::string text;
  LineReader::Line line = lines.next(text);
  if (line == none) throw Error(ErrorKind::usage, fmt::format("{}: is empty", name));
  const int schema = check_header(text, name);
  Importer importer(store, name);
  for (;;) {
    try {
      line = lines.next(text);
    } catch (const Error& error) {
      importer.break_off(lines.number(), error.what());
      break;
    }
    if (line == none) break;
    if (line == endless) {
      importer.break_off(lines.number() - 1,
                         "the next line is longer than 1 GiB, so Kiln stopped reading");
      break;
    }
    if (line == too_long) {
      importer.refuse(lines.number(),
                      fmt::format("the line is longer than {} MiB", kMaxLineBytes >> 20));
    } else if (!text.empty()) {
      importer.line(lines.number(), text);
    }
  }
  importer.expect_all(schema);
  return importer.finish();
}

TransferCount merge(TuningStore& target, const TuningStore& source) {
  TransferCount count;
  in_batches(admissible(source.sessions(), "session", source, count),
             [&](const std::vector<SessionRecord>& sessions) {
               count_stored(count, target.adopt_sessions(sessions));
             });
  in_batches(
      admissible(source.trials({}), "trial", source, count), [&](const std::vector<Trial>& trials) {
        const RecordCount recorded = target.record_all(trials);
        count_stored(count, recorded);
        for (const std::size_t i : recorded.conflicts) {
          complain(count,
                   fmt::format("{}: trial {} was not copied, because {} has a different trial "
                               "with this id",
                               source.path(), trials[i].id, target.path()));
        }
      });
  return count;
}

}  // namespace kiln
