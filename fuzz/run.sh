#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fuzz/run.sh [SECONDS | -runs N] [TARGET...]: each target, or those named, for so long (60), or so many executions, with
# AddressSanitizer and UBSan. Fails on any finding, whose input is left in build-fuzz/findings. FUZZ_JOBS=N: so many at a time.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
build=$here/build-fuzz
bound=-max_total_time=60
case ${1-} in
-runs)
	bound=-runs=${2-}
	shift
	shift
	;;
[0-9]*)
	bound=-max_total_time=$1
	shift
	;;
esac
[[ $bound =~ =[1-9][0-9]*$ ]] || { echo "usage: fuzz/run.sh [SECONDS | -runs N] [TARGET...]" >&2; exit 2; }
all=()
for source in "$here"/fuzz/fuzz_*.c; do
	name=${source##*/fuzz_}
	all+=("${name%.c}")
done
targets=("$@")
[ $# -gt 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
	[ -f "$here/fuzz/fuzz_$target.c" ] || { echo "fuzz/run.sh: $target: the targets are ${all[*]}" >&2; exit 2; }
done
if ! [ -f "$build/build.ninja" ]; then
	CC=clang meson setup "$build" "$here" --buildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args=-fsanitize=fuzzer-no-link >/dev/null || exit 1
fi
ninja -C "$build" "${targets[@]/#/fuzz/fuzz_}" >"$build/fuzz-build.log" 2>&1 || {
	cat "$build/fuzz-build.log"
	exit 1
}
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1:malloc_context_size=6

fuzz() {
	local target=$1 log=$build/fuzz-$1.log
	mkdir -p "$build/findings" "$build/grown/$target" "$here/fuzz/corpus/$target"
	if "$build/fuzz/fuzz_$target" "$bound" -entropic=0 -max_len=4096 -timeout=20 -rss_limit_mb=1024 -close_fd_mask=3 \
		-artifact_prefix="$build/findings/$target-" "$build/grown/$target" "$here/fuzz/corpus/$target" >"$log" 2>&1; then
		echo "$target: $(grep -a '^Done' "$log" || tail -1 "$log")"
	else
		tail -60 "$log"
		echo "$target: FOUND, log $log"
		return 1
	fi
}

bad=0 running=0
for target in "${targets[@]}"; do
	if [ "$running" -ge "${FUZZ_JOBS:-1}" ]; then
		wait -n || bad=1
		running=$((running - 1))
	fi
	fuzz "$target" &
	running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
	wait -n || bad=1
	running=$((running - 1))
done
exit $bad
