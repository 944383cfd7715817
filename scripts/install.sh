# SPDX-License-Identifier: BSD-2-Clause
# Sourced by run.sh and test.sh: installs the Debian packages given as arguments, those of them that are missing.
install_packages() {
	local missing=() p
	for p in "$@"; do
		dpkg-query -W -f='${Status}\n' "$p" 2>/dev/null | grep -q '^install ok installed' || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	echo "installing: ${missing[*]}" >&2
	local as_root=()
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null; then
			echo "these Debian packages are missing, and this is neither root nor is there sudo: ${missing[*]}" >&2
			return 1
		fi
		as_root=(sudo)
	fi
	local log
	log=$(mktemp)
	if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
		--no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
		cat "$log" >&2
		rm -f "$log"
		echo "apt-get failed (above)" >&2
		return 1
	fi
	rm -f "$log"
}

# What the library and the tool need to be built.
build_packages=(gcc libc6-dev meson ninja-build pkg-config python3 libibverbs-dev libpcap-dev libjansson-dev libncurses-dev libseccomp-dev
	libarchive-dev)
# What the tests need besides.
test_packages=(libcmocka-dev xz-utils clang libclang-rt-14-dev llvm ibverbs-providers tshark tcpdump mandoc valgrind procps git)
