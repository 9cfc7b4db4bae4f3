#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Runs a program on an emulated GPU with an installed libkiln.so and without libkiln_emulator.so,
# which must be an error that names the file, and then with it; an error of the emulator's own is
# caught as kiln::Error, too.
# usage: no_emulator.sh LIBDIR WORK PROGRAM
set -eu
libdir=$1 work=$2 program=$3
shipped=$work/shipped

# run MODEL PATTERN: the program's output on that device must have the pattern.
run() {
  output=$(KILN_DEVICE=emulated:$1 LD_LIBRARY_PATH=$shipped "$program" "$work/shipped.db" \
    "$work/shipped_cubins.db")
  echo "$output"
  echo "$output" | grep -q "$2" || {
    echo "on emulated:$1, no line like: $2"
    exit 1
  }
}

rm -rf "$shipped"
mkdir -p "$shipped"
cp -a "$libdir"/libkiln.so.* "$shipped"
run h200 "kiln::Error: .*needs the emulated GPU"
run h200 "$shipped/libkiln_emulator.so.*: cannot open"
cp -a "$libdir"/libkiln_emulator.so.* "$shipped"
run h200 "device: emulated NVIDIA H200"
run nonsense "kiln::Error: .*nonsense"
