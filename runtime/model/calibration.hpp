// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace kiln {

/// By how much the static model is wrong, learned from measured times: a factor for each
/// configuration, which is the geometric mean over the problems that it was measured for, the near
/// ones counting most, and which is drawn towards that of its whole template where they are far.
class Calibration {
 public:
  /// A configuration (its compiled part) took `factor` times as long as the model said, for a
  /// problem at that distance in octaves (cache/lookup/related.hpp). Precondition: the factor is
  /// positive.
  void add(const std::string& template_name, const std::string& config, double factor,
           double distance);
  /// The same for a template without costs, of whose times nothing can be expected: what is learned
  /// says nothing about others.
  void add_unmodelled(const std::string& template_name, const std::string& config, double factor,
                      double distance);

  /// The factor to correct a prediction with. 1 where nothing is known.
  [[nodiscard]] double factor(const std::string& template_name, const std::string& config) const;
  /// That for one that its template calls usual: if problems near this one were searched, and it is
  /// not among their results, others were faster.
  [[nodiscard]] double usual(const std::string& template_name, const std::string& config) const;
  /// That for a configuration that was never measured: those that were are the best of many, which
  /// a prediction does not know to be.
  [[nodiscard]] double untried(const std::string& template_name) const;

 private:
  struct Mean {
    double sum = 0.0;  ///< of logarithms, weighted
    double weight = 0.0;
    void add(double logarithm, double by);
    [[nodiscard]] double value(double otherwise) const;
  };
  [[nodiscard]] double of_template(const std::string& template_name) const;

  Mean all_;
  double nearest_ = std::numeric_limits<double>::infinity();  ///< of all distances
  std::map<std::string, Mean> templates_;
  std::set<std::string> modelled_;  ///< those whose times are on the scale of all_
  std::map<std::pair<std::string, std::string>, Mean> configs_;
};

}  // namespace kiln
