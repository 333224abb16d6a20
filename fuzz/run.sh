#!/bin/sh
# Fuzzes one target after the other, SECONDS each (default 600): fuzz/run.sh [SECONDS [TARGET...]]
set -eu
cd "$(dirname "$0")"
seconds=${1:-600}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- cassette case program stream redaction foreign mcp delivery properties
# The fuzzer needs flags that a stable compiler only takes so.
export RUSTC_BOOTSTRAP=1
for target; do
    mkdir -p "corpus/$target"
    cargo fuzz run --fuzz-dir . "$target" "corpus/$target" "seeds/$target" -- \
        -dict=words.dict -max_len=8192 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -max_total_time="$seconds"
done
