#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mandoc's opinion of one page: no warnings.
exec mandoc -Tlint -W warning,stop "$1"
