# SPDX-License-Identifier: GPL-2.0
# What people type. What the module is made of stands in Kbuild.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
DESTDIR ?=
PREFIX ?= /usr/local

# A kernel built by clang wants its modules built by clang.
LLVM ?= $(shell grep -qsx CONFIG_CC_IS_CLANG=y $(KDIR)/include/config/auto.conf && echo 1)
KBUILD := $(MAKE) -C $(KDIR) M=$(CURDIR) $(if $(LLVM),LLVM=$(LLVM))

.PHONY: all
all: modules

.PHONY: help
help:
	@echo 'make                builds reventfd.ko for the running kernel (KVER=, KDIR=: another)'
	@echo 'make demo           the storm on eventfd and on reventfd, side by side'
	@echo 'make check          every test, from nothing'
	@echo 'make check-all      on every kernel and processor, too; writes docs/kernels.md'
	@echo 'make check-quick    what to run between edits'
	@echo 'make tools          libreventfd-preload.so: reventfds for a program that calls eventfd(2)'
	@echo 'make bench          the tables and plots of docs/benchmarks.md; 15 minutes'
	@echo 'make style          checkpatch, sparse, W=1, shellcheck'
	@echo 'sudo make install   module, udev rule, header (uninstall takes them away)'
	@echo 'make clean          removes what was built here'

.PHONY: modules
modules:
	@test -e $(KDIR)/Makefile || { \
		echo 'make: there are no headers for kernel $(KVER) in $(KDIR)' >&2; \
		echo '  Install them, on Debian: apt-get install linux-headers-$(KVER)' >&2; \
		echo '  To try reventfd without: make demo' >&2; exit 2; }
	$(KBUILD) modules

.PHONY: tools
tools:
	@$(MAKE) -s -C tools

.PHONY: demo
demo:
	@scripts/demo

.PHONY: check
check:
	@scripts/check

.PHONY: check-all
check-all:
	@scripts/check all

.PHONY: check-quick
check-quick:
	@scripts/check quick

.PHONY: bench
bench:
	@scripts/bench

.PHONY: style
style:
	@scripts/style

.PHONY: install
install:
	@test -e reventfd.ko || { \
		echo "make: reventfd.ko is not built; run 'make' first, without sudo" >&2; exit 2; }
	install -D -m 644 reventfd.ko $(DESTDIR)/lib/modules/$(KVER)/updates/reventfd.ko
	install -D -m 644 docs/90-reventfd.rules $(DESTDIR)/usr/lib/udev/rules.d/90-reventfd.rules
	install -D -m 644 include/uapi/linux/reventfd.h \
		$(DESTDIR)$(PREFIX)/include/linux/reventfd.h
	$(if $(DESTDIR),,depmod $(KVER))

.PHONY: uninstall
uninstall:
	rm -f $(DESTDIR)/lib/modules/$(KVER)/updates/reventfd.ko
	rm -f $(DESTDIR)/usr/lib/udev/rules.d/90-reventfd.rules
	rm -f $(DESTDIR)$(PREFIX)/include/linux/reventfd.h
	$(if $(DESTDIR),,depmod $(KVER))

.PHONY: clean
clean:
	rm -rf build
	find . -path ./build -prune -o \( -name '*.o' -o -name '*.ko' -o -name '*.mod' \
		-o -name '*.mod.c' -o -name '.*.cmd' -o -name Module.symvers \
		-o -name modules.order \) -type f -print | xargs -r rm -f
