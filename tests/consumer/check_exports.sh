#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# libkiln.so exports the public interface and nothing of the libraries inside it: an application may
# have another SQLite or {fmt}. And neither file needs a library that a machine with a GPU but
# without developer tools might lack.
# usage: check_exports.sh LIBDIR PROGRAM
set -eu
library=$1/libkiln.so program=$2
emulator=$(echo "$1"/libkiln_emulator.so.*.*.*)
failed=0

# Type information of the standard library is weak and shared by design.
foreign=$(nm -DC --defined-only "$library" |
  grep -vE ' (vtable|typeinfo|typeinfo name|guard variable|non-virtual thunk to)? ?(for )?kiln::' |
  grep -vE ' [VWu] .*\bstd::' || true)
if [ -n "$foreign" ]; then
  echo "exported, but no part of the public interface:"
  echo "$foreign"
  failed=1
fi
if nm -DC --defined-only "$library" | grep -qE 'kiln::(TuningStore|Catalog|Compiler)::'; then
  echo "classes behind the public interface are exported"
  failed=1
fi
for wanted in 'kiln::Library::open' 'kiln::Library::get' 'kiln::Kernel::launch' \
  'kiln::OperationKernel::launch' 'kiln::AnyKernel::match' \
  'typeinfo for kiln::Error'; do
  nm -DC --defined-only "$library" | grep -q " $wanted" || {
    echo "not exported: $wanted"
    failed=1
  }
done

shown=$(nm -DC --defined-only "$emulator" | sed 's/.* //' | sort | tr '\n' ' ')
if [ "$shown" != "kiln_emulator_open kiln_emulator_version " ]; then
  echo "$emulator shows: $shown"
  failed=1
fi

allowed='libstdc\+\+|libm|libgcc_s|libc|libpthread|libdl|librt|ld-linux.*'
for file in "$library" "$emulator" "$program"; do
  needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE "^($allowed)\.so" || true)
  if [ -n "$needed" ]; then
    echo "$file needs: $needed"
    failed=1
  fi
done
exit $failed
