// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/reach.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace kiln::tools {
namespace {

/// Types of cooperative groups that are smaller than a grid, and functions that give them.
bool is_smaller_group(const CodeToken& token) {
  constexpr std::array<std::string_view, 8> kNames{
      "thread_block",      "thread_block_tile", "coalesced_group", "cluster_group",
      "this_thread_block", "tiled_partition",   "this_cluster",    "coalesced_threads"};
  return std::find(kNames.begin(), kNames.end(), token.text) != kNames.end();
}

}  // namespace

ReachedCode::ReachedCode(const SourceModel& model, const SourceKernel& kernel) : model_(model) {
  const auto first = model.code.tokens.begin();
  add(first + static_cast<std::ptrdiff_t>(kernel.begin),
      first + static_cast<std::ptrdiff_t>(kernel.body_end));
  // More of them come meanwhile.
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string_view word = tokens_[i].text;
    if (tokens_[i].is_word() && words_.insert(word).second) add_meaning(word);
  }
}

void ReachedCode::add(std::vector<CodeToken>::const_iterator begin,
                      std::vector<CodeToken>::const_iterator end) {
  tokens_.insert(tokens_.end(), begin, end);
  CodeToken semicolon;
  semicolon.text = ";";
  tokens_.push_back(semicolon);
}

void ReachedCode::add_meaning(std::string_view word) {
  const auto [first, last] = model_.definitions.equal_range(word);
  const auto begin = model_.code.tokens.begin();
  for (auto each = first; each != last; ++each) {
    add(begin + static_cast<std::ptrdiff_t>(each->second.first),
        begin + static_cast<std::ptrdiff_t>(each->second.second));
  }
  const auto macro = model_.macros.find(word);
  if (macro != model_.macros.end()) add(macro->second.body.begin(), macro->second.body.end());
}

/// `auto block = cg::this_thread_block();`, `const cg::thread_block& block`.
std::set<std::string_view> ReachedCode::smaller_groups() const {
  std::set<std::string_view> names;
  std::string_view set;  // by the statement
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].is(";")) set = "";
    if (tokens_[i].is("=") && i > 0) set = tokens_[i - 1].text;
    if (!is_smaller_group(tokens_[i])) continue;
    names.insert(tokens_[i].text);
    if (!set.empty()) names.insert(set);
    auto name = i + 1;
    if (tokens_[name].is("<")) {
      name = closing_angle_bracket(tokens_, name, tokens_.size() - 1) + 1;
    }
    while (name < tokens_.size() && (tokens_[name].is("&") || tokens_[name].is("const"))) ++name;
    if (name < tokens_.size() && tokens_[name].is_word()) names.insert(tokens_[name].text);
  }
  return names;
}

bool ReachedCode::syncs_grid() const {
  if (!mentions("this_grid") && !mentions("grid_group")) return false;
  const auto smaller = smaller_groups();
  for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
    const bool waits = tokens_[i].is("sync") || tokens_[i].is("barrier_wait");
    if (!waits || !tokens_[i + 1].is("(")) continue;
    // The group's name is the last before `.sync`, or else within the parentheses.
    const bool is_member = tokens_[i - 1].is(".") || tokens_[i - 1].is("->");
    std::size_t name = is_member ? i - 1 : closing_bracket(tokens_, i + 1, tokens_.size() - 1);
    while (name > 0 && !tokens_[name].is_word()) --name;
    if (!smaller.contains(tokens_[name].text)) return true;
  }
  return false;
}

}  // namespace kiln::tools
