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
# shellcheck source=tests/vm/guest/card.sh
. "$here/card.sh"

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
