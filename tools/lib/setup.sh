# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Shared by quickstart and run-tests: headings, Debian packages, CUDA. Source it; `root` is the
# checkout. Its messages go to stderr.

# What building the program needs, and what the tests need beside it. One list, Debian 12 names.
kiln_build_packages=(
  g++ cmake ninja-build git ca-certificates
  libfmt-dev libsqlitecpp-dev libsqlite3-dev nlohmann-json3-dev libcli11-dev
  libtomlplusplus-dev libxxhash-dev zlib1g-dev
)
kiln_test_packages=(
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev pkg-config clang-format-14
  python3 zsh fish groff-base
)
kiln_tidy_packages=(clang-tidy-14)

started=$SECONDS

# step TEXT: a heading with the time since the start
step() {
  local seconds=$((SECONDS - started))
  printf '\n== [%02d:%02d] %s\n' $((seconds / 60)) $((seconds % 60)) "$*" >&2
}

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# as_root COMMAND...: runs it, with sudo unless we are root already
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -- "$@"
  fi
}

# install_packages NAME...: what is missing of them, through apt-get
install_packages() {
  local name missing=()
  command -v dpkg-query >/dev/null || {
    echo "Not a Debian system: assuming that these are installed: $*" >&2
    return 0
  }
  for name in "$@"; do
    # shellcheck disable=SC2016  # the variable is dpkg-query's
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
      missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    die "these packages are missing: ${missing[*]}
Have them installed and start again; as root: apt-get update && apt-get install ${missing[*]}"
  fi
  echo "Installing: ${missing[*]}" >&2
  # One package source of many may be out of reach and not matter.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 ||
    echo "apt-get update failed; going on with the package lists that are here" >&2
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null </dev/null ||
    die "apt-get could not install: ${missing[*]}
Its complaint is above. Install them yourself (as root, with the network up), then start again."
}

# cuda_toolkit_usable: whether the build would find a toolkit by itself (its own search decides)
cuda_toolkit_usable() {
  cmake -P "$root/cmake/KilnFindCuda.cmake" >/dev/null 2>&1
}

# prepare_cuda HIDE: sets cuda_flags to what cmake needs. With HIDE=1, or where there is no
# toolkit of the right age, CUDA comes from NVIDIA's Python packages.
prepare_cuda() {
  cuda_flags=("-DKILN_CUDA_ROOT=")
  if [ "$1" -eq 0 ] && cuda_toolkit_usable; then
    return 0
  fi
  "$root/tools/cuda-from-wheels"
  cuda_flags=("-DKILN_CUDA_ROOT=$root/build/cuda/nvidia/cu13")
}

# jobs: one per core, but no more than the memory can feed at 1.5 GiB each
build_jobs() {
  local cores memory_kib
  cores=$(nproc)
  memory_kib=$(awk '/MemAvailable/ {print $2}' /proc/meminfo)
  local fit=$((memory_kib / (1536 * 1024)))
  [ "$fit" -ge 1 ] || fit=1
  echo $((cores < fit ? cores : fit))
}
