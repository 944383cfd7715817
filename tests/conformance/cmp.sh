#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The list that the program prints is the one in the file: cmp.sh PROGRAM FILE
"$1" --markdown | diff -u "$2" - && exit
echo "update it: $1 --markdown >$2" >&2
exit 1
