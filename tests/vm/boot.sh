#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What devx vm promises, in real machines: boot.sh DEVX FOLDER [OPTION...]. FOLDER is that of `devx vm --bootstrap`; a snapshot in
# it is removed first. Prints TAP, and how long the first and the second start took; with DEVX_VM_LIMITS=1 (an idle machine with two
# cores) these must be 15 and 4 seconds.
set -u
devx=$1 folder=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir/tmp
mkdir "$TMPDIR" "$dir/share"
n=0 failed=0

vm() { timeout -k 10 400 "$devx" vm --dir "$folder" --accel tcg "${options[@]}" "$@"; }
options=("$@")

# check NAME CONDITION...: prints the result
check() {
	local name=$1
	shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		failed=1
	fi
}
is() { [ "$1" = "$2" ] || { echo "# \"$1\" is not \"$2\""; false; }; }
less() { awk "BEGIN { exit !($1 <= $2) }" || { echo "# $1 is more than $2"; false; }; }
now() { date +%s.%N; }
since() { awk "BEGIN { printf \"%.1f\", $(now) - $1 }"; }

rm -f "$folder"/cache/snapshot-*
begin=$(now)
out=$(vm --log "$dir/kernel.log" -- sh -c 'ls /dev/infiniband; head -c 8 /dev/urandom | od -An -tx1; echo trace >/etc/trace-of-devx-vm' 2>"$dir/err")
check "a first start" is $? 0
cold=$(since "$begin")
check "the verbs device is there" grep -qx uverbs0 <<<"$out"
check "nothing on standard error" is "$(cat "$dir/err")" ""
check "the kernel's log" grep -q "mlx5_core.*firmware version" "$dir/kernel.log"
check "no warning of the kernel" is "$(grep -cE 'WARNING:|BUG:|mlx5_cmd_out_err' "$dir/kernel.log")" 0
check "the host's files are as before" test ! -e /etc/trace-of-devx-vm
first=$(tail -1 <<<"$out")

begin=$(now)
out=$(vm --share "$dir/share" -- true)
check "a start with a share" is $? 0
begin=$(now)
out=$(vm -- sh -c 'ls /dev/infiniband; date +%s; head -c 8 /dev/urandom | od -An -tx1')
check "a second start" is $? 0
warm=$(since "$begin")
check "the verbs device is there again" grep -qx uverbs0 <<<"$out"
check "other random numbers than before" test "$(tail -1 <<<"$out")" != "$first"
check "the clock is right" less "$(date +%s) - $(sed -n 2p <<<"$(grep -v mlx5 <<<"$out")")" 60

head -c 3000000 /dev/urandom >"$dir/data"
vm --share "$dir/share" -- sh -c "pwd; tee /dev/stderr >'$dir/share/data'; exit 42" <"$dir/data" >"$dir/out" 2>"$dir/err"
check "the exit code" is $? 42
check "the working directory" is "$(cat "$dir/out")" "$(pwd -P)"
check "standard input and error, whatever bytes" cmp "$dir/data" "$dir/err"
check "a share is written to" cmp "$dir/data" "$dir/share/data"
vm -- /no/such/program 2>"$dir/err"
check "no such program" is $? 127
vm -- sh -c 'kill -9 $$'
check "killed by a signal" is $? 137
in_terminal() { # timeout's options, then the command: run by a shell that does not become it
	local line
	line=$(printf '%q ' timeout "${@:1:$#-1}" 400 "$devx" vm --dir "$folder" --accel tcg "${options[@]}" -- "${@:$#}")
	SHELL=/bin/sh timeout -k 10 420 script -qec "$line; exit \$?" /dev/null </dev/null | tr -d '\r'
}
out=$(in_terminal --foreground tty)
check "a terminal" grep -q '/dev/pts/[0-9]' <<<"$out"
out=$(in_terminal -k10 tty)
check "in the background of a terminal there is none" is "$(tail -n 1 <<<"$out")" "not a tty"
vm -- sh -c 'echo c >/proc/sysrq-trigger' 2>"$dir/err"
check "a panic" is $? 125
check "is reported" grep -q "Kernel panic" "$dir/err"
timeout -k 10 400 "$devx" vm --dir "$folder" --accel tcg "${options[@]}" -- sleep 1000 &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
check "SIGTERM" is $? 143
check "nothing is left" is "$(ls "$TMPDIR")" ""
echo "# first start $cold s, second start $warm s"
if [ "${DEVX_VM_LIMITS-}" ]; then
	check "first start in 15 s" less "$cold" 15
	check "second start in 4 s" less "$warm" 4
fi
echo "1..$n"
exit $failed
