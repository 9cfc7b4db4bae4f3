// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/device.hpp"

namespace kiln {

/// Device memory that an evaluator may use, and how much of it is in use.
class MemoryLedger {
 public:
  MemoryLedger(Device& device, std::int64_t limit_bytes)
      : device_(device), limit_bytes_(limit_bytes) {}
  [[nodiscard]] Device& device() const { return device_; }
  [[nodiscard]] std::int64_t limit_bytes() const { return limit_bytes_; }
  [[nodiscard]] std::int64_t left_bytes() const { return limit_bytes_ - used_bytes_; }

 private:
  friend class DeviceBuffer;
  Device& device_;
  std::int64_t limit_bytes_;
  std::int64_t used_bytes_ = 0;
};

/// What memory is for.
enum class MemoryUse : std::uint8_t {
  judged,     ///< it is filled, and what runs leave in it is looked at
  predicted,  ///< only times are predicted with it, where the device does so
};

/// Owns one allocation and its entry in the ledger, which must outlive it.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// `purpose` names the buffer in errors ("operand B of m=.."). Throws Error(usage) if the
  /// ledger's limit does not allow it.
  DeviceBuffer(MemoryLedger& ledger, std::int64_t bytes, const std::string& purpose);
  /// Memory with exact bounds, see Device::allocate_exact(); empty (address 0) on a device
  /// that has none.
  [[nodiscard]] static DeviceBuffer exact(MemoryLedger& ledger, std::int64_t bytes, int alignment,
                                          const std::string& purpose);
  /// Device::allocate_unbacked(), which takes nothing from the ledger; empty likewise.
  [[nodiscard]] static DeviceBuffer unbacked(MemoryLedger& ledger, std::int64_t bytes,
                                             int alignment, const std::string& purpose);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  [[nodiscard]] DevicePtr address() const { return address_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] Device& device() const { return ledger_->device(); }

 private:
  static void require_left(const MemoryLedger& ledger, std::int64_t bytes,
                           const std::string& purpose);
  void release() noexcept;
  MemoryLedger* ledger_ = nullptr;
  DevicePtr address_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t charged_bytes_ = 0;  ///< to the ledger
};

/// Device memory that a kernel cannot leave unnoticed. On a device with exact allocations every
/// access outside is a fault, and poisoned memory counts as unwritten. Elsewhere it is between two
/// red zones, so that a write outside is found afterwards. The zones' byte is a NaN or an enormous
/// number in every floating-point type, so that a read outside that reaches the result is found as
/// well. It differs from the poison that outputs are filled with.
class GuardedBuffer {
 public:
  static constexpr int kPattern = 0x7F;
  static constexpr int kPoison = 0xFF;
  /// For the second of two runs that must agree: then what neither of them writes differs.
  static constexpr int kSecondPoison = 0xfd;

  GuardedBuffer() = default;
  /// The data starts at an address that is a multiple of `alignment` (a power of two) and, below
  /// 256, of no larger one. Paints the zones.
  GuardedBuffer(MemoryLedger& ledger, std::int64_t bytes, int alignment, const std::string& purpose,
                MemoryUse use = MemoryUse::judged);
  /// The most that the constructor will take from the ledger.
  [[nodiscard]] static std::int64_t footprint_bytes(std::int64_t bytes, int alignment);

  [[nodiscard]] DevicePtr data() const { return memory_.address() + offset_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Length of the zone before the data, which starts at the allocation's address. The zones of
  /// exact memory are empty.
  [[nodiscard]] std::int64_t front_bytes() const { return offset_; }
  [[nodiscard]] std::int64_t back_bytes() const { return memory_.bytes() - offset_ - bytes_; }
  [[nodiscard]] DevicePtr front() const { return memory_.address(); }
  [[nodiscard]] DevicePtr back() const { return data() + bytes_; }

  void paint_zones();
  void clear() { memory_.device().fill(data(), 0, bytes_); }
  /// Fills the data with a conspicuous byte and marks it as unwritten.
  void poison(int pattern = kPoison) {
    memory_.device().fill(data(), static_cast<std::uint8_t>(pattern), bytes_);
    memory_.device().forget_writes(data(), bytes_);
  }

 private:
  DeviceBuffer memory_;
  std::int64_t offset_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace kiln
