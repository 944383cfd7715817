#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# In a guest: kernel.sh DEVICES. The real drivers on so many software ConnectX: loaded, seen by the tools, unbound, removed,
# unloaded, and back again each time; then the kernel's log has nothing to say. Prints TAP.
# shellcheck disable=SC2317  # try calls the cases
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/vm/guest/tap.sh
. "$here/tap.sh"
count=$1
drv=/sys/bus/pci/drivers/mlx5_core

functions() { # PCI addresses of the devices, bound or not
	local d
	for d in /sys/bus/pci/devices/*; do
		[ "$(cat "$d/vendor")" = 0x15b3 ] && basename "$d"
	done
}
verbs() { # how many verbs devices there are
	find /sys/class/infiniband /sys/class/infiniband_verbs -mindepth 1 -maxdepth 1 \( -name 'mlx5_*' -o -name 'uverbs*' \) 2>/dev/null | wc -l
}
are() { # so many devices, each with its uverbs node
	local d
	[ "$(verbs)" -eq $((2 * $1)) ] || return 1
	for d in /sys/class/infiniband_verbs/uverbs*; do
		[ "$1" -eq 0 ] || [ -c "/dev/infiniband/$(basename "$d")" ] || return 1
	done
}
netdevs() { # each function has its Ethernet interface
	local f
	for f in $(functions); do
		[ -n "$(ls "/sys/bus/pci/devices/$f/net" 2>/dev/null)" ] || { echo "no interface: $f"; return 1; }
	done
}
devinfo() {
	local out
	out=$(ibv_devinfo -v) || return
	printf '%s\n' "$out"
	[ "$(printf '%s\n' "$out" | grep -c '^hca_id:')" -eq "$count" ]
}
links() {
	local out
	out=$(rdma link show) || return
	printf '%s\n' "$out"
	[ "$(printf '%s\n' "$out" | grep -c '^link mlx5_[0-9]*/1 .* netdev ')" -eq "$count" ]
}
usable() { await 20 are "$count" && netdevs && devinfo && links; }

unload() { modprobe -r mlx5_ib && modprobe -r mlx5_core && await 10 are 0 && [ ! -d "$drv" ]; }
load() { modprobe mlx5_core && modprobe mlx5_ib && usable; }
unbind() {
	local f
	for f in $(functions); do echo "$f" >"$drv/unbind" || return; done
	await 10 are 0
}
bind() {
	local f
	for f in $(functions); do echo "$f" >"$drv/bind" || return; done
	usable
}
take_out() {
	local f
	for f in $(functions); do echo 1 >"/sys/bus/pci/devices/$f/remove" || return; done
	await 10 are 0 && [ -z "$(functions)" ]
}
rescan() { echo 1 >/sys/bus/pci/rescan && [ "$(functions | wc -l)" -eq "$count" ] && usable; }
flr() { # function level reset, as a VM monitor does it before it gives a function to another
	local f
	for f in $(functions); do
		echo "$f" >"$drv/unbind" && echo flr >"/sys/bus/pci/devices/$f/reset_method" && echo 1 >"/sys/bus/pci/devices/$f/reset" &&
			echo "$f" >"$drv/bind" || return
	done
	usable
}
quiet() { dmesg | python3 "$here/dmesg.py" "$here/../dmesg.allowed"; }

try "loaded: verbs devices, interfaces, ibv_devinfo, rdma link" usable
try "unloaded" unload
try "loaded again" load
try "unbound" unbind
try "bound again" bind
try "reset (FLR) and bound again" flr
try "PCI functions taken out" take_out
try "found by a rescan, and usable" rescan
try "unloaded at the end" unload
try "loaded at the end" load
try "nothing broken in the kernel's log" quiet
finish
