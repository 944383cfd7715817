#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds with optimisation and prints all figures (docs/performance.md). Arguments go to the program: names of parts.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
build=$here/build-bench
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { [ -f "$build/build.ninja" ] || meson setup "$build" "$here" --buildtype=release; } >"$log" 2>&1 ||
	! ninja -C "$build" >"$log" 2>&1; then
	cat "$log" >&2
	exit 1
fi
unset OPENDEVX_SOFT
exec "$build/bench/bench" "$@"
