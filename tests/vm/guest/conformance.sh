#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# In a guest: conformance.sh OUT. The conformance cases, over our library and then over rdma-core's, on the same device.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# Cases bring the interface up, for the state of its link; nothing is to be sent.
echo 1 | tee /proc/sys/net/ipv6/conf/*/disable_ipv6 >/dev/null
LD_LIBRARY_PATH=$here/.. python3 "$here/conformance.py" "$1/conformance.ours.tap" "$here/../devx-conformance"
python3 "$here/conformance.py" "$1/conformance.rdma.tap" "$here/../devx-conformance-rdma"
dmesg | python3 "$here/dmesg.py" "$here/../dmesg.allowed" "$here/../dmesg.conformance" >"$1/conformance.dmesg"
