// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup/shortlist.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "kiln/error.hpp"
#include "templates/digest.hpp"

namespace kiln {

namespace {

/// Parses what contenders_text() writes, value by value: a list reads ten thousand of these, and
/// most of the time of a tree of values goes into allocating and freeing it.
class ContenderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Contender> contenders;

  bool start_array(std::size_t) override {
    if (++depth_ == 2) {
      contenders.emplace_back();
      field_ = 0;
    }
    return depth_ <= 2;
  }
  bool end_array() override { return --depth_ == 0 || field_ == kFields; }
  bool string(std::string& value) override {
    static constexpr std::array kTexts{
        &Contender::trial_id, &Contender::template_name, &Contender::template_digest,
        &Contender::config,   &Contender::driver,        &Contender::toolkit,
        &Contender::judge};
    if (depth_ != 2) return false;
    const int place = field_++;
    if (place >= 1 && place <= 4) return false;  // a number's
    if (place >= kFields) return false;
    contenders.back().*kTexts[static_cast<std::size_t>(place == 0 ? 0 : place - 4)] =
        std::move(value);
    return true;
  }
  bool number_integer(std::int64_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) override { return number(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) override { return number(value); }
  bool null() override { return false; }
  bool boolean(bool) override { return false; }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return false; }
  bool key(std::string&) override { return false; }
  bool end_object() override { return false; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  static constexpr int kFields = 11;

  bool number(double value) {
    if (depth_ != 2) return false;
    Rank& rank = contenders.back().rank;
    switch (field_++) {
      case 1:
        return whole(value, rank.provenance);
      case 2:
        rank.cost = value;
        return true;
      case 3:
        rank.noise = value;
        return true;
      case 4:
        return whole(value, rank.registers);
      default:
        return false;
    }
  }
  static bool whole(double value, int& field) {
    if (!(std::abs(value) <= std::numeric_limits<int>::max())) return false;
    field = static_cast<int>(value);
    return true;
  }

  int depth_ = 0;
  int field_ = 0;  ///< the next field of the last contender
};

}  // namespace

Shortlist shortlist_of(const std::vector<Trial>& trials) {
  Shortlist shortlist;
  shortlist.trials = trials.size();
  for (const Trial& trial : trials) {
    if (trial.outcome == Outcome::ok) ++shortlist.ok;
    shortlist.provenance = std::min(shortlist.provenance, trial.provenance);
  }
  for (const auto& [name, list] : kListedObjectives) {
    const Objective objective = Objective::read(name).value();
    std::vector<Contender> contenders;
    for (const Trial* trial : able_trials(trials, Suspects::left_out, objective)) {
      contenders.push_back(contender_of(*trial, objective));
    }
    shortlist.*list = shortlist_of(std::move(contenders));
  }
  return shortlist;
}

const std::vector<Contender>* Shortlist::list(const Objective& objective) const {
  const auto* const listed =
      std::ranges::find(kListedObjectives, objective.canonical(), &ListedObjective::name);
  return listed == kListedObjectives.end() ? nullptr : &(this->*(listed->list));
}

std::string contenders_text(const std::vector<Contender>& contenders) {
  nlohmann::json list = nlohmann::json::array();
  for (const Contender& c : contenders) {
    list.push_back({c.trial_id, c.rank.provenance, c.rank.cost, c.rank.noise, c.rank.registers,
                    c.template_name, c.template_digest, c.config, c.driver, c.toolkit, c.judge});
  }
  // Invalid UTF-8 is replaced: the text then differs from the trial's, which is detected.
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<Contender> parse_contenders(std::string_view text) {
  ContenderReader reader;
  if (!nlohmann::json::sax_parse(text, &reader)) {
    throw Error(ErrorKind::usage, "malformed shortlist");
  }
  return std::move(reader.contenders);
}

void Family::add(std::string_view sizes) {
  ++problems;
  mark ^= std::stoull(digest_hex(sizes).substr(0, 16), nullptr, 16);
}

}  // namespace kiln
