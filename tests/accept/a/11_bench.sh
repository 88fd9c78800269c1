# Benchmarks: latency, bandwidth against memcpy, init and load time.
. "$(dirname "$0")/../lib.sh"
out=$("$ACCEPT_RELEASE/bin/opennrt_bench" --benchmark_min_time=0.2 --benchmark_format=json 2>/dev/null | /usr/bin/python3 -c '
import json, sys
b = {x["name"]: x for x in json.load(sys.stdin)["benchmarks"]}
need = ["ExecuteEmpty", "ExecuteVecAdd", "TensorWrite", "TensorRead", "Memcpy", "InitClose", "LoadUnload"]
missing = [n for n in need if not any(k.startswith(n) for k in b)]
assert not missing, missing
print("; ".join("%s %.1f %s" % (k, v["real_time"], v["time_unit"]) for k, v in b.items()))')
echo "$out"
