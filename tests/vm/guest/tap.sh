# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced by what runs in a guest and prints TAP. A case is a function; what it prints is shown when it fails.
number=0 bad=0

# name, then the command: one case
try() {
	local name=$1 out
	shift
	number=$((number + 1))
	if out=$("$@" 2>&1); then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		printf '%s\n' "$out" | tail -n 40 | sed 's/^/# /'
		bad=1
	fi
}

finish() {
	echo "1..$number"
	exit $bad
}

# seconds, then a command: until it succeeds
await() {
	local tries=$(($1 * 10))
	shift
	until "$@"; do
		tries=$((tries - 1))
		if [ $tries -le 0 ]; then
			echo "still not: $*"
			return 1
		fi
		sleep 0.1
	done
}
