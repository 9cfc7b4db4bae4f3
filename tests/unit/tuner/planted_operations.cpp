// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tuner/planted_operations.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kiln/error.hpp"
#include "templates/front_matter/argument_list.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/typed_kernel.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"

namespace kiln::testing {
namespace {

/// Tells the first of two runs from the second.
class Turns {
 public:
  [[nodiscard]] bool is_second() const { return (*count_)++ % 2 == 1; }

 private:
  std::shared_ptr<int> count_ = std::make_shared<int>(0);
};

/// A matrix and a number, as kernels of scale_rows get them.
struct ScaleRows {
  const float* x;
  float* y;
  int rows, cols;
  float scale;
  bool again;  ///< every other time that this kernel runs

  [[nodiscard]] int count() const { return rows * cols; }
  void compute() const {
    for (int i = 0; i < count(); ++i) y[i] = x[i] * scale;
  }
};

/// The kernel does what is right, and then something else.
template <class Damage>
void register_scale(FakeDevice& device, const std::string& name, Damage damage) {
  register_typed<const float*, float*, int, int, float>(
      device, name,
      [damage, turns = Turns()](const FakeLaunch&, const float* x, float* y, int rows, int cols,
                                float scale) {
        const ScaleRows args{x, y, rows, cols, scale, turns.is_second()};
        args.compute();
        damage(args);
      });
}

void register_scale_rows(FakeDevice& device) {
  register_typed<const double*, double*, long long, float>(
      device, "scale_rows_reference",
      [](const FakeLaunch&, const double* x, double* y, long long count, float scale) {
        for (long long i = 0; i < count; ++i) y[i] = x[i] * static_cast<double>(scale);
      });
  register_scale(device, "scale_right", [](const ScaleRows&) {});
  register_typed<const float*, float*, int, int, float>(
      device, "scale_leaves_tail",
      [](const FakeLaunch&, const float* x, float* y, int rows, int cols, float scale) {
        for (int i = 0; i < rows * cols / 4 * 4; ++i) y[i] = x[i] * scale;
      });
  register_scale(device, "scale_forgets_scalar", [](const ScaleRows& args) {
    for (int i = 0; i < args.count(); ++i) args.y[i] = args.x[i];
  });
  register_scale(device, "scale_is_inaccurate", [](const ScaleRows& args) {
    // Halves survive, as integers give; other numbers lose what is below 2^-12.
    for (int i = 0; i < args.count(); ++i) args.y[i] = std::round(args.y[i] * 4096.0F) / 4096.0F;
  });
  register_scale(device, "scale_writes_behind",
                 [](const ScaleRows& args) { args.y[args.count() + 1] = 1.0F; });
  register_scale(device, "scale_writes_before", [](const ScaleRows& args) { args.y[-1] = 1.0F; });
  register_scale(device, "scale_changes_input", [](const ScaleRows& args) {
    const_cast<float*>(args.x)[args.count() - 1] += 1.0F;
  });
  register_scale(device, "scale_is_unstable", [](const ScaleRows& args) {
    float& value = args.y[0];
    // Integers do not show what an order of additions changes.
    if (args.again && value * 2.0F != std::round(value * 2.0F))
      value = std::nextafter(value, 1e30F);
  });
}

/// `steps` times; `reads` says whether it is added to what is there.
void register_add(FakeDevice& device, const std::string& name, int steps, bool reads) {
  register_typed<const float*, float*, int, float>(
      device, name, [=](const FakeLaunch&, const float* x, float* y, int n, float alpha) {
        for (int i = 0; i < n; ++i) {
          const float sum = static_cast<float>(steps) * alpha * x[i];
          y[i] = reads ? y[i] + sum : sum;
        }
      });
}

void register_add_to(FakeDevice& device) {
  register_add(device, "add_to_reference", 1, true);
  register_add(device, "add_right", 1, true);
  register_add(device, "add_twice", 2, true);
  register_add(device, "add_overwrites", 1, false);
  const auto register_off = [&](const std::string& name, float error) {
    register_typed<const float*, float*, int, float>(
        device, name, [error](const FakeLaunch&, const float* x, float* y, int n, float alpha) {
          for (int i = 0; i < n; ++i) {
            const float sum = y[i] + alpha * x[i];
            // What integers give is left alone.
            y[i] = sum * 2.0F == std::round(sum * 2.0F) ? sum : sum + error;
          }
        });
  };
  register_off("add_almost", 0.9e-3F);
  register_off("add_off", 1.1e-3F);
  register_typed<const float*, float*, int, float>(
      device, "add_right_once",
      [turns = Turns()](const FakeLaunch&, const float* x, float* y, int n, float alpha) {
        for (int i = 0; i < n; ++i) y[i] += alpha * x[i];
        if (turns.is_second()) y[0] += 1.0F;
      });
  register_typed<const float*, float*, int, float>(
      device, "add_unstable",
      [turns = Turns()](const FakeLaunch&, const float* x, float* y, int n, float alpha) {
        for (int i = 0; i < n; ++i) y[i] += alpha * x[i];
        const bool is_whole = y[0] * 2.0F == std::round(y[0] * 2.0F);
        if (turns.is_second() && !is_whole) y[0] += 0x1p-12F;
      });
}

/// `find(row, cols)` says where the least is.
template <class Find>
void register_least(FakeDevice& device, const std::string& name, Find find) {
  register_typed<const float*, float*, int*, float*, int, int>(
      device, name,
      [find](const FakeLaunch&, const float* x, float* least, int* place, float* sum, int rows,
             int cols) {
        for (int row = 0; row < rows; ++row) {
          const float* const from = x + row * cols;
          place[row] = find(from, cols);
          int right = 0;
          for (int i = 0; i < cols; ++i) right = from[i] < from[right] ? i : right;
          least[row] = from[right];
          float total = 0.0F;
          for (int i = 0; i < cols; ++i) total += from[i];
          if (sum != nullptr) sum[row] = total;
        }
      });
}

int place_of_least(const float* row, int cols) {
  int place = 0;
  for (int i = 0; i < cols; ++i) place = row[i] < row[place] ? i : place;
  return place;
}

void register_least_of_rows(FakeDevice& device) {
  register_typed<const float*, float*, int*, double*, double*, int, int>(
      device, "least_of_rows_reference",
      [](const FakeLaunch&, const float* x, float* least, int* place, double* sum,
         double* magnitude, int rows, int cols) {
        for (int row = 0; row < rows; ++row) {
          const float* const from = x + row * cols;
          place[row] = place_of_least(from, cols);
          least[row] = from[place[row]];
          for (int i = 0; sum != nullptr && i < cols; ++i) {
            sum[row] += static_cast<double>(from[i]);
            magnitude[row] += std::abs(static_cast<double>(from[i]));
          }
        }
      });
  register_least(device, "least_right", place_of_least);
  register_least(device, "least_ignores_last", [](const float* row, int cols) {
    return place_of_least(row, cols > 1 ? cols - 1 : 1);
  });
  register_typed<const float*, float*, int*, float*, int, int>(
      device, "least_forgets_sum",
      [](const FakeLaunch&, const float* x, float* least, int* place, float*, int rows, int cols) {
        for (int row = 0; row < rows; ++row) {
          place[row] = place_of_least(x + row * cols, cols);
          least[row] = x[row * cols + place[row]];
        }
      });
}

using Half = std::uint16_t;

void register_gather(FakeDevice& device) {
  const auto gather = [](const FakeLaunch&, const Half* x, const int* index, const int* first,
                         Half* y, int n, int m) {
    for (int i = 0; i < m; ++i) {
      const bool in_range = index[i] >= 0 && index[i] < n && first[i] >= 0 && first[i] <= n;
      const bool ascends = i == 0 || first[i - 1] <= first[i];
      y[i] = in_range && ascends ? x[index[i]] : Half{0};
    }
  };
  for (const auto* const name : {"gather_reference", "gather_right"}) {
    register_typed<const Half*, const int*, const int*, Half*, int, int>(device, name, gather);
  }
  register_typed<const Half*, const int*, const int*, Half*, int, int>(
      device, "gather_next",
      [](const FakeLaunch&, const Half* x, const int* index, const int*, Half* y, int n, int m) {
        for (int i = 0; i < m; ++i) y[i] = x[(index[i] + (i == m - 1 ? 1 : 0)) % n];
      });
}

}  // namespace

const Operation& planted_operation(std::string_view source) {
  Operation operation = Operation::parse("planted.cu", source);
  const std::string name = operation.name;
  declare_operation(std::move(operation));
  return *find_operation(name);
}

void register_planted_operations(FakeDevice& device) {
  register_scale_rows(device);
  register_add_to(device);
  register_least_of_rows(device);
  register_gather(device);
}

Problem problem_of(const Operation& operation, std::vector<NamedValue> sizes,
                   std::vector<NamedValue> traits) {
  Problem problem;
  problem.operation = operation.name;
  problem.sizes = std::move(sizes);
  problem.traits = std::move(traits);
  for (const TypeSlotSpec& slot : operation.slots) {
    problem.types.push_back({slot.name, slot.types.front()});
  }
  return problem;
}

EvaluationSetup declared_setup(const ProblemCase& tuned) {
  FakeCompiler compiler;
  TuneRequest request;
  request.tuned = tuned;
  return make_setup(request, compiler, fake_device_info());
}

EvaluationJob declared_job(const EvaluationSetup& setup, const std::string& name) {
  const Operation& operation = *find_operation(setup.cases.front().problem.operation);
  EvaluationJob job;
  job.label = name;
  FakeCubin cubin;
  cubin.time_ns = 1000.0;
  cubin.names = {name};
  job.unit = {cubin.bytes(), cubin.names};
  for (const ProblemCase& one : setup.cases) {
    const auto values = operation.whole_values(one.problem);
    job.geometry.push_back({LaunchGeometry{}});
    job.arguments.push_back({plan_arguments(
        default_argument_list(operation, operation.names()),
        [&](const Expression& expression) { return expression.evaluate(values).value(); },
        [](const std::string& why) { throw Error(ErrorKind::internal, why); })});
    job.workspace_bytes.push_back(0);
  }
  return job;
}

}  // namespace kiln::testing
