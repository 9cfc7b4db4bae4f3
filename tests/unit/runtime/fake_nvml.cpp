// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Substitute for libnvidia-ml.so.1. What it reports comes from the environment: KILN_FAKE_BUSY,
// percentages that it returns one after the other ("80,0"), the last for ever, or "unsupported", as
// on a partition of a GPU; KILN_FAKE_PROCESSES, those that compute; and KILN_FAKE_WINDOWS, those
// that draw. Each nvmlInit_v2() starts over with the first percentage.
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kSuccess = 0;
constexpr int kNotFound = 6;
constexpr int kNotSupported = 3;
constexpr int kInsufficientSize = 7;

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

const char* next_percent = "0";

const char* setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "0" : value;
}

int count_as(const char* text, unsigned* count) {
  *count = static_cast<unsigned>(std::atoi(text));
  return *count == 0 ? kSuccess : kInsufficientSize;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int nvmlInit_v2() {
  next_percent = setting("KILN_FAKE_BUSY");
  return kSuccess;
}

EXPORTED int nvmlShutdown() {
  return kSuccess;
}

EXPORTED int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  static int one_device;
  *device = &one_device;
  return std::strcmp(uuid, "GPU-fake") == 0 ? kSuccess : kNotFound;
}

EXPORTED int nvmlDeviceGetUtilizationRates(void*, Utilization* percent) {
  if (std::strcmp(next_percent, "unsupported") == 0) return kNotSupported;
  percent->gpu = static_cast<unsigned>(std::atoi(next_percent));
  percent->memory = 0;
  if (const char* comma = std::strchr(next_percent, ',')) next_percent = comma + 1;
  return kSuccess;
}

EXPORTED int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  return count_as(setting("KILN_FAKE_PROCESSES"), count);
}

EXPORTED int nvmlDeviceGetGraphicsRunningProcesses_v3(void*, unsigned* count, void*) {
  return count_as(setting("KILN_FAKE_WINDOWS"), count);
}
