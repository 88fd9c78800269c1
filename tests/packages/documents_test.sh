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

# complete WORD...: what is offered for the last one.
. "$completion"
complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _opennrt 2>/dev/null
  printf '%s\n' "${COMPREPLY[@]}"
}
for name in "${commands[@]}"; do
  complete_words opennrt "${name:0:2}" | grep -qx "$name" || fail "the completion does not offer $name"
done
complete_words opennrt run --out | grep -qx -- --output-dir || fail "no options of run"
complete_words opennrt neff dis | grep -qx disasm || fail "no subcommands of neff"
complete_words opennrt neff verify --s | grep -qx -- --strict || fail "no options of neff verify"
complete_words opennrt config exec.time | grep -qx exec.timeout_s || fail "no keys of config"
complete_words opennrt help li | grep -qx link || fail "no names behind help"
echo "$pages manual pages, ${#commands[@]} commands completed"
