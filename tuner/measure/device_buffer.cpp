// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/device_buffer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "kiln/error.hpp"

namespace kiln {
namespace {

/// Devices align all allocations to this.
constexpr std::int64_t kDeviceAlignment = 256;

/// Long enough that a tile written one row or one tile too far is in it: a row of a large matrix
/// takes more than 4 KiB.
std::int64_t zone_bytes(std::int64_t bytes) {
  constexpr std::int64_t kLarge = 16LL << 20;
  return bytes >= kLarge ? (1LL << 20) : (4LL << 10);
}

/// Room to move the start to where its alignment is exactly what was promised, or larger than the
/// device provides by itself.
std::int64_t slack_bytes(int alignment) {
  return alignment > kDeviceAlignment ? alignment : kDeviceAlignment;
}

}  // namespace

void DeviceBuffer::require_left(const MemoryLedger& ledger, std::int64_t bytes,
                                const std::string& purpose) {
  if (bytes <= ledger.left_bytes()) return;
  // Rounded apart, so that what is not enough does not look as if it were.
  const auto tenths = [](std::int64_t amount) {
    return static_cast<double>(amount) / (1 << 20) * 10.0;
  };
  throw Error(
      ErrorKind::usage,
      fmt::format("{} needs {:.1f} MiB of device memory, but only {:.1f} MiB are left (Kiln "
                  "may use {:.1f} MiB in all). Next: use a smaller problem, or free memory on the "
                  "device",
                  purpose, std::ceil(tenths(bytes)) / 10.0,
                  std::floor(tenths(ledger.left_bytes()) - 0.1) / 10.0,
                  tenths(ledger.limit_bytes()) / 10.0));
}

DeviceBuffer::DeviceBuffer(MemoryLedger& ledger, std::int64_t bytes, const std::string& purpose)
    : ledger_(&ledger), bytes_(bytes) {
  require_left(ledger, bytes, purpose);
  address_ = ledger.device().allocate_named(bytes, purpose);
  charged_bytes_ = bytes;
  ledger.used_bytes_ += bytes;
}

DeviceBuffer DeviceBuffer::exact(MemoryLedger& ledger, std::int64_t bytes, int alignment,
                                 const std::string& purpose) {
  require_left(ledger, bytes, purpose);
  DeviceBuffer buffer;
  buffer.address_ = ledger.device().allocate_exact(bytes, alignment, purpose);
  if (buffer.address_ == 0) return buffer;
  buffer.ledger_ = &ledger;
  buffer.bytes_ = bytes;
  buffer.charged_bytes_ = bytes;
  ledger.used_bytes_ += bytes;
  return buffer;
}

DeviceBuffer DeviceBuffer::unbacked(MemoryLedger& ledger, std::int64_t bytes, int alignment,
                                    const std::string& purpose) {
  DeviceBuffer buffer;
  buffer.address_ = ledger.device().allocate_unbacked(bytes, alignment, purpose);
  if (buffer.address_ == 0) return buffer;
  buffer.ledger_ = &ledger;
  buffer.bytes_ = bytes;
  return buffer;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : ledger_(std::exchange(other.ledger_, nullptr)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)),
      charged_bytes_(std::exchange(other.charged_bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  if (this != &other) {
    release();
    ledger_ = std::exchange(other.ledger_, nullptr);
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
    charged_bytes_ = std::exchange(other.charged_bytes_, 0);
  }
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  release();
}

void DeviceBuffer::release() noexcept {
  if (address_ == 0) return;
  ledger_->device().free(address_);
  ledger_->used_bytes_ -= charged_bytes_;
  address_ = 0;
}

GuardedBuffer::GuardedBuffer(MemoryLedger& ledger, std::int64_t bytes, int alignment,
                             const std::string& purpose, MemoryUse use)
    : memory_(use == MemoryUse::predicted
                  ? DeviceBuffer::unbacked(ledger, bytes, alignment, purpose)
                  : DeviceBuffer::exact(ledger, bytes, alignment, purpose)),
      bytes_(bytes) {
  if (memory_.address() != 0) return;
  memory_ = DeviceBuffer(ledger, footprint_bytes(bytes, alignment), purpose);
  const auto start = static_cast<std::int64_t>(memory_.address()) + zone_bytes(bytes);
  const std::int64_t coarse = slack_bytes(alignment);
  const std::int64_t aligned = (start + coarse - 1) / coarse * coarse;
  const std::int64_t nudge = alignment < kDeviceAlignment ? alignment : 0;
  offset_ = aligned + nudge - static_cast<std::int64_t>(memory_.address());
  paint_zones();
}

std::int64_t GuardedBuffer::footprint_bytes(std::int64_t bytes, int alignment) {
  return bytes + 2 * zone_bytes(bytes) + 2 * slack_bytes(alignment);
}

void GuardedBuffer::paint_zones() {
  if (front_bytes() == 0) return;
  Device& device = memory_.device();
  device.fill(front(), kPattern, front_bytes());
  device.fill(back(), kPattern, back_bytes());
}

}  // namespace kiln
