#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# In a guest: bench.sh FOLDER. The benchmark over both libraries on one device.
set -uo pipefail
cd "$1" || exit
export LD_LIBRARY_PATH=$1
python3 ./uverbs.py ./bench-uverbs ./bench-uverbs-rdma ./bench-steps
