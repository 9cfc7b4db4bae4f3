#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Builds and runs a program with what pkg-config says, from a copy of the installed tree elsewhere:
# kiln.pc must not depend on where it was first installed.
# usage: pkg_config.sh PKG_CONFIG COMPILER LIBDIR WORK SOURCE
set -eu
pkg_config=$1 compiler=$2 libdir=$3 work=$4 source=$5

moved=$work/moved
rm -rf "$moved"
mkdir -p "$moved"
cp -a "${libdir%/lib*}/." "$moved"
moved_libdir=$moved${libdir#"${libdir%/lib*}"}

export PKG_CONFIG_PATH="$moved_libdir/pkgconfig"
# Its words are quoted for a shell: the folder may have spaces.
eval "set -- $("$pkg_config" --cflags --libs kiln)"
case "$*" in
  *"$moved"*) ;;
  *) echo "kiln.pc points elsewhere: $*"; exit 1 ;;
esac
"$compiler" -std=c++17 "$source" -o "$work/by_pkg_config" "$@"
env -u LD_LIBRARY_PATH "$work/by_pkg_config" "$work/tuning.db" "$work/cubins.db"
