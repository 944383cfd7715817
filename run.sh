#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds OpenDEVX and does its first job: ./run.sh [CAPTURE] counts the flows of a packet capture with the flow counters of a
# software ConnectX. More arguments go to `devx counters`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/scripts/install.sh"
install_packages "${build_packages[@]}"

build=$here/build-run
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { [ -f "$build/build.ninja" ] || meson setup "$build" "$here" --buildtype=release -Dtests=false; } >"$log" 2>&1 ||
	! ninja -C "$build" >"$log" 2>&1; then
	cat "$log" >&2
	echo "the build failed (above)" >&2
	exit 1
fi
rm -f "$log"
[ $# -gt 0 ] || set -- "$here/examples/data/loopback.pcap"
exec "$build/tools/devx" counters "$@"
