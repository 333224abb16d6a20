#!/bin/sh
# `windtunnel serve --repeat` beside `@copilotkit/aimock`: see README.md. compare.sh [SECONDS [CONNECTIONS]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seconds=${1:-5}
connections=${2:-32}
ours=4011
theirs=4012
folder=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || { kill "$server" && wait "$server" 2>/dev/null || :; }
    server=
}
trap 'stop; rm -rf "$folder"' EXIT

command -v wrk >/dev/null || { echo "install wrk first: apt-get install wrk" >&2; exit 2; }
(cd "$root" && cargo build --release --quiet --package windtunnel-cli)
windtunnel=${WINDTUNNEL:-${CARGO_TARGET_DIR:-$root/target}/release/windtunnel}
npm install --silent --no-audit --no-fund --prefix "$folder" @copilotkit/aimock

words=$(seq -s ' ' 1000 1150)
echo "{\"fixtures\":[{\"match\":{\"userMessage\":\"hello\"},\"response\":{\"content\":\"$words\"}}]}" >"$folder/aimock.json"
request='"model":"gpt-4o-mini","messages":[{"role":"user","content":"hello"}]'
echo "{$request}" >"$folder/whole"
echo "{$request,\"stream\":true}" >"$folder/stream"

# ask PORT KIND: whether there is an answer.
ask() {
    curl --silent --fail --output "$folder/answer" --header 'content-type: application/json' --data @"$folder/$2" \
        "http://127.0.0.1:$1/v1/chat/completions"
}

# start NAME PORT COMMAND...: until it answers.
start() {
    name=$1 port=$2
    shift 2
    begun=$(date +%s%N)
    "$@" >"$folder/$name.log" 2>&1 &
    server=$!
    until ask "$port" whole; do
        kill -0 "$server" || { cat "$folder/$name.log" >&2; exit 1; }
    done
    echo "$name start ms $((($(date +%s%N) - begun) / 1000000))"
}

# ticks: how long the server has used a processor, in hundredths of a second.
ticks() {
    sed 's/.*) //' "/proc/$server/stat" | awk '{print $12 + $13}'
}

# load NAME PORT KIND: what the load generator sees, and the requests that a second of the server's own processor time
# answers, which says more where both share the processors.
load() {
    used=$(ticks)
    REQUEST=$folder/$3 wrk --threads 1 --connections "$connections" --duration "${seconds}s" --script "$here/load.lua" \
        "http://127.0.0.1:$2/v1/chat/completions" >"$folder/load"
    used=$(($(ticks) - used))
    sed -n "s/^rps/$1 $3 rps/p" "$folder/load"
    awk -v name="$1" -v kind="$3" -v used="$used" \
        '/requests in/ {printf "%s %s requests_per_cpu_s %.0f\n", name, kind, $1 * 100 / (used > 0 ? used : 1)}' "$folder/load"
}

# measure NAME PORT COMMAND...
measure() {
    start "$@"
    load "$1" "$2" whole
    load "$1" "$2" stream
    echo "$1 memory kib $(awk '/^VmHWM/ {print $2}' "/proc/$server/status")"
    stop
}

aimock() {
    "$1" aimock "$theirs" node "$folder/node_modules/@copilotkit/aimock/dist/cli.js" --port "$theirs" --log-level silent \
        --fixtures "$folder/aimock.json"
}

# The same bytes from both: what aimock answers is recorded, and served.
aimock start >"$folder/log"
"$windtunnel" record --in-ci --upstream "openai=http://127.0.0.1:$theirs" --out "$folder/cassette.json" \
    --listen "127.0.0.1:$ours" >"$folder/record.log" 2>&1 &
recorder=$!
until ask "$ours" whole; do kill -0 "$recorder" || { cat "$folder/record.log" >&2; exit 1; }; done
ask "$ours" stream
kill -INT "$recorder"
wait "$recorder"
stop

for _ in 1 2 3; do
    measure windtunnel "$ours" "$windtunnel" serve --repeat --listen "127.0.0.1:$ours" "$folder/cassette.json"
    aimock measure
done | tee "$folder/results"
awk -f "$here/ratios.awk" "$folder/results"
