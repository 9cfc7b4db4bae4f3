// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/wire.hpp"

#include <fmt/format.h>

#include <cstring>

#include "templates/digest.hpp"

namespace kiln {
namespace {

constexpr std::uint32_t kMagic = 0x4E4C494B;  // "KILN"
/// Longer than any message; a larger length means a corrupt stream, not a request for memory.
constexpr std::uint64_t kMostPayload = 1ULL << 30;

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kWireVersion;
  FrameType type = FrameType::error;
  std::uint64_t length = 0;
  char digest[32] = {};
};
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) == 48);

std::string fault_of(const Header& header) {
  if (header.magic != kMagic) return "the data is not a message of Kiln's worker protocol";
  if (header.version != kWireVersion) {
    return fmt::format(
        "a message of protocol version {}, but this program uses version {}. Next: make sure that "
        "both processes run the same build of Kiln",
        header.version, kWireVersion);
  }
  if (header.type > FrameType::error) return "a message of unknown type";
  if (header.length > kMostPayload) return "a message with an impossible length";
  return {};
}

}  // namespace

std::string encode_frame(FrameType type, std::string_view payload) {
  Header header;
  header.type = type;
  header.length = payload.size();
  const std::string digest = digest_hex(payload);
  std::memcpy(header.digest, digest.data(), sizeof(header.digest));
  std::string frame(sizeof(header), '\0');
  std::memcpy(frame.data(), &header, sizeof(header));
  frame.append(payload);
  return frame;
}

std::optional<Frame> FrameAssembler::take() {
  Header header;
  if (!broken_.empty() || buffer_.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, buffer_.data(), sizeof(header));
  broken_ = fault_of(header);
  if (!broken_.empty() || buffer_.size() - sizeof(header) < header.length) return std::nullopt;
  Frame frame;
  frame.type = header.type;
  frame.payload = buffer_.substr(sizeof(header), header.length);
  if (digest_hex(frame.payload) != std::string_view(header.digest, sizeof(header.digest))) {
    broken_ = "a message whose digest does not match its content";
    return std::nullopt;
  }
  buffer_.erase(0, sizeof(header) + header.length);
  return frame;
}

void WireReader::raw(void* to, std::size_t bytes) {
  if (bytes == 0) return;
  if (!ok_ || bytes > left_.size()) {
    ok_ = false;
    std::memset(to, 0, bytes);
    return;
  }
  std::memcpy(to, left_.data(), bytes);
  left_.remove_prefix(bytes);
}

std::size_t WireReader::count(std::size_t least_bytes) {
  std::uint64_t number = 0;
  raw(&number, sizeof(number));
  if (number > left_.size() / least_bytes) ok_ = false;
  return ok_ ? static_cast<std::size_t>(number) : 0;
}

}  // namespace kiln
