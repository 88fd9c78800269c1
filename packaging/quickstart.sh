#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# From a bare Debian or Ubuntu to a running model.
#
#   packaging/quickstart.sh demo     install what is missing, build the runtime, run the example model
#   packaging/quickstart.sh test [--labels LABEL...] [-j N]
#                                    install what is missing, build all, run the test suite (all labels)
#   packaging/quickstart.sh build    install what is missing, build all
#   packaging/quickstart.sh deps [--dev | --package]
#                                    only install (--dev: clang, sanitizers, formatter; --package: packaging tools)
#
# Installs through apt only, with sudo when not root. Without either it prints
# the one line to run and exits 3. With nothing to install it needs neither
# root nor a network.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=release
build=$root/build/$preset
extra=()  # options of cmake

say() { printf '%s\n' "$*"; }
usage() { sed -n '4,15p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//'; }

distribution() {
  local id=unknown version=
  if [ -r /etc/os-release ]; then
    id=$(. /etc/os-release && printf %s "${ID:-unknown}")
    version=$(. /etc/os-release && printf %s "${VERSION_ID:-}")
  fi
  printf '%s-%s' "$id" "$version"
}

# wanted GROUP...: package names of the groups that apply here
wanted() {
  local group
  for group in "$@"; do
    awk -v g="$group" -v gd="$group-$(distribution)" '$1 == g || $1 == gd {print $2}' \
      "$root/packaging/packages.txt"
  done
}

missing() {
  local package
  for package in $(wanted "$@"); do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      printf '%s ' "$package"
  done
}

install_packages() {
  case $(distribution) in
    debian-12 | ubuntu-22.04 | ubuntu-24.04) ;;
    *)
      if command -v dpkg-query >/dev/null && [ -z "$(missing "$@")" ]; then return; fi
      say "This script knows Debian 12 and Ubuntu 22.04/24.04; here is $(distribution)."
      say "Install the equivalents of these packages, then run it again with OPENNRT_NO_DEPS=1:"
      say "  $(wanted "$@" | tr '\n' ' ')"
      exit 3
      ;;
  esac
  local need
  need=$(missing "$@")
  [ -n "$need" ] || return 0
  local line="apt-get install -y --no-install-recommends $need"
  say "Installing: $need"
  if [ "$(id -u)" = 0 ]; then
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $line >/dev/null
  elif command -v sudo >/dev/null; then
    sudo apt-get update -qq
    # shellcheck disable=SC2086
    sudo DEBIAN_FRONTEND=noninteractive $line >/dev/null
  else
    say "Neither root nor sudo. Run this as root, then try again:"
    say "  apt-get update && $line"
    exit 3
  fi
}

# configure_and_build TARGET HOW_LONG: shows the progress on a terminal, elsewhere only what
# went wrong.
configure_and_build() {
  cd "$root"
  local log=$build/quickstart.log
  if [ "$(distribution)" = ubuntu-22.04 ]; then
    extra+=(-DCMAKE_C_COMPILER=gcc-12 -DCMAKE_CXX_COMPILER=g++-12)
  fi
  mkdir -p "$build" && touch "$log" || {
    say "build/$preset cannot be written to by $(id -un): give it to that user (chown -R), or remove it."
    exit 1
  }
  local note=
  [ -e "$build/bin" ] || note="; $2"
  say "Building ($preset) in build/$preset$note ..."
  cmake --preset "$preset" "${extra[@]}" >"$log" 2>&1 || { cat "$log"; exit 1; }
  if [ -t 1 ]; then
    cmake --build --preset "$preset" --target "$1"
    return
  fi
  # A line a minute, for whoever waits.
  if ! cmake --build --preset "$preset" --target "$1" 2>&1 | tee "$log" | {
    local next=$((SECONDS + 60)) line
    while IFS= read -r line; do
      [ "$SECONDS" -lt "$next" ] || { next=$((SECONDS + 60)); say "  ${line%%]*}]"; }
    done
  }; then
    grep -E -A20 'FAILED|error:' "$log" || tail -n 40 "$log"
    say "The build failed; all of its output: $log"
    exit 1
  fi
  local warnings
  warnings=$(grep -c 'warning:' "$log" || true)
  [ "$warnings" = 0 ] || say "$warnings compiler warnings, see build/$preset/quickstart.log"
}

command=${1:-}
case $command in
  demo | test | build)
    # CPU minutes of a gcc 12 without a compiler cache.
    if [ "$command" = demo ]; then
      [ -n "${OPENNRT_NO_DEPS:-}" ] || install_packages build
      # What tests need is not there yet; a tree that has them keeps them.
      [ -e "$build/CMakeCache.txt" ] || extra+=(-DOPENNRT_TESTS=OFF -DOPENNRT_BENCH=OFF)
      configure_and_build opennrt_runtime "about 16 CPU minutes, 8 minutes on two cores"
    else
      [ -n "${OPENNRT_NO_DEPS:-}" ] || install_packages build test
      extra+=(-DOPENNRT_TESTS=ON -DOPENNRT_BENCH=ON)
      configure_and_build all "about 40 CPU minutes"
    fi
    ;;
  deps)
    case ${2:-} in
      '') install_packages build test ;;
      --dev) install_packages build test dev ;;
      --package) install_packages build package ;;
      *) usage; exit 2 ;;
    esac
    exit 0
    ;;
  -h | --help | help)
    usage
    exit 0
    ;;
  *)
    [ -z "$command" ] || say "quickstart.sh: no command '$command'"
    usage
    exit 2
    ;;
esac

case $command in
  demo)
    export OPENNRT_DEVICE=emulator
    exec "$build/bin/vecadd_demo" "build/$preset/examples/vecadd.neff"
    ;;
  test) exec /usr/bin/python3 "$root/tests/run.py" --build "$build" "${@:2}" ;;
  build) say "Built: $build/lib/libnrt.so.1, $build/bin/opennrt" ;;
esac
