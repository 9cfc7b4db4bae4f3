// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Executes corrupted kernels: whatever other registers, numbers, labels, instructions and guards do
// to a compiler's PTX, it is refused with a reason, ends, or is ended by a finding or a limit.
// The point of the test is what sanitizers would see besides.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/emulated/async/tensor_map.hpp"
#include "runtime/emulated/check/checker.hpp"
#include "runtime/emulated/device/emulated_module.hpp"
#include "runtime/emulated/engine/launch.hpp"

namespace kiln::emulated {
namespace {

/// A kernel as NVRTC made it, or in its manner, its name, shape, and parameters: buffers, then
/// numbers.
struct Sample {
  std::string file;
  std::string name;
  Extent grid;
  std::uint32_t threads;
  Extent cluster;
  int buffers;
  std::vector<std::int32_t> numbers;
};

const std::vector<Sample> kSamples{
    {"sums", "sums", {3, 1, 1}, 128, {}, 2, {850}},
    {"total", "total", {5, 1, 1}, 32, {}, 4, {}},
    {"lists", "sorted", {2, 1, 1}, 32, {}, 2, {8}},
    {"pipeline", "doubled", {1, 1, 1}, 128, {}, 2, {7}},
    {"copy_ring", "gemm", {2, 1, 1}, 128, {}, 3, {100, 96}},
    {"hopper", "gemm", {2, 1, 1}, 160, {}, 0, {3}},
    {"cluster", "shared_copy", {4, 1, 1}, 64, {2, 1, 1}, 2, {}},
    {"exchange", "exchanged", {4, 1, 1}, 64, {2, 1, 1}, 2, {}},
    {"zoo", "zoo", {2, 1, 1}, 128, {}, 2, {7}},
};

std::string text_of(const Sample& sample) {
  std::ifstream file(fmt::format("{}/tests/data/ptx/{}.ptx", KILN_SOURCE_DIR, sample.file));
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr std::int64_t kBufferBytes = 32 << 10;

/// Runs a text in place of a sample's. Throws what the reader or the launch throws.
LaunchResult run(const Sample& sample, const std::string& text, int host_threads) {
  GlobalMemory memory(std::int64_t{64} << 20);
  std::vector<std::byte> parameters;
  const auto append = [&](const auto& value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    parameters.insert(parameters.end(), bytes, bytes + sizeof value);
  };
  const auto buffer = [&] {
    const Allocation& at = memory.allocate(kBufferBytes);
    std::memset(at.host(at.address), 0, kBufferBytes);
    std::memset(at.written.get(), 1, kBufferBytes);
    return at.address;
  };
  for (int i = 0; i < sample.buffers; ++i) append(buffer());
  // The tensor maps of the kernel that takes no buffer.
  for (int i = 0; sample.buffers == 0 && i < 3; ++i) {
    TensorSpec spec;
    spec.type = i < 2 ? TensorType::bf16 : TensorType::f32;
    spec.rank = 2;
    spec.address = buffer();
    spec.dims = {i < 2 ? 200U : 32U, 64};
    spec.strides = {i < 2 ? 400U : 128U};
    spec.box = {i < 2 ? 64U : 16U, i == 1 ? 16U : 64U};
    spec.swizzle = i < 2 ? Swizzle::bytes128 : Swizzle::none;
    const EncodedTensorMap encoded = encode_tensor_map(spec);
    EXPECT_EQ(encoded.fault, "");
    append(encoded.map);
  }
  for (const std::int32_t number : sample.numbers) append(number);

  const EmulatedModule module(text, {sample.name}, memory);
  LaunchState state;
  state.program =
      *static_cast<const std::shared_ptr<const Program>*>(module.functions().front().handle);
  state.memory = &memory;
  state.grid = sample.grid;
  state.block = {sample.threads, 1, 1};
  state.cluster = sample.cluster;
  state.parameters = parameters;
  LaunchOptions options;
  options.host_threads = host_threads;
  options.timeout_s = 60.0;
  options.instruction_limit = 50'000;
  const auto shadow = std::make_shared<GlobalShadow>();
  options.make_observer = [shadow] { return std::make_unique<Checker>(shadow); };
  return run_grid(std::move(state), options);
}

/// Mutates PTX in units that the reader recognises: most results are still modules.
class KernelMutator {
 public:
  explicit KernelMutator(unsigned seed) : random_(seed) {
    for (const Sample& sample : kSamples) {
      for (const std::string& line : lines_of(text_of(sample))) {
        if (!is_instruction(line)) continue;
        const auto [at, size] = opcode_of(line);
        opcodes_.push_back(line.substr(at, size));
      }
    }
  }

  std::string next(const std::string& text) {
    std::vector<std::string> lines = lines_of(text);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (is_instruction(lines[i])) places.push_back(i);
    }
    for (std::size_t times = 1 + pick(3); times > 0; --times) {
      mutate(lines, places[pick(places.size())], places[pick(places.size())]);
    }
    std::string mutated;
    for (const std::string& line : lines) mutated += line + "\n";
    return mutated;
  }

 private:
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }
  /// Declarations, labels and braces are left alone.
  static bool is_instruction(const std::string& line) {
    if (line.empty() || line.back() != ';' || line.find(": ") != std::string::npos) return false;
    return line[0] == '@' || std::isalpha(static_cast<unsigned char>(line[0])) != 0;
  }
  /// The opcode of an instruction, after its guard.
  static std::pair<std::size_t, std::size_t> opcode_of(const std::string& line) {
    const std::string blanks = " \t";
    std::size_t at = 0;
    if (line[0] == '@') at = line.find_first_not_of(blanks, line.find_first_of(blanks));
    at = std::min(at, line.size());
    return {at, std::min(line.find_first_of(blanks + ";", at), line.size()) - at};
  }
  std::size_t pick(std::size_t below) { return random_() % below; }

  void mutate(std::vector<std::string>& lines, std::size_t at, std::size_t other) {
    static const std::vector<std::string> kNumbers{
        "0",   "1",  "-1",  "2",    "7",     "16",      "31",         "32",          "33",
        "127", "-8", "255", "1024", "65535", "1048576", "2147483647", "-2147483648", "4294967295"};
    static constexpr std::array kGuards{"@%p1 ", "@!%p2 "};
    std::string& line = lines[at];
    switch (pick(9)) {
      case 0:
        std::swap(line, lines[other]);
        break;
      case 1:
        line = lines[other];
        break;
      case 2:
        line.clear();
        break;
      case 3:
        line += " " + lines[other];
        break;
      case 4:
        // Another guard, or none.
        if (!is_instruction(line)) break;
        line.erase(0, opcode_of(line).first);
        if (const std::size_t guard = pick(3); guard > 0) line.insert(0, kGuards[guard - 1]);
        break;
      case 5: {
        if (!is_instruction(line)) break;
        const auto [from, size] = opcode_of(line);
        line.replace(from, size, opcodes_[pick(opcodes_.size())]);
        break;
      }
      case 6:
        replace_word(line, "0123456789", kNumbers[pick(kNumbers.size())]);
        break;
      default:
        // A register or label replaced by another of the same kernel.
        replace_word(line, "%$", word_of(lines[other], "%$"));
        break;
    }
  }

  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == '$' ||
           c == '.' || c == '-';
  }
  /// The words of a line that begin with one of these characters.
  static std::vector<std::pair<std::size_t, std::size_t>> words_of(const std::string& line,
                                                                   const std::string& first) {
    std::vector<std::pair<std::size_t, std::size_t>> words;
    for (std::size_t at = 0; at < line.size();) {
      std::size_t end = at;
      while (end < line.size() && is_word(line[end])) ++end;
      if (end > at && first.find(line[at]) != std::string::npos) words.emplace_back(at, end - at);
      at = end + 1;
    }
    return words;
  }
  std::string word_of(const std::string& line, const std::string& first) {
    const auto words = words_of(line, first);
    if (words.empty()) return "%r1";
    const auto [at, size] = words[pick(words.size())];
    return line.substr(at, size);
  }
  void replace_word(std::string& line, const std::string& first, const std::string& by) {
    const auto words = words_of(line, first);
    if (words.empty()) return;
    const auto [at, size] = words[pick(words.size())];
    line.replace(at, size, by);
  }

  std::mt19937_64 random_;
  std::vector<std::string> opcodes_;
};

TEST(FuzzKernels, TheSamplesThemselvesRun) {
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(sample.file);
    const LaunchResult result = run(sample, text_of(sample), 3);
    EXPECT_FALSE(result.fault) << result.fault->describe();
    for (const Report& report : result.reports) ADD_FAILURE() << report.describe();
  }
}

TEST(FuzzKernels, SpoiltOnesEndOneWayOrAnother) {
#if defined(__SANITIZE_THREAD__)
  constexpr int kRounds = 15;
#else
  constexpr int kRounds = 150;
#endif
  int refused = 0;
  int ended = 0;
  int stopped = 0;
  for (std::size_t i = 0; i < kSamples.size(); ++i) {
    const Sample& sample = kSamples[i];
    const std::string original = text_of(sample);
    KernelMutator mutator(static_cast<unsigned>(i) + 1);
    for (int round = 0; round < kRounds; ++round) {
      const std::string text = mutator.next(original);
      SCOPED_TRACE(text);
      try {
        // On one host thread: blocks that race on global memory would do so on the host's.
        const LaunchResult result = run(sample, text, 1);
        ++(result.fault ? stopped : ended);
        if (result.fault) {
          EXPECT_FALSE(result.fault->describe().empty());
        }
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::device) << error.what();
        ++refused;
      }
    }
  }
  // All three must happen, or this would test only one.
  const int all = kRounds * static_cast<int>(kSamples.size());
  fmt::print("{} refused, {} ended, {} stopped of {}\n", refused, ended, stopped, all);
  EXPECT_GT(refused, all / 10);
  EXPECT_GT(ended, all / 10);
  EXPECT_GT(stopped, all / 10);
}

}  // namespace
}  // namespace kiln::emulated
