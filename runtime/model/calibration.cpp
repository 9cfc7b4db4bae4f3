// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/calibration.hpp"

#include <cmath>

namespace kiln {
namespace {

/// A result this far counts half of one that is near.
constexpr double kHalfOctaves = 2.0;
/// What the template's mean counts beside a configuration's own results: as one this far.
constexpr double kPriorOctaves = 4.0;
/// The winners of a search are faster than the model says of others by about that much.
constexpr double kUntried = 1.25;
/// The same where nothing is known of the template: the searches will have tried it and found it
/// slow. What tensor cores gain over kernels without them is more than that.
constexpr double kUnknown = 4.0;

double weight_at(double distance) {
  return std::exp2(-distance / kHalfOctaves);
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
}

void Calibration::add_unmodelled(const std::string& template_name, const std::string& config,
                                 double factor, double distance) {
  const double weight = weight_at(distance);
  const double logarithm = std::log(factor);
  templates_[template_name].add(logarithm, weight);
  configs_[{template_name, config}].add(logarithm, weight);
}

double Calibration::of_template(const std::string& template_name) const {
  const auto found = templates_.find(template_name);
  return found == templates_.end() ? all_.value(0.0) : found->second.value(0.0);
}

double Calibration::factor(const std::string& template_name, const std::string& config) const {
  Mean mean;
  const auto own = configs_.find({template_name, config});
  if (own != configs_.end()) mean = own->second;
  mean.add(of_template(template_name), weight_at(kPriorOctaves));
  return std::exp(mean.value(0.0));
}

double Calibration::untried(const std::string& template_name) const {
  const bool known = templates_.contains(template_name);
  return (known ? kUntried : kUnknown) * std::exp(of_template(template_name));
}

}  // namespace kiln
