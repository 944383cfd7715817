#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# In a guest: hung.sh OUT ours|rdma. What one library shows of commands without an answer, and of a removal.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$here/../hung
if [ "$2" = ours ]; then
	export LD_LIBRARY_PATH=$here/..
else
	program=$program-rdma
fi
python3 "$here/relay.py" "$1/hung-$2.seen" "$program"
dmesg | python3 "$here/dmesg.py" "$here/../dmesg.allowed" "$here/../dmesg.hung" >"$1/hung-$2.dmesg"
