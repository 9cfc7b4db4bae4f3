// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/gemm/flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>

#include "kiln/error.hpp"
#include "templates/epilogue/epilogue.hpp"
#include "templates/operation/problem.hpp"
#include "templates/printable.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/command_line/whole_number.hpp"

namespace kiln::tools {
namespace {

constexpr std::array<const char*, 3> kSizes{"--m", "--n", "--k"};

/// Errors of the library speak of fields; a person typed flags.
[[noreturn]] void rethrow_with_flag(const Error& error) {
  std::string text = error.what();
  constexpr std::string_view kPrefix = "gemm: ";
  if (error.kind() == ErrorKind::usage && text.starts_with(kPrefix)) {
    text.replace(0, kPrefix.size(), "--");
    constexpr std::string_view kLong = "--alignment_";
    if (text.starts_with(kLong)) text.replace(0, kLong.size(), "--align-");
  }
  throw Error(error.kind(), text);
}

/// Kernels convert alpha and beta to the accumulator's type. A value that this changes would make
/// right kernels look wrong, and be remembered as such.
void check_scalar(const char* flag, double value, const Gemm& gemm) {
  if (!(std::fabs(value) <= largest_factor(gemm))) {
    throw Error(ErrorKind::usage,
                fmt::format("{} {}: this value is more than an accumulator of type {} can hold",
                            flag, value, to_string(gemm.acc)));
  }
  if (has_whole_factors(gemm) && value != std::trunc(value)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} {}: the value must be a whole number, because the accumulator has type s32",
                    flag, value));
  }
}

/// A factor that the expression has no use for would be ignored.
void check_named(const char* flag, double value, double neutral, const Gemm& gemm) {
  const auto* const entry = gemm.epilogue.entry();
  if (entry == nullptr || value == neutral) return;
  const std::string_view name = std::string_view(flag).substr(2);
  if (entry->expression.names(name)) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("{} {}: the epilogue does not use {}; leave out this flag", flag, value, name));
}

}  // namespace

void GemmFlags::add_to(CLI::App& verb) {
  verb_ = &verb;
  const auto add = [&](const std::string& name, auto& value, const char* type,
                       const std::string& text) {
    return verb.add_option(name, value, text)->type_name(type)->group(std::string(kProblemGroup));
  };
  add("--m", m_, "N", "Rows of D")->check(whole_number(0, kMostInt));
  add("--n", n_, "N", "Columns of D")->check(whole_number(0, kMostInt));
  add("--k", k_, "N", "Inner dimension: the columns of op(A) and the rows of op(B)")
      ->check(whole_number(0, kMostInt));
  add("--dtype", dtype_, "TYPE",
      "Type of A and B; also sets the default types of the accumulator and of D (default f16)");
  add("--a", a_, "TYPE", "Type of A (default: see --dtype)");
  add("--b", b_, "TYPE", "Type of B (default: see --dtype)");
  add("--c", c_, "TYPE", "Type of C (default: the type of D)");
  add("--d", d_, "TYPE", "Type of D (default: see --dtype)");
  add("--acc", acc_, "TYPE", "Type of the accumulator (default: see --dtype)");
  add("--layout", layout_, "XY",
      "Two letters: the storage of op(A) and of op(B). n means row-major, t means column-major "
      "(default nn)");
  for (const auto& [matrix, value] :
       {std::pair{'a', &lda_}, {'b', &ldb_}, {'c', &ldc_}, {'d', &ldd_}}) {
    const std::string text = fmt::format(
        "Leading dimension of {:c} in elements (default: no padding)", std::toupper(matrix));
    add(fmt::format("--ld{}", matrix), *value, "N", text)->check(whole_number(0));
  }
  for (const auto& [matrix, value] :
       {std::pair{'a', &align_a_}, {'b', &align_b_}, {'c', &align_c_}, {'d', &align_d_}}) {
    const std::string text =
        fmt::format("Alignment of {:c}'s address in bytes (default 16)", std::toupper(matrix));
    add(fmt::format("--align-{}", matrix), *value, "BYTES", text)->check(whole_number(1, kMostInt));
  }
  add("--alpha", alpha_, "X", "Factor of A*B (default 1)");
  add("--beta", beta_, "X", "Factor of C (default 0: C is not read)");
  add("--epilogue", epilogue_, "EXPR",
      "Formula for D instead of alpha*acc+beta*c, e.g. \"silu(acc*alpha+bias[n])\"");
}

std::vector<std::string> GemmFlags::size_flags() const {
  return {kSizes.begin(), kSizes.end()};
}

ProblemCase GemmFlags::request(std::int64_t default_size) const {
  const auto size = [&](const char* flag, std::int64_t given) {
    return verb_->get_option(flag)->count() > 0 ? given : default_size;
  };
  const auto layout = parse_layout(layout_);
  if (!layout) {
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "--layout {}: write one letter for A and one letter for B, each n or t, e.g. nt",
            layout_));
  }
  Gemm gemm = Gemm::of(checked_dtype("--dtype", dtype_), size("--m", m_), size("--n", n_),
                       size("--k", k_), layout->first, layout->second);
  if (!a_.empty()) gemm.a = checked_dtype("--a", a_);
  if (!b_.empty()) gemm.b = checked_dtype("--b", b_);
  if (!d_.empty()) gemm.c = gemm.d = checked_dtype("--d", d_);
  if (!c_.empty()) gemm.c = checked_dtype("--c", c_);
  if (!acc_.empty()) gemm.acc = checked_dtype("--acc", acc_);
  gemm.lda = lda_;
  gemm.ldb = ldb_;
  gemm.ldc = ldc_;
  gemm.ldd = ldd_;
  gemm.alignment_a = align_a_;
  gemm.alignment_b = align_b_;
  gemm.alignment_c = align_c_;
  gemm.alignment_d = align_d_;
  gemm.reads_c = beta_ != 0.0;
  try {
    gemm.epilogue = Epilogue(epilogue_);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("--{}", error.what()));
  }
  check_named("--alpha", alpha_, 1.0, gemm);
  check_named("--beta", beta_, 0.0, gemm);
  check_scalar("--alpha", alpha_, gemm);
  check_scalar("--beta", beta_, gemm);
  try {
    return problem_case({normalised(gemm), alpha_, beta_});
  } catch (const Error& error) {
    rethrow_with_flag(error);
  }
}

std::string_view short_dtype(const Gemm& gemm) {
  for (const auto name : kDTypeNames) {
    if (!is_product_type(*parse_dtype(name))) continue;
    const Gemm form = Gemm::of(*parse_dtype(name), 1, 1, 1);
    const bool same_c = !gemm.reads_c || form.c == gemm.c;
    if (form.a == gemm.a && form.b == gemm.b && same_c && form.d == gemm.d &&
        form.acc == gemm.acc) {
      return name;
    }
  }
  return "";
}

std::vector<Placement> unusual_placement(const Gemm& gemm) {
  const Gemm full = normalised(gemm);
  Gemm tight = full;
  tight.lda = tight.ldb = tight.ldc = tight.ldd = 0;
  tight.alignment_a = tight.alignment_b = tight.alignment_c = tight.alignment_d = 16;
  tight = normalised(tight);
  std::vector<Placement> found;
  const auto add = [&](const char* flag, const char* field, std::int64_t value,
                       std::int64_t usual) {
    if (value != usual) found.push_back({flag, field, value});
  };
  add("--lda", "lda", full.lda, tight.lda);
  add("--ldb", "ldb", full.ldb, tight.ldb);
  if (full.reads_c) add("--ldc", "ldc", full.ldc, tight.ldc);
  add("--ldd", "ldd", full.ldd, tight.ldd);
  add("--align-a", "alignment_a", full.alignment_a, tight.alignment_a);
  add("--align-b", "alignment_b", full.alignment_b, tight.alignment_b);
  if (full.reads_c) add("--align-c", "alignment_c", full.alignment_c, tight.alignment_c);
  add("--align-d", "alignment_d", full.alignment_d, tight.alignment_d);
  return found;
}

std::string gemm_flags_text(const GemmCase& request) {
  const Gemm gemm = normalised(request.gemm);
  std::string text = fmt::format("--m {} --n {} --k {}", gemm.m, gemm.n, gemm.k);
  if (const auto name = short_dtype(gemm); !name.empty()) {
    text += fmt::format(" --dtype {}", name);
  } else {
    text += fmt::format(" --a {} --b {} --d {} --acc {}", to_string(gemm.a), to_string(gemm.b),
                        to_string(gemm.d), to_string(gemm.acc));
    if (gemm.c != gemm.d) text += fmt::format(" --c {}", to_string(gemm.c));
  }
  if (const auto layout = layout_text(gemm.storage_a, gemm.storage_b); layout != "nn") {
    text += fmt::format(" --layout {}", layout);
  }
  for (const auto& [flag, field, value] : unusual_placement(gemm)) {
    text += fmt::format(" {} {}", flag, value);
  }
  if (!gemm.epilogue.is_default()) {
    text += fmt::format(" --epilogue {}", shell_word(gemm.epilogue.text()));
  }
  if (request.alpha != 1.0) text += fmt::format(" --alpha {}", request.alpha);
  if (request.beta != 0.0) text += fmt::format(" --beta {}", request.beta);
  return text;
}

std::string gemm_heading_text(const Gemm& gemm) {
  std::string types(short_dtype(gemm));
  if (types.empty()) {
    types = fmt::format("{} x {} -> {} ({})", to_string(gemm.a), to_string(gemm.b),
                        to_string(gemm.d), to_string(gemm.acc));
  }
  std::string finish = gemm.reads_c ? " + C" : "";
  if (!gemm.epilogue.is_default()) finish = fmt::format(", {}", gemm.epilogue.text());
  return fmt::format("gemm {} x {} x {} {} {}{}", gemm.m, gemm.n, gemm.k, types,
                     layout_text(gemm.storage_a, gemm.storage_b), finish);
}

}  // namespace kiln::tools
