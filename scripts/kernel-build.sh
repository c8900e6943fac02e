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

# What a later fragment says of an option holds.
wanted() {
	(cd "$CONFIGS" && cat ${what// /.config }.config) | grep -E '^CONFIG_[A-Z0-9_]+=' |
		tac | awk -F= '!said[$1]++' | tac
}

configure() { # TREE OUT MAKE-ARGUMENT...
	local want=$2.wanted out=$2 lost
	mkdir -p "$out"
	wanted >"$want"
	make -C "$1" O="$out" "${@:3}" KCONFIG_ALLCONFIG="$want" allnoconfig
	lost=$(sed -E 's/^(CONFIG_[A-Z0-9_]+)=n$/# \1 is not set/' "$want" |
		while read -r line; do
			grep -qxF "$line" "$out/.config" && continue
			# Asked to be off and not even offered is off.
			option=${line#\# }
			case $line in "#"*) grep -q "^${option%% *}=" "$out/.config" || continue ;; esac
			echo "$line"
		done)
	[ -z "$lost" ] || {
		printf 'the kernel configuration lost:\n%s\n' "$lost"
		return 1
	}
}

# What make must be told of the processor and the compiler.
make_arguments() {
	case $(arch)-$name in
	*-clang-*) echo LLVM=1 ;;
	i386-*) echo ARCH=i386 ;;
	arm64-*) echo ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- ;;
	*) echo ARCH=x86_64 ;;
	esac
}

# The tools of the packed tree are for this machine, whatever it builds for:
# told of no compiler, the script does not build them anew.
pack() { # OUT FOR-MODULES MAKE-ARGUMENT...
	make -C "$1" "${@:3}" run-command \
		KBUILD_RUN_COMMAND="env CC= HOSTCC= \$(srctree)/scripts/package/install-extmod-build $2"
}

unpack_and_configure() { # TREE OUT
	progress "$name: unpacking Debian's $SOURCE_PACKAGE" "$LOGS/$name/unpack" unpack_source "$1"
	progress "$name: configuring" "$LOGS/$name/configure" configure "$1" "$2" "${arguments[@]}"
}

get_build() {
	local dir=$1 tree=$1/source out=$1/out image arguments
	read -ra arguments < <(make_arguments)
	unpack_and_configure "$tree" "$out"
	progress "$name: building (about 8 minutes on 2 cores)" "$LOGS/$name/build" \
		make -C "$out" -j"$(nproc)" "${arguments[@]}"
	make -s -C "$out" "${arguments[@]}" kernelrelease >"$dir/release"
	image=$(make -s -C "$out" "${arguments[@]}" image_name)
	cp "$out/$image" "$dir/vmlinuz"
	progress "$name: packing what modules are built against" "$LOGS/$name/pack" \
		pack "$out" "$dir/build" "${arguments[@]}"
	mkdir -p "$dir/modules"
	find "$out" -name '*.ko' -exec cp {} "$dir/modules/" \;
	printf '%s\n' "${arguments[@]}" >"$dir/make-arguments"
	[ "$(arch)" = x86_64 ] || ARCH=$(debian_arch) "$TOP/scripts/apt-private" unpack "$dir/root" busybox-static
	rm -rf "$tree" "$out" "$out.wanted"
}

# As much of a kernel as it takes to compile a module, which cannot be loaded.
get_prepare() {
	local dir=$1 tree=$1/source out=$1/out arguments
	read -ra arguments < <(make_arguments)
	unpack_and_configure "$tree" "$out"
	progress "$name: preparing for modules" "$LOGS/$name/build" \
		make -C "$out" -j"$(nproc)" "${arguments[@]}" modules_prepare
	make -s -C "$out" "${arguments[@]}" kernelrelease >"$dir/release"
	: >"$out/Module.symvers"
	progress "$name: packing what modules are built against" "$LOGS/$name/pack" \
		pack "$out" "$dir/build" "${arguments[@]}"
	printf '%s\n' "${arguments[@]}" >"$dir/make-arguments"
	echo reventfd.o >"$dir/target"
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
