// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/shortlist.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kiln/error.hpp"
#include "templates/digest.hpp"

namespace kiln {

Shortlist shortlist_of(const std::vector<Trial>& trials) {
  Shortlist shortlist;
  shortlist.trials = trials.size();
  for (const Trial& trial : trials) {
    if (trial.outcome == Outcome::ok) ++shortlist.ok;
    shortlist.provenance = std::min(shortlist.provenance, trial.provenance);
  }
  std::vector<Contender> contenders;
  for (const Trial* trial : able_trials(trials)) contenders.push_back(contender_of(*trial));
  shortlist.contenders = shortlist_of(std::move(contenders));
  return shortlist;
}

std::string contenders_text(const std::vector<Contender>& contenders) {
  nlohmann::json list = nlohmann::json::array();
  for (const Contender& c : contenders) {
    list.push_back({c.trial_id, c.rank.provenance, c.rank.cost, c.rank.noise, c.rank.registers,
                    c.template_name, c.template_digest, c.config, c.driver, c.toolkit});
  }
  // What is no UTF-8 is replaced: such a text then differs from the trial's, which is found out.
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<Contender> parse_contenders(std::string_view text) {
  std::vector<Contender> contenders;
  try {
    for (const auto& row : nlohmann::json::parse(text)) {
      Contender c;
      c.trial_id = row.at(0).get<std::string>();
      c.rank = {row.at(1).get<int>(), row.at(2).get<double>(), row.at(3).get<double>(),
                row.at(4).get<int>()};
      c.template_name = row.at(5).get<std::string>();
      c.template_digest = row.at(6).get<std::string>();
      c.config = row.at(7).get<std::string>();
      c.driver = row.at(8).get<std::string>();
      c.toolkit = row.at(9).get<std::string>();
      contenders.push_back(std::move(c));
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::usage, std::string("malformed shortlist: ") + error.what());
  }
  return contenders;
}

void Family::add(std::string_view sizes) {
  ++problems;
  mark ^= std::stoull(digest_hex(sizes).substr(0, 16), nullptr, 16);
}

}  // namespace kiln
