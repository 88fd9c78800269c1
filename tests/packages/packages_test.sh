#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the packages twice, as two versions, and puts them through their lives in
# a clean root of the distribution. Needs root, debootstrap, lintian, patchelf and
# the distribution's mirror; exit code 77 (skipped) says which is missing.
#
#   packages_test.sh SOURCE_DIRECTORY TEST_DOUBLES_DIRECTORY [BUILT]
#
# BUILT: a build directory configured for /usr, packed as it is; else build/package
# is built first.
set -euo pipefail
source=$(realpath "$1") doubles=$(realpath "$2")
here=$source/tests/packages
build=${3:-$source/build/package}
checks=0

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }
ok() { checks=$((checks + 1)); echo "ok $checks: $*"; }
[ "$(id -u)" = 0 ] || skip "only root can make a root directory"
for tool in debootstrap lintian patchelf dpkg-shlibdeps pkg-config unshare; do
  command -v $tool >/dev/null || skip "$tool is not installed (packaging/packages.txt, group package)"
done

version=$(sed -nE 's/^project\(.* VERSION ([0-9.]+) .*/\1/p' "$source/CMakeLists.txt")
next=${version%.*}.$((${version##*.} + 1))
work=$(mktemp -d)
root=$work/root
cleanup() {
  [ -z "${client_pid:-}" ] || kill "$client_pid" 2>/dev/null || true
  for place in packages var/cache/apt/archives; do
    ! mountpoint -q "$root/$place" || umount -l "$root/$place"
  done
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# Packages of two versions.
mkdir -p "$work/packages/old" "$work/packages/new"
if [ -n "${3:-}" ]; then
  "$source/packaging/make_packages.sh" --built "$build" >/dev/null
else
  "$source/packaging/make_packages.sh" >/dev/null
fi
cp "$build"/packages/*_"$version"_*.deb "$work/packages/old"
archive=$(ls "$build"/packages/opennrt-"$version"-linux-*.tar.gz)
for package in core plugin-sunda plugin-cayman plugin-mariana emulator tools dev; do
  [ -s "$build"/packages/opennrt-"$package"-dbgsym_"$version"_*.ddeb ] || fail "no -dbgsym of $package"
done
# Debug information that a debugger finds by the build id of the file.
dpkg-deb -x "$work"/packages/old/opennrt-core_*.deb "$work/core"
dpkg-deb -x "$build"/packages/opennrt-core-dbgsym_"$version"_*.ddeb "$work/core"
id=$(readelf -n "$work"/core/usr/lib/*/opennrt/libnrt.so.1 | sed -n 's/.*Build ID: //p')
symbols=$work/core/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
[ -f "$symbols" ] || fail "no debug information for build id '$id'"
grep -q '\.debug_line' <<<"$(readelf -SW "$symbols")" || fail "$symbols has no line numbers"
grep -q 'core/api/lifecycle.cpp' <<<"$(readelf --debug-dump=info --dwarf-depth=1 "$symbols" 2>/dev/null)" ||
  fail "$symbols does not name the sources, by their places in the project"
ok "packages and their -dbgsym"
cp "$archive" "$work/packages/"
"$source/packaging/make_packages.sh" --built "$build" --version "$next" >/dev/null
cp "$build"/packages/*_"$next"_*.deb "$work/packages/new"
rm -f "$build"/packages/*"$next"*

# What the rules of the distribution say.
lintian --tag-display-limit 0 --show-overrides "$work"/packages/old/*.deb 2>/dev/null >"$work/lintian" || true
! grep '^E:' "$work/lintian" || fail "lintian"
[ "$(grep -c '^O:' "$work/lintian")" = 1 ] || fail "one override was expected: $(grep '^O:' "$work/lintian")"
ok "lintian: no error, one override: $(grep '^O:' "$work/lintian")"
for package in "$work"/packages/old/*.deb; do
  listing=$(dpkg-deb -c "$package")
  for file in copyright changelog.gz; do
    grep -q "/usr/share/doc/.*/$file$" <<<"$listing" || fail "$package has no $file"
  done
  ! grep -E '/opt/|[^-]libnrt1|neuron' <<<"$(grep -v '/ndl/\|/nds/' <<<"$listing")" ||
    fail "$package has a name of the vendor"
done
ok "copyright, changelog, names"
while read -r package file; do
  grep -qE "[ /]$file$" <<<"$(dpkg-deb -c "$work"/packages/old/opennrt-"${package}"_*.deb)" ||
    fail "opennrt-$package has no $file"
done <<'FILES'
core etc/opennrt/nrt.yaml
core libnrt.so.1
core man5/nrt.yaml.5.gz
emulator user/opennrt-emud.socket
emulator man1/opennrt-emud.1.gz
tools bin/opennrt
tools man1/opennrt-top.1.gz
tools user/opennrt-monitor.service
tools bash-completion/completions/opennrt
tools examples/vecadd.yaml
dev opennrt-conform
dev opennrt-conform-checks
dev man1/opennrt-conform.1.gz
FILES
ok "files are in their packages"
if command -v systemd-analyze >/dev/null; then
  for package in emulator tools; do dpkg-deb -x "$work"/packages/old/opennrt-${package}_*.deb "$work/units"; done
  sed -i "s|ExecStart=/usr/bin|ExecStart=$work/units/usr/bin|" "$work"/units/usr/lib/systemd/user/*.service
  said=$(systemd-analyze --user --man=no verify "$work"/units/usr/lib/systemd/user/opennrt-* 2>&1 |
    grep opennrt || true)
  [ -z "$said" ] || fail "units: $said"
  ok "units"
fi

# Programs and plugins of others build from the packages alone.
for package in core dev; do dpkg-deb -x "$work"/packages/old/opennrt-${package}_*.deb "$work/dev"; done
PKG_CONFIG_PATH=$(dirname "$work"/dev/usr/lib/*/pkgconfig/opennrt.pc)
export PKG_CONFIG_PATH
cat >"$work/client.c" <<'C'
#include <stdio.h>
#include "nrt/nrt.h"
int main(void) {
  uint32_t n = 1;
  puts(nrt_get_status_as_str(nrt_get_visible_vnc_count(&n)));
  return n;
}
C
# shellcheck disable=SC2046
cc "$work/client.c" -o "$work/client" $(pkg-config --cflags --libs opennrt)
OPENNRT_DEVICE=emulator "$work/client" >/dev/null 2>&1 || [ $? -le 2 ] || fail "the linked client does not run"
readelf -d "$work/client" | grep -q 'NEEDED.*libnrt\.so\.1' || fail "the client is not linked with libnrt.so.1"
echo '#include "opennrt/arch.h"' | cc -fsyntax-only -xc $(pkg-config --cflags opennrt-plugin) -
mkdir "$work/cmake"
cat >"$work/cmake/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.22)
project(client C CXX)
find_package(OpenNRT REQUIRED)
add_executable(client ../client.c)
target_link_libraries(client PRIVATE OpenNRT::nrt)
file(WRITE ${CMAKE_BINARY_DIR}/plugin.c "#include <opennrt/port.h>\n")
add_library(plugin MODULE ${CMAKE_BINARY_DIR}/plugin.c)
target_link_libraries(plugin PRIVATE OpenNRT::plugin)
C
cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$work/dev/usr" >"$work/cmake.log" 2>&1 &&
  cmake --build "$work/cmake/build" >>"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; fail "the CMake package"; }
"$work/cmake/build/client" >/dev/null 2>&1 || [ $? -le 2 ] || fail "the client of the CMake package does not run"
ok "opennrt-dev: pkg-config, CMake"

# A clean root, kept for the next run.
cache=$build/packages-root.tar
if [ ! -s "$cache" ]; then
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  debootstrap --variant=minbase "$suite" "$work/fresh" "${mirror:-http://deb.debian.org/debian}" >"$work/debootstrap.log" ||
    { tail -n 5 "$work/debootstrap.log"; skip "debootstrap cannot fetch $suite from ${mirror:-the mirror}"; }
  tar -C "$work/fresh" -cf "$cache.partial" .
  mv "$cache.partial" "$cache"
  rm -rf "$work/fresh"
fi
mkdir -p "$root" "$build/packages-apt"
tar -C "$root" -xf "$cache"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/packages" "$root/var/cache/apt/archives"
mount --bind "$work/packages" "$root/packages"
mount --bind "$build/packages-apt" "$root/var/cache/apt/archives"
cp -r "$doubles" "$work/packages/doubles"
cc -I "$source/core/include" "$here/patient_client.c" -o "$work/packages/patient_client"
model=vecadd.neff
if [ -f "${OPENNRT_CORPUS:-}/vecadd_2tiles_sunda_a.neff" ]; then
  cp "$OPENNRT_CORPUS/vecadd_2tiles_sunda_a.neff" "$work/packages/real.neff"
  model=real.neff
fi
cp "$here/in_root.sh" "$work/packages/in_root.sh"
# A process namespace of its own: what is left running ends with it.
unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" chroot "$root" /usr/bin/env -i \
  PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive OPENNRT_DEVICE=emulator \
  OPENNRT_EMULATOR_HBM_BYTES=256M OLD="$version" NEW="$next" MODEL="/packages/$model" \
  bash /packages/in_root.sh >"$work/in_root.log" 2>&1 || { cat "$work/in_root.log"; exit 1; }
cat "$work/in_root.log"
inside=$(grep -c '^ok ' "$work/in_root.log")
echo "$((checks + inside)) checks held in a clean root ($model)"
