#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Debian packages and the tarball into build/package/packages.
#
#   packaging/make_packages.sh [--built DIRECTORY] [--version VERSION]
#
# --built: pack what that build directory, configured for /usr, holds. --version:
# another number than the project's. What it needs besides the libraries:
# packages.txt, group "package".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/package
version=$(sed -nE 's/^project\(.* VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt)
compile=yes
while [ $# -gt 0 ]; do
  case $1 in
    --built) build=${2:?--built needs a directory}; compile=no; shift ;;
    --version) version=${2:?--version needs a number}; shift ;;
    *) sed -n '4,10p' "$0" | sed 's/^# \{0,1\}//'; exit 2 ;;
  esac
  shift
done
# The same sources give the same packages: times are those of the changelog.
stated=$(sed -nE 's/^ -- .*>  //p' packaging/debian/changelog | head -n 1)
SOURCE_DATE_EPOCH=$(date -d "$stated" +%s)
export SOURCE_DATE_EPOCH
if [ "$compile" = yes ]; then
  cmake --preset package >/dev/null
  cmake --build --preset package --target opennrt_runtime | tail -n 1
fi
rm -rf "$build/packages/_CPack_Packages"
(cd "$build" && cpack -R "$version") | sed -n 's/^CPack: - package: \(.*\) generated.$/\1/p'
rm -rf "$build/packages/_CPack_Packages"
