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
all: modules tools

.PHONY: help
help:
	@echo 'make                builds reventfd.ko for the running kernel (KVER=, KDIR=: another)'
	@echo 'make demo           the storm on eventfd and on reventfd, side by side'
	@echo 'make check          every test, from nothing'
	@echo 'make check-all      on every kernel and processor, on a bare Debian and with Secure Boot'
	@echo 'make check-quick    what to run between edits'
	@echo 'make tools          reventfd-run, for programs that call eventfd(2), and reventfdctl'
	@echo 'make bench          the tables and plots of docs/benchmarks.md; 15 minutes'
	@echo 'make coverage       which lines and branches of the module the tests run'
	@echo 'make model          the wake protocol under the model checkers'
	@echo 'make style          checkpatch, sparse, W=1, shellcheck'
	@echo 'sudo make install   module, udev rule, header, tools (uninstall takes them away)'
	@echo 'sudo make dkms-install   the same, the module built by DKMS (and dkms-remove)'
	@echo 'make deb            Debian packages of all that, in build/deb'
	@echo 'make clean          removes what was built here'

.PHONY: modules
modules:
	@test -e $(KDIR)/Makefile || { \
		echo 'make: there are no headers for kernel $(KVER) in $(KDIR)' >&2; \
		echo '  Install them, on Debian: apt-get install linux-headers-$(KVER)' >&2; \
		echo '  To try reventfd without: make demo' >&2; exit 2; }
	+$(KBUILD) modules

.PHONY: tools
tools:
	@! command -v dpkg-query >/dev/null || scripts/setup tools
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

.PHONY: coverage
coverage:
	@scripts/coverage

.PHONY: model
model:
	@scripts/model

.PHONY: style
style:
	@scripts/style

export DESTDIR PREFIX

.PHONY: install install-module install-files
install: install-module install-files
install-module install-files: install-%:
	@KVER=$(KVER) scripts/install put $*

.PHONY: uninstall
uninstall:
	@scripts/install take module
	@scripts/install take files

.PHONY: dkms-install
dkms-install:
	@KVER=$(if $(filter-out undefined file,$(origin KVER)),$(KVER)) scripts/dkms install
	@scripts/install put files

.PHONY: dkms-remove
dkms-remove:
	@scripts/dkms remove
	@scripts/install take files

.PHONY: deb
deb:
	@scripts/deb

.PHONY: clean
clean:
	rm -rf build
	find . -path ./build -prune -o \( -name '*.o' -o -name '*.ko' -o -name '*.mod' \
		-o -name '*.mod.c' -o -name '.*.cmd' -o -name Module.symvers \
		-o -name modules.order \) -type f -print | xargs -r rm -f
