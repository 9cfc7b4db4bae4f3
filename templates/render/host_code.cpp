// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/host_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>

#include "templates/render/code_scanner.hpp"
#include "templates/render/conditional_groups.hpp"
#include "templates/render/header_names.hpp"

namespace kiln {
namespace {

/// Names of the host that do one thing, with a space before and behind each, and what does it in a
/// kernel.
struct HostNames {
  std::string_view of_c;
  std::string_view of_std;  ///< others, which mean something else without "std::"
  std::string_view instead;
};
constexpr std::array<HostNames, 8> kHostNames{{
    {" stderr stdout fprintf fputs fputc puts putchar putc fwrite fflush perror sprintf snprintf "
     "vprintf vfprintf vsnprintf cout cerr endl ",
     " clog print println format ostream ", "print with printf"},
    {"",
     " vector string string_view map multimap set multiset unordered_map unordered_set list "
     "forward_list deque queue priority_queue stack valarray any unique_ptr shared_ptr weak_ptr "
     "make_unique make_shared allocator ",
     "use an array of fixed size, __shared__ memory or the workspace"},
    {" qsort bsearch ", " sort stable_sort partial_sort nth_element inplace_merge ",
     "sort with cub::BlockRadixSort from <cub/cub.cuh>, or write your own sort"},
    {" exit _Exit quick_exit abort atexit errno ",
     " terminate raise signal exception runtime_error logic_error invalid_argument out_of_range ",
     "end a launch with __trap(); end a thread with return"},
    {" rand srand srandom drand48 ",
     " random_device mt19937 mt19937_64 default_random_engine uniform_real_distribution "
     "uniform_int_distribution normal_distribution ",
     "generate random numbers with <curand_kernel.h>"},
    {" clock_gettime gettimeofday ", " time difftime ", "read the clock with clock64()"},
    {"",
     " thread this_thread jthread mutex lock_guard unique_lock scoped_lock condition_variable "
     "async "
     "future promise call_once ",
     "synchronise threads of a block with __syncthreads(), and use atomics between blocks"},
    {" stdin scanf fscanf sscanf fopen fclose fread fgets getenv ",
     " cin getline system ifstream ofstream fstream stringstream ostringstream istringstream stoi "
     "stof stod to_string filesystem ",
     "read the value on the host, and pass it to the kernel as an operand or a scalar"},
}};

constexpr std::string_view kElsewhere = "put host code under #if !defined(KILN_RENDERED)";

enum class Scope : std::uint8_t { global, standard };

std::string_view find_instead(std::string_view name, Scope scope) {
  const std::string word = fmt::format(" {} ", name);
  const auto lists = [&](std::string_view names) {
    return names.find(word) != std::string_view::npos;
  };
  const auto found = std::ranges::find_if(kHostNames, [&](const HostNames& group) {
    return lists(group.of_c) || (scope == Scope::standard && lists(group.of_std));
  });
  return found == kHostNames.end() ? std::string_view() : found->instead;
}

/// cudaMalloc and so on.
bool is_of_runtime(std::string_view name) {
  constexpr std::string_view kStart = "cuda";
  return name.starts_with(kStart) && name.size() > kStart.size() &&
         std::isupper(static_cast<unsigned char>(name[kStart.size()])) != 0;
}

/// The standard header that Kiln has for kernels and in which the name occurs; "": there is none.
std::string header_of(std::string_view name) {
  for (const SuppliedHeader& header : supplied_headers()) {
    if (!is_standard_header(header.name)) continue;
    const auto words = find_words(header.text);
    if (std::ranges::find(words, name, &ScannedWord::text) != words.end()) return header.name;
  }
  return {};
}

std::string explain_name(std::string_view spelled, std::string_view instead) {
  return fmt::format("kernels cannot use \"{}\", which exists only on the host. Next: {}; {}.",
                     spelled, instead, kElsewhere);
}

/// Of a name that std has not, as far as headers of Kiln say that.
std::string explain_standard(std::string_view name) {
  const std::string spelled = fmt::format("std::{}", name);
  if (const auto instead = find_instead(name, Scope::standard); !instead.empty()) {
    return explain_name(spelled, instead);
  }
  std::string next;
  if (is_advised_libcuxx_header(name)) {
    next = advice_on_missing_header(name);
  } else if (const std::string header = header_of(name); !header.empty()) {
    next = fmt::format("include <{}>", header);
  } else {
    next = fmt::format(
        "if a <cuda/std/...> header declares cuda::{0}, include that header; otherwise remove {0} "
        "from the kernels",
        spelled);
  }
  return fmt::format(
      "the kernel's code uses \"{}\", but no included header declares it for device code. Next: "
      "{}.",
      spelled, next);
}

std::string_view quoted_behind(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const auto rest = text.substr(at + mark.size());
  return rest.substr(0, rest.find('"'));
}

}  // namespace

std::string why_host_code(const LoggedError& error) {
  const std::string_view message = error.message;
  if (message.starts_with("A function without execution space annotations") ||
      message.starts_with("A function explicitly marked as a __host__ function")) {
    return fmt::format(
        "\"{}\" is a host function, but Kiln compiles only device code. Next: if "
        "kernels call this function, write __device__ before it; otherwise {}.",
        marked_word(error), kElsewhere);
  }
  if (message.starts_with("A namespace scope variable without memory space annotations")) {
    return fmt::format(
        "\"{}\" is a host variable, but Kiln compiles only device code. Next: if "
        "kernels use this variable, write constexpr, __constant__ or __device__ before it; "
        "otherwise {}.",
        marked_word(error), kElsewhere);
  }
  if (message.starts_with("device code does not support exception handling")) {
    return fmt::format(
        "kernels cannot use exceptions. Next: end a launch with "
        "__trap(), or a thread with return; {}.",
        kElsewhere);
  }
  constexpr std::string_view kNoMember = "namespace \"std\" has no member \"";
  if (const auto name = quoted_behind(message, kNoMember); !name.empty()) {
    return explain_standard(name);
  }
  if (message.starts_with("name followed by \"::\" must be")) {
    const auto name = marked_word(error);
    const bool is_known =
        is_advised_libcuxx_header(name) || !find_instead(name, Scope::standard).empty();
    return is_known ? explain_standard(name) : "";
  }
  const auto name = quoted_behind(message, "identifier \"");
  if (name.empty()) return {};
  if (is_of_runtime(name)) {
    return explain_name(name,
                        "leave memory allocation, copies and launches to Kiln: write \"workspace\" "
                        "and \"launch\" lines");
  }
  // Behind `using namespace std`.
  const bool is_template = error.shown.starts_with(fmt::format("{}<", name));
  const auto instead = find_instead(name, is_template ? Scope::standard : Scope::global);
  return instead.empty() ? "" : explain_name(name, instead);
}

}  // namespace kiln
