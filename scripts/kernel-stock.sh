# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Part of scripts/kernel: kernels that Debian has built.

# Debian's headers hold absolute paths into /usr/src and /usr/lib.
relocate() { # ROOT WHERE-IT-WILL-LIE
	local root=$1 final=$2 file
	while read -r file; do
		sed -i -E "s#(^|[ =])(/usr/(src|lib)/linux-)#\1$final\2#g" "$file"
	done < <(grep -lE '(^|[ =])/usr/(src|lib)/linux-' "$root"/usr/src/*/Makefile \
		"$root"/usr/src/*/scripts 2>/dev/null)
}

# What the other ports of the virtual machine need and is built as modules.
keep_channels() { # DIR
	local module
	mkdir "$1/early"
	for module in virtio virtio_ring virtio_mmio virtio_console; do
		find "$1/root/lib/modules" -name "$module.ko*" -exec cp {} "$1/early/" \;
	done
	find "$1/early" -name '*.xz' -exec unxz {} +
}

# For another processor: its headers, with this machine's tools.
get_stock() {
	local dir=$1 headers image common tools
	local -x ARCH
	ARCH=$(debian_arch)
	image=$("$TOP/scripts/apt-private" newest "$what")
	headers=linux-headers-${image#linux-image-}
	mapfile -t common < <("$TOP/scripts/apt-private" depends "$headers" |
		grep -E '^linux-(headers|kbuild)-')
	mapfile -t tools < <(printf '%s\n' "${common[@]}" | grep kbuild)
	mapfile -t common < <(printf '%s\n' "${common[@]}" | grep -v kbuild)
	"$TOP/scripts/apt-private" unpack "$dir/root" "$image" "$headers" "${common[@]}"
	ARCH='' "$TOP/scripts/apt-private" unpack "$dir/root" "${tools[@]}"
	[ "$(arch)" = x86_64 ] ||
		"$TOP/scripts/apt-private" unpack "$dir/root" busybox-static
	relocate "$dir/root" "$KERNELS/$name/root"
	printf '%s\n' "${image#linux-image-}" >"$dir/release"
	mv "$dir/root/boot/vmlinuz-$(cat "$dir/release")" "$dir/vmlinuz"
	[ "$(arch)" != arm64 ] || keep_channels "$dir"
	rm -rf "$dir/root/lib" "$dir/root/boot" "$dir/root/usr/share"
	ln -sfn "root/usr/src/$headers" "$dir/build"
	# Type information for BPF would need a tool that is not needed here.
	make_arguments | sed 's/ARCH=x86_64 *//; s/$/ CONFIG_DEBUG_INFO_BTF_MODULES=/' >"$dir/make-arguments"
}

# Programs in FOLDER that this machine's C library is too old for run with the
# one in LIBRARIES, through its own loader.
lend_libraries() { # FOLDER LIBRARIES
	local file
	while read -r -d '' file; do
		ldd "$file" 2>&1 | grep -q 'not found' || continue
		mv "$file" "$file.elf"
		printf '#!/bin/sh\nexec %s --library-path %s "$0.elf" "$@"\n' \
			"$2/ld-linux-x86-64.so.2" "$2" >"$file"
		chmod +x "$file"
	done < <(find "$1" -type f -perm /111 -print0)
}

# From Debian 13's backports: their newest of the series named, or else their
# newest. The headers' tools want Debian 13's C library; the compiler is ours.
get_trixie() {
	local dir=$1 series flavour binary version common libraries=root/usr/lib/x86_64-linux-gnu
	local -x SUITES=trixie-backports
	read -r series flavour <<<"$what"
	binary=$("$TOP/scripts/apt-private" newest "linux-binary-$series\\.[0-9]+\\+deb13-$flavour") ||
		binary=$("$TOP/scripts/apt-private" newest "linux-binary-[0-9.]+\\+deb13-$flavour")
	version=${binary#linux-binary-}
	mapfile -t common < <("$TOP/scripts/apt-private" depends "linux-headers-$version" |
		grep -E '^linux-(headers|kbuild)-')
	"$TOP/scripts/apt-private" unpack "$dir/root" "$binary" "linux-headers-$version" "${common[@]}"
	SUITES=trixie "$TOP/scripts/apt-private" unpack "$dir/root" libc6 libelf1t64 zlib1g libzstd1
	relocate "$dir/root" "$KERNELS/$name/root"
	lend_libraries "$(echo "$dir"/root/usr/lib/linux-kbuild-*)" "$KERNELS/$name/$libraries"
	printf '%s\n' "$version" >"$dir/release"
	mv "$dir/root/usr/lib/modules/$version/vmlinuz" "$dir/vmlinuz"
	rm -rf "$dir/root/usr/share" "$dir/root/usr/lib/modules"
	ln -sfn "root/usr/src/linux-headers-$version" "$dir/build"
	# What the kernel's own, newer compiler can do besides is switched off.
	printf '%s\n' CC=gcc CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT= CONFIG_DEBUG_INFO_BTF_MODULES= \
		>"$dir/make-arguments"
}
