// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/error.hpp"

namespace kiln::test {

/// Corrupts texts, the same way for a seed: bytes change, disappear or double, words of a
/// dictionary are inserted, and tails are swapped between texts.
class Mutator {
 public:
  Mutator(std::vector<std::string> corpus, std::vector<std::string> dictionary, unsigned seed)
      : corpus_(std::move(corpus)), dictionary_(std::move(dictionary)), random_(seed) {}

  std::string next() {
    std::string text = corpus_[pick(corpus_.size())];
    for (std::size_t times = 1 + pick(4); times > 0; --times) mutate(text);
    return text;
  }

 private:
  std::size_t pick(std::size_t below) { return below == 0 ? 0 : random_() % below; }

  void mutate(std::string& text) {
    const auto at = pick(text.size() + 1);
    const auto length = std::min(pick(12), text.size() - at);
    switch (pick(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(pick(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3: {
        const std::string& other = corpus_[pick(corpus_.size())];
        text = text.substr(0, at) + other.substr(pick(other.size() + 1));
        break;
      }
      default:
        text.replace(at, pick(2) * length, dictionary_[pick(dictionary_.size())]);
        break;
    }
  }

  std::vector<std::string> corpus_;
  std::vector<std::string> dictionary_;
  std::mt19937_64 random_;
};

/// Checks the place in "begin:line:column: message" against the text that it is about.
inline void expect_place_in(const Error& error, ErrorKind kind, const std::string& begin,
                            std::string_view text) {
  ASSERT_EQ(error.kind(), kind) << error.what();
  const std::string message = error.what();
  ASSERT_EQ(message.rfind(begin + ":", 0), 0U) << message;
  std::size_t used = 0;
  const int line = std::stoi(message.substr(begin.size() + 1), &used);
  const int column = std::stoi(message.substr(begin.size() + 1 + used + 1));
  EXPECT_GE(line, 1);
  EXPECT_LE(line, 1 + std::count(text.begin(), text.end(), '\n'));
  EXPECT_GE(column, 1);
  EXPECT_LE(static_cast<std::size_t>(column), text.size() + 1);
}

}  // namespace kiln::test
