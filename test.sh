#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# ./test.sh        installs what is missing, builds with gcc and clang, runs every test, plain and under the sanitizers
# ./test.sh vm [PART...]     real Linux kernels with their drivers on software devices (tests/vm), all of it or parts
# ./test.sh all    both of these
# ./test.sh fuzz [SECONDS | -runs N] [TARGET...]   each fuzz target for 60 s (or SECONDS), or N times
# ./test.sh bench  the benchmark
# Last line: N passed, N failed. Logs stay in build-test/*/meson-logs.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here" || exit 1
. scripts/install.sh
unset OPENDEVX_SOFT

passed=0 failed=0
gcc_options=--buildtype=debugoptimized # what users get

# Adds a build's results to the sums, and names what failed.
tally() {
	local log ok bad
	log=$(ls "$1"/meson-logs/testlog*.json 2>/dev/null | head -n 1)
	ok=$(python3 scripts/tally.py "$log" passed)
	bad=$(python3 scripts/tally.py "$log" failed)
	passed=$((passed + ok)) failed=$((failed + bad))
}

one_more() { # a step that is one test: its name and its exit status
	if [ "$2" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $1"
	fi
}

# Sets a build up and makes it: name, compiler, meson options, then suites whose programs are made; none: everything is. Its
# output stays in build-test/NAME.log, the exit status in NAME.built.
build() {
	local name=$1 cc=$2 options=$3 dir=build-test/$1 targets=""
	shift 3
	mkdir -p build-test
	# shellcheck disable=SC2086
	{ [ -f "$dir/build.ninja" ] || CC=$cc meson setup "$dir" -Dwerror=true $options; } >"build-test/$name.log" 2>&1 &&
		{ [ $# -eq 0 ] || targets=$(scripts/targets.py "$dir" "$@"); } && {
		ninja -C "$dir" $targets >"build-test/$name.log" 2>&1 &
		wait $!
	}
	echo $? >"$dir.status"
	mv "$dir.status" "$dir.built"
}

# While the tests of one build run, the next is built: on two cores this is a fifth of the time.
builds() {
	local name
	for name in gcc clang asan tsan; do rm -f "build-test/$name.built"; done
	(
		trap 'kill $(jobs -p) 2>/dev/null; exit 1' TERM
		build_all
	) &
	builder=$!
	trap 'kill $builder 2>/dev/null' EXIT
}

# False: there is no such build.
built() {
	until [ -f "build-test/$1.built" ]; do
		sleep 0.1
		kill -0 "$builder" 2>/dev/null || [ -f "build-test/$1.built" ] || echo 1 >"build-test/$1.built" # it was killed
	done
	local status
	status=$(cat "build-test/$1.built")
	[ "$status" -eq 0 ] || cat "build-test/$1.log"
	one_more "$1: build" "$status"
	return "$status"
}

# A build, then words for `meson test`.
tests() {
	local dir=build-test/$1
	shift
	rm -f "$dir"/meson-logs/testlog*.json
	meson test -C "$dir" --no-rebuild --print-errorlogs "$@" </dev/null | grep -vE '^(ninja|$)'
	tally "$dir"
}

# Real kernels: the build of gcc, and a folder with QEMU, kernels and a root from Debian's archive, which is made once.
vm_suite() {
	local out=build-test/vm devx=build-test/gcc/tools/devx log kernel ok bad
	build gcc gcc "$gcc_options"
	built gcc || return
	mkdir -p "$out"
	log=$out/bootstrap.log
	echo "== vm: bootstrap"
	for kernel in "" 6.1 6.12; do
		# shellcheck disable=SC2086
		if ! "$devx" vm --dir "$here/$out/machine" --bootstrap --with rdma-core ${kernel:+--kernel $kernel} >"$log" 2>&1; then
			tail -n 40 "$log"
			one_more "vm: bootstrap $kernel" 1
			return
		fi
	done
	one_more "vm: bootstrap" 0
	rm -f "$out/results.tap"
	tests/vm/run.py build-test/gcc "$out" "$out/machine" "$@"
	ok=$(grep -c '^ok .*' "$out/results.tap") bad=$(grep -c '^not ok ' "$out/results.tap")
	ok=$((ok - $(grep -c '^ok .* # SKIP ' "$out/results.tap")))
	grep -q '^1\.\.' "$out/results.tap" || one_more "vm: the suite comes to its end" 1
	passed=$((passed + ok)) failed=$((failed + bad))
}

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
	exit
}

case ${1-} in
"" | all) ;;
vm)
	install_packages "${build_packages[@]}" "${test_packages[@]}" || { one_more "install" 1; finish; }
	shift
	tests/vm/run.py --known "$@" || exit 2
	vm_suite "$@"
	finish
	;;
fuzz)
	install_packages "${build_packages[@]}" "${test_packages[@]}" || exit 1
	shift
	fuzz/run.sh "$@"
	one_more "fuzz" $?
	finish
	;;
bench)
	install_packages "${build_packages[@]}" "${test_packages[@]}" || exit 1
	exec bench/run.sh
	;;
*)
	echo "usage: ./test.sh [all | vm [PART...] | fuzz [SECONDS | -runs N] [TARGET...] | bench]" >&2
	exit 2
	;;
esac

install_packages "${build_packages[@]}" "${test_packages[@]}" || { one_more "install" 1; finish; }
export LSAN_OPTIONS=suppressions=$here/scripts/lsan.supp:print_suppressions=0
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# die_after_fork: a test opens a device of its own in a fork child.
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0

# What does not depend on the compiler runs plain and under ASan only; TSan gets what has threads. The torture's million commands
# run plain, and the others have as many as take no longer. Sanitizers want little optimisation and short debugging information,
# or compiling takes longer than the tests.
sanitizer="--buildtype=debug -Doptimization=1 -Db_lundef=false -Dc_args=-g1"
compiler="unit conformance torture abi package examples"
threads="conformance torture examples threads"
build_all() {
	build gcc gcc "$gcc_options"
	build clang clang "--buildtype=debug"
	build asan gcc "$sanitizer -Db_sanitize=address,undefined"
	# shellcheck disable=SC2086
	build tsan gcc "$sanitizer -Db_sanitize=thread" $threads
}
suites() { printf -- '--suite %s ' "$@"; }
builds
echo "== gcc"
built gcc && {
	tests gcc
	echo "== valgrind"
	TESTS_BRIEF=1 tests gcc --suite unit --suite conformance --timeout-multiplier 5 \
		--wrap "valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite"
}
# shellcheck disable=SC2046,SC2086
echo "== clang" && built clang && TORTURE_COMMANDS=300000 tests clang $(suites $compiler)
echo "== asan" && built asan && TORTURE_COMMANDS=300000 tests asan --no-suite man --no-suite profiles --no-suite bench
# shellcheck disable=SC2046,SC2086
echo "== tsan" && built tsan && TESTS_BRIEF=1 TORTURE_COMMANDS=100000 tests tsan $(suites $threads)
[ "${1-}" = all ] && vm_suite
finish
