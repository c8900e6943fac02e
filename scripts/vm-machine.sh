# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2054,SC2154
#
# Part of scripts/vm: the emulated machines. Each has four channels to the
# files of WORK: the kernel's log, the command's output and error output, and
# what became of it.

machine_x86() { # WORK
	qemu=(qemu-system-x86_64 -M q35 -cpu max,la57=off -device isa-debug-exit,iobase=0xf4,iosize=1
		-serial file:"$1/log" -serial file:"$1/out" -serial file:"$1/err" -serial file:"$1/end")
	console=ttyS0
}

# It has one serial port; the other channels go through virtio, without PCI.
machine_arm64() { # WORK
	local name
	qemu=(qemu-system-aarch64 -M virt,gic-version=3 -cpu neoverse-n1 -serial file:"$1/log"
		-device virtio-serial-device)
	for name in out err end; do
		qemu+=(-chardev file,"id=$name,path=$1/$name" -device "virtserialport,chardev=$name")
	done
	console=ttyAMA0
}

boot() { # WORK KERNEL-FOLDER PROCESSOR
	local work=$1 qemu console
	case $3 in
	arm64) machine_arm64 "$work" ;;
	*) machine_x86 "$work" ;;
	esac
	# Debian 12's QEMU may still run the breakpoint under which the kernel rewrites
	# an instruction after it is gone: "Oops: int3". So nothing that both CPUs run
	# all the time is rewritten: tracing any event would also hook each switch of
	# tasks, to know their names.
	timeout --foreground -k 5 "$seconds" "${qemu[@]}" "${clock[@]}" "${more[@]}" \
		-smp "$cpus" -m "$memory" -nodefaults -no-user-config \
		-display none -no-reboot -kernel "$2/vmlinuz" -initrd "$work/root.cpio" \
		-append "console=$console loglevel=6 panic=-1 oops=panic trace_options=norecord-cmd $append" </dev/null
}
