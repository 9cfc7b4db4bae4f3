// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/messages.hpp"

#include <concepts>

#include "tuner/wire.hpp"

namespace kiln {

template <>
struct LastEnumerator<DType> {
  static constexpr DType value = DType::s32;
};
template <>
struct LastEnumerator<Storage> {
  static constexpr Storage value = Storage::t;
};
template <>
struct LastEnumerator<Outcome> {
  static constexpr Outcome value = Outcome::crashed;
};
template <>
struct LastEnumerator<CodeKind> {
  static constexpr CodeKind value = CodeKind::ptx;
};
template <>
struct LastEnumerator<Provenance> {
  static constexpr Provenance value = Provenance::compiled;
};
template <>
struct LastEnumerator<ErrorKind> {
  static constexpr ErrorKind value = ErrorKind::internal;
};

// One description per struct serves both directions: T is const where it is written.
template <class T, class Of>
concept Either = std::same_as<std::remove_const_t<T>, Of>;

template <class Archive, Either<Gemm> T>
void fields(Archive& archive, T& x) {
  archive(x.m, x.n, x.k, x.a, x.b, x.c, x.d, x.acc, x.storage_a, x.storage_b, x.lda, x.ldb, x.ldc,
          x.ldd, x.alignment_a, x.alignment_b, x.alignment_c, x.alignment_d, x.reads_c);
}
template <class Archive, Either<GemmCase> T>
void fields(Archive& archive, T& x) {
  archive(x.gemm, x.alpha, x.beta);
}
template <class Archive, Either<CompiledUnit> T>
void fields(Archive& archive, T& x) {
  archive(x.cubin, x.names);
}
template <class Archive, Either<LaunchGeometry> T>
void fields(Archive& archive, T& x) {
  archive(x.grid, x.block, x.cluster, x.smem_bytes);
}
template <class Archive, Either<MeasurementPolicy> T>
void fields(Archive& archive, T& x) {
  archive(x.cold, x.l2_multiple, x.samples, x.batch_ms, x.drop_factor, x.finalists,
          x.finalist_rounds);
}
template <class Archive, Either<EvaluationSetup> T>
void fields(Archive& archive, T& x) {
  archive(x.cases, x.support, x.reference, x.reference_geometry, x.policy, x.seed,
          x.memory_limit_bytes);
}
template <class Archive, Either<EvaluationJob> T>
void fields(Archive& archive, T& x) {
  archive(x.label, x.unit, x.geometry, x.workspace_bytes, x.best_ns, x.timeout_s, x.time_it);
}
template <class Archive, Either<Timing> T>
void fields(Archive& archive, T& x) {
  archive(x.samples_ns, x.median_ns, x.spread_ns, x.sm_clock_mhz, x.power_w, x.temperature_c);
}
template <class Archive, Either<Verification> T>
void fields(Archive& archive, T& x) {
  archive(x.passed, x.worst_ratio, x.evidence);
}
template <class Archive, Either<Evaluation> T>
void fields(Archive& archive, T& x) {
  archive(x.outcome, x.message, x.verification, x.timing);
}
template <class Archive, Either<EvaluationReply> T>
void fields(Archive& archive, T& x) {
  archive(x.evaluation, x.device_lost);
}
template <class Archive, Either<ComparisonRow> T>
void fields(Archive& archive, T& x) {
  archive(x.label, x.outcome, x.message, x.timing, x.ratio, x.ratio_spread);
}
template <class Archive, Either<Comparison> T>
void fields(Archive& archive, T& x) {
  archive(x.jobs, x.baselines, x.note);
}
template <class Archive, Either<ComparisonReply> T>
void fields(Archive& archive, T& x) {
  archive(x.comparison, x.device_lost);
}
template <class Archive, Either<ComparisonRequest> T>
void fields(Archive& archive, T& x) {
  archive(x.jobs, x.against_cublaslt, x.cublaslt_workspace_bytes, x.rounds, x.timeout_s);
}
template <class Archive, Either<DeviceLimits> T>
void fields(Archive& archive, T& x) {
  archive(x.arch, x.sm, x.sm_count, x.l2_bytes, x.smem_static, x.smem_optin, x.smem_per_sm,
          x.smem_reserved, x.regs_per_block, x.regs_per_sm, x.regs_per_thread, x.max_threads,
          x.max_threads_per_sm, x.max_blocks_per_sm, x.warp_size);
}
template <class Archive, Either<DeviceClass> T>
void fields(Archive& archive, T& x) {
  archive(x.name, x.arch, x.sm_count, x.l2_bytes, x.mig_profile);
}
template <class Archive, Either<DeviceInfo> T>
void fields(Archive& archive, T& x) {
  archive(x.spec, x.limits, x.device_class, x.driver, x.uuid, x.total_memory_bytes, x.code,
          x.provenance);
}
template <class Archive, Either<ErrorMessage> T>
void fields(Archive& archive, T& x) {
  archive(x.kind, x.text);
}

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

template std::string encode_message(const DeviceInfo&);
template std::string encode_message(const EvaluationSetup&);
template std::string encode_message(const EvaluationJob&);
template std::string encode_message(const ComparisonRequest&);
template std::string encode_message(const EvaluationReply&);
template std::string encode_message(const ComparisonReply&);
template std::string encode_message(const ErrorMessage&);
template std::optional<DeviceInfo> decode_message(std::string_view);
template std::optional<EvaluationSetup> decode_message(std::string_view);
template std::optional<EvaluationJob> decode_message(std::string_view);
template std::optional<ComparisonRequest> decode_message(std::string_view);
template std::optional<EvaluationReply> decode_message(std::string_view);
template std::optional<ComparisonReply> decode_message(std::string_view);
template std::optional<ErrorMessage> decode_message(std::string_view);

}  // namespace kiln
