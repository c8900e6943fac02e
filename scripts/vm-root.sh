# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Part of scripts/vm: what is in the virtual machine's root folder.

# Where the C library of another processor's cross compiler lies.
sysroot() { # ELF-FILE
	case $(LC_ALL=C readelf -h "$1" | sed -n 's/^ *Machine: *//p') in
	'Intel 80386') echo /usr/i686-linux-gnu/lib ;;
	AArch64) echo /usr/aarch64-linux-gnu/lib ;;
	esac
}

# ldd runs what it is asked about, so it knows only this machine's programs.
copy_foreign_libraries() { # ROOT ELF-FILE
	local from library
	from=$(sysroot "$2")
	[ -n "$from" ] || return 0
	readelf -ld "$2" | sed -nE 's#.*(interpreter: .*/|\(NEEDED\).*\[)([^]]+)\]#\2#p' |
		while read -r library; do
			[ -e "$from/$library" ] && [ ! -e "$1/lib/$library" ] || continue
			cp -L "$from/$library" "$1/lib/"
			copy_foreign_libraries "$1" "$from/$library"
		done
}

copy_libraries() { # ROOT ELF-FILE
	local libraries
	# ldd fails on a static program, too, which needs none.
	libraries=$(ldd "$2" 2>/dev/null) || { copy_foreign_libraries "$1" "$2"; return; }
	sed -nE 's#^[^/]*(/[^ ]+).*#\1#p' <<<"$libraries" | while read -r library; do
		[ -e "$1$library" ] || cp -L --parents "$library" "$1/"
	done
}

# A program runs only with its libraries, a script with its interpreter.
complete() { # ROOT FILE
	local interpreter
	case $(head -c 4 "$2" | tr -d '\0') in
	$'\x7fELF') copy_libraries "$1" "$2" ;;
	'#!'*)
		interpreter=$(head -n 1 "$2" | sed -E 's/^#! *([^ ]+).*/\1/')
		case $interpreter in
		/bin/sh | /usr/bin/env | /bin/busybox) ;;
		*) bring "$1" "$interpreter" ;;
		esac
		;;
	esac
}

bring() { # ROOT ABSOLUTE-PATH: to the same place there
	local path
	path=$(realpath -ms "$2")
	[ -f "$path" ] && [ ! -e "$1$path" ] || return 0
	mkdir -p "$1$(dirname "$path")"
	cp -L "$path" "$1$path"
	complete "$1" "$path"
}

put() { # ROOT FILE-OR-FOLDER: into the working folder
	local file target=$1/work
	[ -e "$2" ] || die "-f $2: no such file or folder"
	cp -rL "$2$([[ $2 != */ ]] || echo .)" "$target/"
	while read -r -d '' file; do
		complete "$1" "$file"
	done < <(find -L "$2" -type f -perm /111 -print0 -o -type f -name '*.so*' -print0)
}

# The command's program, if this machine has it and the guest would not.
put_command() { # ROOT WORD
	local found
	case $2 in
	/*) bring "$1" "$2" ;;
	*/*) [ ! -f "$2" ] || [ -e "$1/work/$2" ] || put "$1" "$2" ;;
	*)
		[ -e "$1/work/$2" ] || busybox --list | grep -qxF -- "$2" ||
			{ found=$(type -P -- "$2") && bring "$1" "$found"; } || true
		;;
	esac
}

write_command() { # FILE WORD...
	local file=$1 word
	shift
	printf 'exec' >"$file"
	for word in "$@"; do
		printf " '%s'" "${word//\'/\'\\\'\'}" >>"$file"
	done
	echo >>"$file"
}

make_root() { # ROOT COMMAND...
	local root=$1 path
	shift
	mkdir -p "$root"/{bin,dev,etc,proc,sys,work,root,sbin,usr/bin,usr/sbin,lib,lib64}
	cp "$busybox" "$root/bin/busybox"
	cp "$TOP/scripts/guest-init" "$root/init"
	printf 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/work:/bin/sh\n' >"$root/etc/passwd"
	printf 'root:x:0:\nuser:x:1000:\n' >"$root/etc/group"
	[ ! -e "$dir/early" ] || cp -r "$dir/early" "$root/early"
	[ -z "$module" ] || "$strip" -g -o "$root/reventfd.ko" "$module"
	[ -z "$unprivileged" ] || : >"$root/unprivileged"
	for path in ${paths[@]+"${paths[@]}"}; do
		put "$root" "$path"
	done
	put_command "$root" "$1"
	case $1 in
	*/*) [ "${1:0:1}" = / ] || [ -e "$root/work/$1" ] || set -- "./$(basename "$1")" "${@:2}" ;;
	esac
	write_command "$root/command" "$@"
	(cd "$root" && find . -mindepth 1 | cpio -o -H newc -R 0:0 --quiet) >"$root.cpio"
}
