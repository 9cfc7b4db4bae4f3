// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/device_lock.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

#include "kiln/error.hpp"
#include "tools/stop_signal.hpp"

namespace kiln::tools {
namespace {

constexpr std::chrono::milliseconds kAskEvery{100};
/// Of the last second. A desktop's windows take a few percent now and then.
constexpr int kBusyPercent = 10;

struct Address {
  sockaddr_un socket{};
  socklen_t bytes = 0;
};

/// An abstract address begins with a zero byte and counts with its exact length.
Address address_of(const std::string& uuid) {
  const std::string name = "kiln-device-" + uuid;
  Address address;
  address.socket.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof(address.socket.sun_path) - 1);
  std::memcpy(address.socket.sun_path + 1, name.data(), length);
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

int open_socket() {
  return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

}  // namespace

DeviceLock::DeviceLock(DeviceLock&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
  std::swap(socket_, other.socket_);
  return *this;
}

DeviceLock::~DeviceLock() {
  if (socket_ >= 0) ::close(socket_);
}

bool DeviceLock::try_lock(const std::string& uuid) {
  const int opened = open_socket();
  const Address address = address_of(uuid);
  const auto* const to = reinterpret_cast<const sockaddr*>(&address.socket);
  // Listening makes the holder known to those that ask.
  if (opened >= 0 && ::bind(opened, to, address.bytes) == 0 && ::listen(opened, 64) == 0) {
    socket_ = opened;
    return true;
  }
  const int error = errno;
  if (opened >= 0) ::close(opened);
  if (error == EADDRINUSE) return false;
  throw Error(ErrorKind::device,
              fmt::format("Kiln cannot lock the GPU for measurements, because a local socket "
                          "cannot be opened ({}). Next: allow local sockets, or raise the limit of "
                          "open files (`ulimit -n`).",
                          std::strerror(error)));
}

std::string DeviceLock::holder(const std::string& uuid) {
  std::string text = "another process";
  const int asking = open_socket();
  if (asking < 0) return text;
  const Address address = address_of(uuid);
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (::connect(asking, reinterpret_cast<const sockaddr*>(&address.socket), address.bytes) == 0 &&
      ::getsockopt(asking, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.pid > 0) {
    text = fmt::format("process {} of user {}", peer.pid, peer.uid);
  }
  ::close(asking);
  return text;
}

DeviceLock lock_device(const Context& context, const DeviceInfo& info, IfTaken if_taken) {
  DeviceLock lock;
  if (info.provenance == Provenance::modelled || lock.try_lock(info.uuid)) return lock;
  const std::string taken = fmt::format("{} ({}) is in use for measurements by {}", info.spec,
                                        info.device_class.name, DeviceLock::holder(info.uuid));
  if (if_taken == IfTaken::refuse) {
    throw Error(
        ErrorKind::device,
        fmt::format("{}. Next: try again when that process has finished, or leave out --no-wait.",
                    taken));
  }
  context.note(taken + "; waiting until that process finishes (Ctrl-C stops waiting)");
  while (!StopSignal::requested() && !lock.try_lock(info.uuid)) {
    std::this_thread::sleep_for(kAskEvery);
  }
  return lock;
}

std::string busy_text(const DeviceInfo& info, const DeviceLoad& others) {
  if (others.busy_percent < kBusyPercent) return "";
  const std::string by = others.processes > 0 ? fmt::format("{} other process{}", others.processes,
                                                            others.processes == 1 ? "" : "es")
                                              : "other work";
  return fmt::format(
      "{} ({}): {} kept the GPU busy for {} % of the last second, so measured times will be too "
      "long and noisy. Next: stop the other processes on the GPU (`nvidia-smi` lists them). Then "
      "run this command again. `kiln tune` also needs --again",
      info.spec, info.device_class.name, by, others.busy_percent);
}

void warn_if_busy(const Context& context, const DeviceInfo& info) {
  if (info.provenance == Provenance::modelled) return;
  const auto text = busy_text(info, lasting_load_of_others(info.uuid));
  if (!text.empty()) context.warn(text);
}

}  // namespace kiln::tools
