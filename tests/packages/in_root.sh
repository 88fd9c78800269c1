# SPDX-License-Identifier: Apache-2.0
#
# The lives of the packages of /packages/{old,new}, inside a clean root directory.
# OLD, NEW: their versions. MODEL: a vector addition for sunda.
set -euo pipefail
checks=0
fail() { echo "FAILED: $*"; exit 1; }
ok() { checks=$((checks + 1)); echo "ok in the root $checks: $*"; }

# What a package may not leave behind. The rest is apt's and dpkg's own.
files() {
  find / -xdev \( -path /packages -o -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run \
    -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache -o -path /var/log -o -path /root \) -prune \
    -o -print | sort
}
apt() { apt-get -q -y --no-install-recommends "$@" >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; return 1; }; }
installed() { [ "$(dpkg-query -W -f '${db:Status-Status} ${Version}' "opennrt-$1" 2>/dev/null)" = "installed $2" ]; }
private=$(echo /usr/lib/*-linux-gnu)/opennrt

# Executes the model and looks at every sum.
adds() {
  local from=${1:-}
  rm -rf /tmp/out
  "${from}opennrt" run "$MODEL" --fill ones --executions 3 --raw --output-dir /tmp/out >/tmp/run.log 2>&1 ||
    { cat /tmp/run.log; return 1; }
  local values
  values=$(od -An -v -w4 -tx4 /tmp/out/out.bin | sort | uniq -c | tr -s ' ')
  [ "$values" = " 256000 40000000" ] || { echo "not all sums are 2.0: $values"; return 1; }
}
# says EXPECTED COMMAND...: fails with that text.
says() {
  local expected=$1 text
  shift
  if text=$("$@" 2>&1); then echo "$text"; return 1; fi
  grep -qF -- "$expected" <<<"$text" || { echo "$text"; return 1; }
}

# The tarball first, as nothing of its libraries is installed yet.
mkdir -p "/tmp/any where"
tar -C "/tmp/any where" -xzf /packages/opennrt-*.tar.gz
tree=$(echo "/tmp/any where"/opennrt-*)
if [ "$MODEL" = /packages/vecadd.neff ]; then
  "$tree/bin/opennrt" neff build "$tree/share/opennrt/examples/vecadd.yaml" "$MODEL" >/dev/null
fi
adds "$tree/bin/"
for name in run config plugins isa link ls top monitor doctor exec emu neff conform trace; do
  "$tree/bin/opennrt" help "$name" >/tmp/help 2>&1 || { cat /tmp/help; fail "opennrt $name of the tarball"; }
done
[ -z "$("$tree/bin/opennrt" plugins | grep -v "$tree" || true)" ] || fail "the tarball uses what is elsewhere"
mv "/tmp/any where" /tmp/elsewhere
adds "$(echo /tmp/elsewhere/opennrt-*/bin/)"
"$(echo /tmp/elsewhere/opennrt-*/bin/opennrt-emu)" --product trn1.2xlarge -- ls /dev/neuron0 >/dev/null
rm -rf /tmp/elsewhere
ok "tarball: runs from any directory, without the distribution's libraries"

apt update
files >/tmp/before
cd /packages/old
apt install ./opennrt-core*.deb ./opennrt-plugin-sunda*.deb ./opennrt-emulator*.deb ./opennrt-tools*.deb
for package in core plugin-sunda emulator tools; do installed $package "$OLD" || fail "$package"; done
adds
opennrt run "$MODEL" --executions 100 --output-dir out >/tmp/run.log
grep -q '^latency us: .*(100 executions)' /tmp/run.log
rm -r out
opennrt ls >/tmp/ls 2>&1 || { cat /tmp/ls; fail "opennrt ls"; }
opennrt neff build /usr/share/opennrt/examples/vecadd.yaml /tmp/example.neff >/dev/null
opennrt run /tmp/example.neff >/dev/null 2>&1
[ "$(opennrt emu --product trn1.2xlarge -- ls /dev/neuron0)" = /dev/neuron0 ]
OPENNRT_EMULATOR_SCOPE=machine OPENNRT_EMULATOR_IDLE_EXIT_S=1 opennrt run "$MODEL" >/dev/null 2>&1
ok "installed: run, emu, daemon"

# One silicon package changes nothing else.
apt remove opennrt-plugin-sunda
says "no plugin for arch 2 found in $private/plugins; install its package" opennrt run "$MODEL"
opennrt config >/dev/null
apt install ./opennrt-plugin-cayman_*.deb
opennrt plugins >/tmp/plugins
grep -q '^selected *arch *cayman' /tmp/plugins
says "no plugin for arch 2" opennrt run "$MODEL"
apt install ./opennrt-plugin-sunda_*.deb
adds
ok "a silicon package goes and comes alone"

# Below a running process.
mkfifo /tmp/lines
OPENNRT_EMULATOR_PRODUCT=trn1.2xlarge /packages/patient_client "$private/libnrt.so.1" "$MODEL" </tmp/lines >/tmp/said 2>/tmp/client.log &
client=$!
exec 9>/tmp/lines
lines() {  # the client has said so many lines
  local i
  for ((i = 0; i < 600; i++)); do
    [ "$(wc -l </tmp/said)" -lt "$1" ] || return 0
    sleep 0.1
  done
  cat /tmp/said /tmp/client.log
  return 1
}
lines 1
echo >&9 && lines 2
cd /packages/new
apt install ./opennrt-core_*.deb ./opennrt-plugin-sunda_*.deb ./opennrt-plugin-cayman_*.deb ./opennrt-emulator_*.deb ./opennrt-tools_*.deb
installed core "$NEW" && installed plugin-sunda "$NEW"
grep -q "$private/libnrt.so.1 (deleted)" "/proc/$client/maps" || fail "the library was not replaced by another file"
echo >&9 && lines 3
adds   # the new one, while the old one lives
echo >&9 && lines 4
exec 9>&-
wait $client || fail "the process did not end well"
[ "$(tr '\n' ' ' </tmp/said)" = "ready right right right closed " ] || fail "$(cat /tmp/said)"
ok "upgrade below a running process"

# Versions that do not fit each other by number, but by interface.
cd /packages/old
apt install --allow-downgrades ./opennrt-plugin-sunda_*.deb ./opennrt-emulator_*.deb
installed core "$NEW" && installed plugin-sunda "$OLD"
adds
apt install --allow-downgrades ./opennrt-core_*.deb ./opennrt-tools_*.deb ../new/opennrt-plugin-sunda_*.deb ../new/opennrt-emulator_*.deb
installed core "$OLD" && installed plugin-sunda "$NEW"
adds
verdict() {  # library, kind, abi, what the loader has to say about a plugin of another release
  mkdir -p /tmp/others
  printf 'kind: %s\nname: double\nlibrary: /packages/doubles/%s\nabi: "%s"\nversion: 9\n' "$2" "$1" "$3" \
    >/tmp/others/other.plugin.yaml
  OPENNRT_PLUGIN_PATH=/tmp/others opennrt plugins >/tmp/plugins 2>&1 || true
  grep -A 1 '/tmp/others/' /tmp/plugins >/tmp/verdict
  grep -q "^$4 " /tmp/verdict || fail "$1 is not $4: $(cat /tmp/verdict)"
}
verdict double-port.so port 1.0 selected
verdict double-ndl-newer-minor.so ndl 1.1 selected
verdict double-ndl-needs-newer-host.so ndl 1.1 refused
verdict double-ndl-other-major.so ndl 2.0 refused
# The silicon itself, as a plugin of another minor version would offer it.
for table in previous-minor newer-minor; do
  export OPENNRT_DOUBLE_TARGET=$private/plugins/opennrt-sunda.so OPENNRT_DOUBLE_TABLE=$table
  printf 'kind: arch\nname: double\narch_type: 2\nlibrary: /packages/doubles/double-proxy-arch.so\nabi: "1.0"\nversion: 9\n' \
    >/tmp/others/other.plugin.yaml
  OPENNRT_PLUGIN_PATH=/tmp/others opennrt plugins >/tmp/plugins
  grep -q '^selected *arch *double' /tmp/plugins || fail "$table: $(cat /tmp/plugins)"
  OPENNRT_PLUGIN_PATH=/tmp/others adds
done
unset OPENNRT_DOUBLE_TARGET OPENNRT_DOUBLE_TABLE
rm -r /tmp/others
ok "old and new plugins with new and old core"

apt install --allow-downgrades ./*.deb
for package in core plugin-sunda plugin-cayman plugin-mariana emulator tools dev default; do
  installed $package "$OLD" || fail "downgrade of $package"
done
adds
ok "downgrade"

# The system's library, on request alone.
mkdir -p /opt/other
cp /lib/*-linux-gnu/libz.so.1 /opt/other/libnrt.so.1
echo /opt/other >/etc/ld.so.conf.d/aaa.conf
: >/tmp/said
ldconfig
by_name() {
  echo | OPENNRT_EMULATOR_PRODUCT=trn1.2xlarge /packages/patient_client "$1" "$MODEL" 2>&1 | tr '\n' ' '
}
[ "$(by_name libnrt.so.1)" = "ready right closed " ] || fail "opennrt-default: $(by_name libnrt.so.1)"
rm -r /opt/other /etc/ld.so.conf.d/aaa.conf
apt remove opennrt-default
! ldconfig -p | grep libnrt || fail "opennrt-default is removed and libnrt is still the system's"
case $(by_name libnrt.so.1) in *"cannot open shared object"*) ;; *) fail "libnrt.so.1 is still found" ;; esac
opennrt link >/dev/null
[ "$(by_name /opt/aws/neuron/lib/libnrt.so.1)" = "ready right closed " ] || fail "opennrt link"
says "" opennrt link /opt/aws/neuron
opennrt link --undo >/dev/null
[ ! -e /opt/aws ]
ok "opennrt-default, opennrt link"

# The administrator's configuration survives an upgrade and goes with a purge.
echo '# mine' >>/etc/opennrt/nrt.yaml
apt install ../new/opennrt-core_*.deb ../new/opennrt-tools_*.deb ../new/opennrt-dev_*.deb
grep -q '^# mine' /etc/opennrt/nrt.yaml
apt remove opennrt-core
grep -q '^# mine' /etc/opennrt/nrt.yaml
apt purge 'opennrt-*'
apt autoremove --purge
ldconfig
files >/tmp/after
diff /tmp/before /tmp/after || fail "files were left or lost"
ok "purge leaves nothing"
