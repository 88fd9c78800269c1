#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every command has a manual page without mistakes, and the completion offers it.
#
#   documents_test.sh PROGRAMS MANUAL COMPLETION
set -euo pipefail
programs=$1 manual=$2 completion=$3
PATH=$programs:$PATH
pages=0
fail() { echo "FAILED: $*"; exit 1; }

mapfile -t commands < <(opennrt help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vx help)
[ "${#commands[@]}" -ge 7 ] || fail "the help names ${#commands[@]} subcommands"
page() {
  local file=$manual/man${1##*.}/$1.gz
  [ -s "$file" ] || fail "no manual page $1"
  gzip -dc "$file" | grep -q '^\.SH NAME' || fail "$1 has no name section"
  if command -v groff >/dev/null; then
    local said
    said=$(gzip -dc "$file" | groff -man -Tutf8 -ww -rLL=100n 2>&1 >/dev/null)
    [ -z "$said" ] || fail "$1: $said"
  fi
  pages=$((pages + 1))
}
for name in "${commands[@]}"; do page "opennrt-$name.1"; done
for name in opennrt.1 opennrt-emud.1 nrt.yaml.5; do page $name; done
gzip -dc "$manual/man1/opennrt-run.1.gz" | grep -q 'output\\-dir' || fail "opennrt-run.1 lacks an option"
gzip -dc "$manual/man5/nrt.yaml.5.gz" | grep -q 'exec\.timeout_s' || fail "nrt.yaml.5 lacks a key"

# offers NAME WORD...: NAME is among what is offered for the last word.
. "$completion"
complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _opennrt 2>/dev/null
  printf '%s\n' "${COMPREPLY[@]}"
}
offers() {
  local name=$1 offered
  shift
  offered=$(complete_words "$@")
  grep -qx -- "$name" <<<"$offered"
}
for name in "${commands[@]}"; do
  offers "$name" opennrt "${name:0:2}" || fail "the completion does not offer $name"
done
offers --output-dir opennrt run --out || fail "no options of run"
offers disasm opennrt neff dis || fail "no subcommands of neff"
offers --strict opennrt neff verify --s || fail "no options of neff verify"
offers exec.timeout_s opennrt config exec.time || fail "no keys of config"
offers link opennrt help li || fail "no names behind help"
echo "$pages manual pages, ${#commands[@]} commands completed"
