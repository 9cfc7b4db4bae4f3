// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/calibration.hpp"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

// Fitted constants. `choice_accuracy DATABASE` (tests/bench) says, for each tuned problem of a
// database, how good the choice is when its own results are hidden; these values maximise the mean.

/// The distance at which a result's weight is half.
constexpr double kHalfOctaves = 2.0;
/// Weight of the template's mean against a configuration's own results, in near results. The
/// results that a search found first and best were partly luck.
constexpr double kPriorWeight = 16.0;
/// Weight of the mean over all templates against a template's own mean. Far from all measured
/// problems, the model ranks templates better than their results do.
constexpr double kAllWeight = 4.0;
/// Additional weight of a result for nearly the same problem, such as another layout or type. It
/// is halved at kSameOctaves.
constexpr double kSameWeight = 64.0;
constexpr double kSameOctaves = 0.25;
/// Penalty of a configuration that was never measured: winners of searches are faster than the
/// model predicts for the others by about this factor.
constexpr double kUntried = 1.25;
/// A search of a problem nearer than this would have found a usual configuration if it were good.
constexpr double kSearchedOctaves = 0.5;
/// Penalty of a configuration that is not usual, where nothing was measured: its template would
/// call it usual if it were good.
constexpr double kUncalled = 2.0;
/// Penalty of a template of which nothing was measured although others were: searches tried it and
/// found it slow. Tensor cores gain more than this factor over kernels without them.
constexpr double kUnknown = 4.0;

double weight_at(double distance) {
  return std::exp2(-distance / kHalfOctaves);
}

double own_weight_at(double distance) {
  return weight_at(distance) + kSameWeight * std::exp2(-distance / kSameOctaves);
}

}  // namespace

void Calibration::Mean::add(double logarithm, double by) {
  sum += by * logarithm;
  weight += by;
}

double Calibration::Mean::value(double otherwise) const {
  return weight > 0.0 ? sum / weight : otherwise;
}

void Calibration::add(const std::string& template_name, const std::string& config, double factor,
                      double distance) {
  add_unmodelled(template_name, config, factor, distance);
  all_.add(std::log(factor), weight_at(distance));
  modelled_.insert(template_name);
}

void Calibration::add_unmodelled(const std::string& template_name, const std::string& config,
                                 double factor, double distance) {
  const double logarithm = std::log(factor);
  templates_[template_name].add(logarithm, weight_at(distance));
  configs_[{template_name, config}].add(logarithm, own_weight_at(distance));
  nearest_ = std::min(nearest_, distance);
}

double Calibration::of_template(const std::string& template_name) const {
  const auto found = templates_.find(template_name);
  if (found == templates_.end()) return all_.value(0.0);
  Mean mean = found->second;
  if (modelled_.contains(template_name)) mean.add(all_.value(0.0), kAllWeight);
  return mean.value(0.0);
}

double Calibration::factor(const std::string& template_name, const std::string& config) const {
  Mean mean;
  const auto own = configs_.find({template_name, config});
  if (own != configs_.end()) mean = own->second;
  mean.add(of_template(template_name), kPriorWeight);
  return std::exp(mean.value(0.0));
}

double Calibration::usual(const std::string& template_name, const std::string& config) const {
  const double searched = templates_.contains(template_name) ? kUntried : kUnknown;
  return factor(template_name, config) *
         std::pow(searched, std::exp2(-nearest_ / kSearchedOctaves));
}

double Calibration::untried(const std::string& template_name) const {
  if (templates_.empty()) return kUncalled;
  const bool known = templates_.contains(template_name);
  return (known ? kUntried : kUnknown) * std::exp(of_template(template_name));
}

}  // namespace kiln
