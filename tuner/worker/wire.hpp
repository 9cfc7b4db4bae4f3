// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kiln {

/// What a frame carries between a tuning session and its worker processes.
enum class FrameType : std::uint16_t {
  hello,       ///< worker: DeviceInfo, once, when the device is open
  set_up,      ///< session: EvaluationSetup
  ready,       ///< worker: answer to set_up, empty
  evaluate,    ///< session: EvaluationJob
  evaluation,  ///< worker: Evaluation
  compare,     ///< session: ComparisonRequest
  comparison,  ///< worker: Comparison
  greeting,    ///< compiler's process: CompilerGreeting, once, when it has a compiler
  compile,     ///< session, to such a process: CompileRequest
  compiled,    ///< that process: CompileReply
  error,       ///< the Error that a request, or opening the device, ended in
};

struct Frame {
  FrameType type = FrameType::error;
  std::string payload;
};

/// Changes whenever the layout of a message does; both ends refuse frames of another version.
inline constexpr std::uint16_t kWireVersion = 9;

/// Header (magic, version, type, length, digest of the payload), then the payload.
[[nodiscard]] std::string encode_frame(FrameType type, std::string_view payload);

/// Assembles frames from bytes as they arrive. After a malformed frame it stays broken, because
/// where the next frame would start is then unknown.
class FrameAssembler {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole frame; nothing while it is incomplete or the stream is broken.
  [[nodiscard]] std::optional<Frame> take();
  /// Why the stream is broken; empty while it is not.
  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  std::string buffer_;
  std::string broken_;
};

/// Appends values in the machine's own byte order: both ends run on one machine, from one build.
class WireWriter {
 public:
  template <class... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(const T& value);
  template <class T>
  void put_range(const T& values) {
    put(static_cast<std::uint64_t>(values.size()));
    for (const auto& value : values) put(value);
  }
  std::string bytes_;
};

/// Reads what WireWriter wrote. Every access is checked; after the first fault all values read are
/// empty and ok() is false.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : left_(bytes) {}
  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  [[nodiscard]] bool ok() const { return ok_; }
  /// For a value that was read and cannot be.
  void refuse() { ok_ = false; }
  /// Everything was read, nothing is left.
  [[nodiscard]] bool finished() const { return ok_ && left_.empty(); }

 private:
  template <class T>
  void get(T& value);
  void raw(void* to, std::size_t bytes);
  /// A count of elements of at least `least_bytes` each, which must fit into what is left.
  [[nodiscard]] std::size_t count(std::size_t least_bytes);

  std::string_view left_;
  bool ok_ = true;
};

/// The last enumerator of each transmitted enum, so that a reader can refuse larger values.
template <class Enum>
struct LastEnumerator;

namespace wire_detail {
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
}  // namespace wire_detail

/// A struct is transmitted as its fields; `fields(archive, value)`, found by argument-dependent
/// look-up, names them once for both directions.
template <class T>
void WireWriter::put(const T& value) {
  using namespace wire_detail;
  if constexpr (std::is_same_v<T, bool>) {
    bytes_.push_back(value ? '\1' : '\0');
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    put(static_cast<std::uint64_t>(value.size()));
    bytes_.append(value);
  } else if constexpr (std::is_same_v<T, std::vector<std::byte>>) {
    put(static_cast<std::uint64_t>(value.size()));
    bytes_.append(reinterpret_cast<const char*>(value.data()), value.size());
  } else if constexpr (IsVector<T>::value) {
    put_range(value);
  } else if constexpr (IsArray<T>::value) {
    for (const auto& element : value) put(element);
  } else if constexpr (IsOptional<T>::value) {
    put(value.has_value());
    if (value) put(*value);
  } else {
    fields(*this, value);
  }
}

template <class T>
void WireReader::get(T& value) {
  using namespace wire_detail;
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t byte = 0;
    raw(&byte, 1);
    ok_ = ok_ && byte <= 1;
    value = byte == 1;
  } else if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> number{};
    raw(&number, sizeof(number));
    const auto wide = static_cast<std::int64_t>(number);
    ok_ = ok_ && wide >= 0 && wide <= static_cast<std::int64_t>(LastEnumerator<T>::value);
    value = ok_ ? static_cast<T>(number) : T{};
  } else if constexpr (std::is_arithmetic_v<T>) {
    raw(&value, sizeof(value));
  } else if constexpr (std::is_same_v<T, std::string> ||
                       std::is_same_v<T, std::vector<std::byte>>) {
    value.resize(count(1));
    raw(value.data(), value.size());
  } else if constexpr (IsVector<T>::value) {
    value.clear();
    const std::size_t size = count(1);
    for (std::size_t i = 0; i < size && ok_; ++i) get(value.emplace_back());
  } else if constexpr (IsArray<T>::value) {
    for (auto& element : value) get(element);
  } else if constexpr (IsOptional<T>::value) {
    bool present = false;
    get(present);
    if (present && ok_) {
      get(value.emplace());
    } else {
      value.reset();
    }
  } else {
    fields(*this, value);
  }
}

}  // namespace kiln
