#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# In a guest: reboot.sh DEVICES HOW. The cards are usable and the kernel's log has nothing to say; prints TAP, and when a line comes the
# machine begins anew: "orderly" (the drivers shut their devices down), "at once" (they are not asked), or not: "end".
# shellcheck disable=SC2317  # try calls the cases
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/vm/guest/tap.sh
. "$here/tap.sh"
count=$1
# shellcheck source=tests/vm/guest/card.sh
. "$here/card.sh"

try "verbs devices, interfaces, ibv_devinfo, rdma link" usable
try "nothing broken in the kernel's log" quiet
echo "1..$number"
read -r _
case $2 in
orderly) python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x01234567)' ;; # RB_AUTOBOOT: there is no init to ask
"at once") echo b >/proc/sysrq-trigger ;;
*) exit "$bad" ;;
esac
sleep 100 # the end comes from the kernel
