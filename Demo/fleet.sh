#!/usr/bin/env bash
# Copyright the DataLoading authors
# SPDX-License-Identifier: Apache-2.0
#
# Three daemons with a rate of 20 requests a second load from one origin, first each for itself and
# then sharing the rate through Redis. Prints what the origin saw. Takes about ten seconds after the
# build; what it starts it stops.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! redis=$(command -v redis-server || command -v valkey-server); then
    echo 'fleet.sh needs redis-server; on Debian and Ubuntu: sudo apt-get install redis-server' >&2
    exit 1
fi
swift build --product FeedDaemon
daemon=$(swift build --show-bin-path)/FeedDaemon

work=$(mktemp -d)
# What has been started and not been waited for.
started=()
stop() {
    local status=$?
    for process in "${started[@]}"; do kill "$process" 2> /dev/null || true; done
    wait
    rm -rf "$work"
    exit "$status"
}
trap stop EXIT
trap 'exit 1' INT TERM

# until_true COMMAND...: waits for a thing to happen, for ten seconds at most.
until_true() {
    local tries=200
    until "$@" 2> /dev/null; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || { echo "fleet.sh waited in vain: $*" >&2; exit 1; }
        sleep 0.05
    done
}

# run NAME OPTION...: the daemons with some options against an origin of their own.
run() {
    local name=$1 origin members=() before=("${started[@]}")
    shift
    "$daemon" --origin > "$work/$name" &
    origin=$!
    started+=("$origin")
    until_true grep -q '^origin ' "$work/$name"
    cat > "$work/feeds.json" << END
{
    "features": [
        {"name": "news", "urls": ["$(sed -n 's/^origin //p' "$work/$name")"], "interval": 0.01},
        {"name": "more", "urls": ["$(sed -n 's/^origin //p' "$work/$name")more"], "interval": 0.01}
    ],
    "rates": {"default": 20}
}
END
    for number in 1 2 3; do
        "$daemon" --config "$work/feeds.json" --duration 5 --quiet "$@" > "$work/$name-$number" &
        members+=($!)
        started+=($!)
    done
    wait "${members[@]}"
    kill "$origin"
    wait "$origin"
    started=("${before[@]}")
    printf '%s: ' "$name"
    sed -n 's/^requests: //p' "$work/$name"
}

run alone
socket=$work/redis.sock
"$redis" --port 0 --unixsocket "$socket" --save '' --appendonly no --dir "$work" > "$work/log" &
started+=($!)
until_true test -S "$socket"
run shared --fleet "unix://$socket" --members 3
for number in 1 2 3; do
    sed -n "s/^fleet  */daemon $number: /p; /  fleet  /p" "$work/shared-$number"
done

# The rate is kept, and it is used.
sed -n 's/^requests: .*, \([0-9.]*\) a second, .*/\1/p' "$work/shared" | awk '
    { isKept = $1 >= 10 && $1 <= 21 }
    END { if (!isKept) { print "The rate of 20 a second was not kept."; exit 1 } }'
