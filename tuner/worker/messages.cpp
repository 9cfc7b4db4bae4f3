// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/messages.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "tuner/worker/wire.hpp"

namespace kiln {

template <>
struct LastEnumerator<DType> {
  static constexpr auto value = static_cast<DType>(kDTypeNames.size() - 1);
};
template <>
struct LastEnumerator<OperandRole> {
  static constexpr OperandRole value = OperandRole::inout;
};
template <>
struct LastEnumerator<FillSpec::Kind> {
  static constexpr FillSpec::Kind value = FillSpec::Kind::kernel;
};
template <>
struct LastEnumerator<RightSpec::Kind> {
  static constexpr RightSpec::Kind value = RightSpec::Kind::checker;
};
template <>
struct LastEnumerator<NumberType> {
  static constexpr auto value = static_cast<NumberType>(kNumberTypes - 1);
};
template <>
struct LastEnumerator<ArgumentPatch::Source> {
  static constexpr ArgumentPatch::Source value = ArgumentPatch::Source::seed;
};
template <>
struct LastEnumerator<Outcome> {
  static constexpr Outcome value = Outcome::crashed;
};
template <>
struct LastEnumerator<CodeKind> {
  static constexpr CodeKind value = CodeKind::driver_ptx;
};
template <>
struct LastEnumerator<Provenance> {
  static constexpr Provenance value = Provenance::compiled;
};
template <>
struct LastEnumerator<ErrorKind> {
  static constexpr ErrorKind value = ErrorKind::internal;
};

/// T is const where it is written.
template <class T, class Of>
concept Either = std::same_as<std::remove_const_t<T>, Of>;

/// CompileRequest::give_up stays with whoever waits.
template <class Archive, Either<std::function<bool()>> T>
void fields(Archive&, T&) {}

/// Precedes a scalar's number and says how to read it.
enum class ScalarKind : std::uint8_t { float64, s64, u64 };
template <>
struct LastEnumerator<ScalarKind> {
  static constexpr ScalarKind value = ScalarKind::u64;
};
constexpr ScalarKind kind_of(double) {
  return ScalarKind::float64;
}
constexpr ScalarKind kind_of(std::int64_t) {
  return ScalarKind::s64;
}
constexpr ScalarKind kind_of(std::uint64_t) {
  return ScalarKind::u64;
}

template <class Number, class Archive>
Number received(Archive& archive) {
  Number number{};
  archive(number);
  return number;
}

template <class Archive, Either<Scalar> T>
void fields(Archive& archive, T& scalar) {
  if constexpr (std::is_const_v<T>) {
    scalar.visit([&](auto number) { archive(kind_of(number), number); });
  } else {
    switch (received<ScalarKind>(archive)) {
      case ScalarKind::float64:
        scalar = received<double>(archive);
        break;
      case ScalarKind::s64:
        scalar = received<std::int64_t>(archive);
        break;
      case ScalarKind::u64:
        scalar = received<std::uint64_t>(archive);
        break;
    }
  }
}

/// One description per struct serves both directions. It names every member in order: the
/// structured binding takes exactly as many as there are, so a member added to the struct breaks
/// the build until it is transmitted as well.
#define KILN_WIRE_FIELDS(Struct, ...)        \
  template <class Archive, Either<Struct> T> \
  void fields(Archive& archive, T& of) {     \
    auto& [__VA_ARGS__] = of;                \
    archive(__VA_ARGS__);                    \
  }

KILN_WIRE_FIELDS(NamedValue, name, value)
KILN_WIRE_FIELDS(NamedType, slot, type)
KILN_WIRE_FIELDS(Problem, operation, sizes, types, traits, epilogue)
KILN_WIRE_FIELDS(MatrixShape, rows, cols, ld, type, alignment, recorded, pointers, line)
KILN_WIRE_FIELDS(OperandFill, kind, low, high)
KILN_WIRE_FIELDS(DataFile, path, offset, digest)
KILN_WIRE_FIELDS(OperandPlan, name, role, present, shape, fill, scratch, data)
KILN_WIRE_FIELDS(ProblemCase, problem, operands, scalars, products, kept_sizes)
KILN_WIRE_FIELDS(ArgumentPatch, source, type, index, at, offset, declared)
KILN_WIRE_FIELDS(ArgumentPlan, image, parameters, patches)
KILN_WIRE_FIELDS(OutputRule, kind, operand, relative, magnitude, absolute)
KILN_WIRE_FIELDS(CaseParts, size, extent, length, rows)
KILN_WIRE_FIELDS(ConstantFill, array, operand, bytes, place)
KILN_WIRE_FIELDS(FillRun, argument, geometry, constants, place, operands)
KILN_WIRE_FIELDS(ReferencePlan, argument, checker_argument, checker_geometry, constants,
                 checker_constants, checker, place, checker_place, parts, fills, rules, scalars,
                 scalars_text, integer_range, deterministic)
KILN_WIRE_FIELDS(CompiledUnit, cubin, names)
KILN_WIRE_FIELDS(LaunchValues, items, count)
KILN_WIRE_FIELDS(TensorMapPlan, strides, offset, extents, box, pointer_at, ld_at, swizzle,
                 promotion, type, rank)
KILN_WIRE_FIELDS(TensorMapPlans, items, count)
KILN_WIRE_FIELDS(LaunchGeometry, grid, block, cluster, smem_bytes, values, maps, overlaps,
                 cooperative, allowed, kernel)
KILN_WIRE_FIELDS(ScratchPlan, name, bytes, offset)
KILN_WIRE_FIELDS(MeasurementPolicy, cold, l2_multiple, samples, batch_ms, behind_factor,
                 drop_factor, finalists, unlike_finalists, finalist_rounds, energy, energy_probe_s,
                 energy_turn_s, energy_turns, data)
KILN_WIRE_FIELDS(EvaluationSetup, cases, support, reference, reference_geometry, reference_plans,
                 epilogue, policy, seed, memory_limit_bytes)
KILN_WIRE_FIELDS(EvaluationJob, label, accepted, unit, launch_places, geometry, arguments,
                 constants, workspace_bytes, scratch, best_ns, best_j, timeout_s, time_it, check)
KILN_WIRE_FIELDS(Timing, samples_ns, median_ns, spread_ns, sm_clock_mhz, power_w, temperature_c,
                 interleaved, energy_j, energy_spread_j)
KILN_WIRE_FIELDS(Verification, passed, worst_ratio, evidence, checked)
KILN_WIRE_FIELDS(Evaluation, outcome, message, verification, timing, hopeless)
KILN_WIRE_FIELDS(EvaluationReply, evaluation, device_lost)
KILN_WIRE_FIELDS(ComparisonRow, label, outcome, message, timing, ratio, ratio_spread)
KILN_WIRE_FIELDS(Comparison, jobs, baselines, note)
KILN_WIRE_FIELDS(ComparisonReply, comparison, device_lost)
KILN_WIRE_FIELDS(ComparisonRequest, jobs, against_cublaslt, cublaslt_workspace_bytes, rounds,
                 timeout_s, energy_turns)
KILN_WIRE_FIELDS(DeviceLimits, arch, sm, sm_count, l2_bytes, smem_static, smem_optin, smem_per_sm,
                 smem_reserved, regs_per_block, regs_per_sm, regs_per_thread, max_threads,
                 max_threads_per_sm, max_blocks_per_sm, warp_size)
KILN_WIRE_FIELDS(DeviceClass, name, arch, sm_count, l2_bytes, mig_profile)
KILN_WIRE_FIELDS(DeviceInfo, spec, limits, device_class, driver, uuid, total_memory_bytes, code,
                 provenance, most_products)
KILN_WIRE_FIELDS(CompilerGreeting, identity)
KILN_WIRE_FIELDS(CompileRequest, source, source_name, source_digest, name_expressions, plain_names,
                 arch, options, line_info, code, give_up)
KILN_WIRE_FIELDS(KernelResources, registers, spill_store_bytes, spill_load_bytes, stack_bytes,
                 smem_static_bytes, smem_dynamic_bytes, occupancy)
KILN_WIRE_FIELDS(CompileResult, ok, cubin, lowered_names, resources, warnings, log, seconds,
                 from_store, given_up)
KILN_WIRE_FIELDS(CompileReply, result, warnings)
KILN_WIRE_FIELDS(ErrorMessage, kind, text)

#undef KILN_WIRE_FIELDS

template <class Message>
std::string encode_message(const Message& message) {
  WireWriter writer;
  writer(message);
  return writer.take();
}

template <class Message>
std::optional<Message> decode_message(std::string_view payload) {
  WireReader reader(payload);
  Message message;
  reader(message);
  if (!reader.finished()) return std::nullopt;
  return message;
}

void throw_as_told(std::string_view payload) {
  const auto error = decode_message<ErrorMessage>(payload);
  if (!error) {
    throw Error(ErrorKind::internal,
                "a child process sent an error message that Kiln cannot read; please report this "
                "bug in Kiln");
  }
  throw Error(error->kind, error->text);
}

template std::string encode_message(const DeviceInfo&);
template std::string encode_message(const EvaluationSetup&);
template std::string encode_message(const EvaluationJob&);
template std::string encode_message(const ComparisonRequest&);
template std::string encode_message(const EvaluationReply&);
template std::string encode_message(const ComparisonReply&);
template std::string encode_message(const CompilerGreeting&);
template std::string encode_message(const CompileRequest&);
template std::string encode_message(const CompileReply&);
template std::string encode_message(const ErrorMessage&);
template std::optional<DeviceInfo> decode_message(std::string_view);
template std::optional<EvaluationSetup> decode_message(std::string_view);
template std::optional<EvaluationJob> decode_message(std::string_view);
template std::optional<ComparisonRequest> decode_message(std::string_view);
template std::optional<EvaluationReply> decode_message(std::string_view);
template std::optional<ComparisonReply> decode_message(std::string_view);
template std::optional<CompilerGreeting> decode_message(std::string_view);
template std::optional<CompileRequest> decode_message(std::string_view);
template std::optional<CompileReply> decode_message(std::string_view);
template std::optional<ErrorMessage> decode_message(std::string_view);

}  // namespace kiln
