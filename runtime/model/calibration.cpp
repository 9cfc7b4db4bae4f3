// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/calibration.hpp"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

/// A result this far counts half of one that is near.
constexpr double kHalfOctaves = 2.0;
/// What the template's mean counts beside a configuration's own results: as so many near ones.
/// Those that a search measured first and found good were also lucky.
constexpr double kPriorWeight = 16.0;
/// What the mean of all templates counts beside one's own: far from all that was measured, the
/// model knows better than they do which template is the faster.
constexpr double kAllWeight = 4.0;
/// What a result counts beside it that is for nearly the same problem, another layout or type, say:
/// half of this at a quarter of an octave.
constexpr double kSameWeight = 64.0;
constexpr double kSameOctaves = 0.25;
/// The winners of a search are faster than the model says of others by about that much.
constexpr double kUntried = 1.25;
/// What is usual would have been among them had the problem been nearer than that.
constexpr double kSearchedOctaves = 0.5;
/// The same where nothing was measured at all: templates would call it usual if it were good.
constexpr double kUncalled = 2.0;
/// The same where nothing is known of the template: the searches will have tried it and found it
/// slow. What tensor cores gain over kernels without them is more than that.
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
