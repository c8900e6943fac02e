# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Part of scripts/kernel: Debian's kernel source, and kernels built from it.

unpack_source() { # DIR [PATH-IN-TREE]...
	local dir=$1 deb tarball
	shift
	deb=$(mktemp -d "$CACHE/source.XXXXXX")
	"$TOP/scripts/apt-private" unpack "$deb" "$SOURCE_PACKAGE"
	tarball=$(ls "$deb"/usr/src/linux-source-*.tar.xz)
	mkdir -p "$dir"
	tar -C "$dir" --strip-components=1 -xf "$tarball" \
		${1:+--wildcards} "${@/#/$SOURCE_PACKAGE/}"
	rm -rf "$deb"
}

configure() { # TREE OUT
	local want=$2.wanted lost
	mkdir -p "$2"
	(cd "$CONFIGS" && cat ${what// /.config }.config) >"$want"
	make -C "$1" O="$2" ARCH=x86_64 KCONFIG_ALLCONFIG="$want" allnoconfig
	lost=$(grep -E '^CONFIG_[A-Z0-9_]+=' "$want" | sed -E 's/^(CONFIG_[A-Z0-9_]+)=n$/# \1 is not set/' |
		while read -r line; do
			grep -qxF "$line" "$2/.config" && continue
			# Asked to be off and not even offered is off.
			option=${line#\# }
			case $line in "#"*) grep -q "^${option%% *}=" "$2/.config" || continue ;; esac
			echo "$line"
		done)
	[ -z "$lost" ] || {
		printf 'the kernel configuration lost:\n%s\n' "$lost"
		return 1
	}
}

get_build() {
	local dir=$1 tree=$1/source out=$1/out
	progress "$name: unpacking Debian's $SOURCE_PACKAGE" "$LOGS/$name/unpack" \
		unpack_source "$tree"
	progress "$name: configuring" "$LOGS/$name/configure" configure "$tree" "$out"
	progress "$name: building (about 8 minutes on 2 cores)" "$LOGS/$name/build" \
		make -C "$out" -j"$(nproc)" bzImage modules
	make -s -C "$out" kernelrelease >"$dir/release"
	cp "$out/arch/x86/boot/bzImage" "$dir/vmlinuz"
	progress "$name: packing what modules are built against" "$LOGS/$name/pack" \
		make -C "$out" run-command \
		KBUILD_RUN_COMMAND="\$(srctree)/scripts/package/install-extmod-build $dir/build"
	mkdir -p "$dir/modules"
	find "$out" -name '*.ko' -exec cp {} "$dir/modules/" \;
	rm -rf "$tree" "$out" "$out.wanted"
}

SOURCE_PATHS=(scripts/checkpatch.pl scripts/spelling.txt scripts/const_structs.checkpatch
	tools/testing/selftests tools/testing/kunit tools/memory-model tools/include .clang-format)

get_source() {
	local dir=$CACHE/$SOURCE_PACKAGE
	[ -e "$dir/tools/testing/kunit/kunit.py" ] && return 0
	rm -rf "$dir.tmp"
	progress "unpacking the tests' part of Debian's $SOURCE_PACKAGE" "$LOGS/source" \
		unpack_source "$dir.tmp" "${SOURCE_PATHS[@]}"
	rm -rf "$dir"
	mv "$dir.tmp" "$dir"
}
