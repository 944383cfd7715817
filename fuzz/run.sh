#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fuzz/run.sh [SECONDS]: each target for so long (60), with AddressSanitizer and UBSan. Fails on any finding, whose input is
# left in build-fuzz/findings.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-60}
build=$here/build-fuzz
if ! [ -f "$build/build.ninja" ]; then
	CC=clang meson setup "$build" "$here" --buildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args=-fsanitize=fuzzer-no-link >/dev/null || exit 1
fi
ninja -C "$build" fuzz/fuzz_hca fuzz/fuzz_pci fuzz/fuzz_spec fuzz/fuzz_flow fuzz/fuzz_decode fuzz/fuzz_packet fuzz/fuzz_vfu >"$build/fuzz-build.log" 2>&1 || {
	cat "$build/fuzz-build.log"
	exit 1
}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1:malloc_context_size=6
bad=0
for target in hca pci spec flow decode packet vfu; do
	mkdir -p "$build/findings" "$build/grown/$target"
	log=$build/fuzz-$target.log
	if "$build/fuzz/fuzz_$target" -max_total_time="$seconds" -entropic=0 -max_len=4096 -timeout=20 -rss_limit_mb=1024 -close_fd_mask=3 \
		-artifact_prefix="$build/findings/$target-" "$build/grown/$target" "$here/fuzz/corpus/$target" >"$log" 2>&1; then
		echo "$target: $(grep -a '^Done' "$log" || tail -1 "$log")"
	else
		tail -60 "$log"
		echo "$target: FOUND, log $log"
		bad=1
	fi
done
exit $bad
