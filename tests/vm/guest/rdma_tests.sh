#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# In a guest: rdma_tests.sh OUT FOLDER TABLE MODULE...
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1 folder=$2 table=$3
shift 3
python3 "$here/rdma_tests.py" "$folder" 30 "$table" "$@" >"$out/rdma-core.results"
dmesg | python3 "$here/dmesg.py" "$here/../dmesg.allowed" >"$out/rdma-core.dmesg"
