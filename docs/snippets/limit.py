#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Python has calls for eventfds; they read and write whatever descriptor they are given."""
import fcntl
import os
import select
import struct

LIMIT = struct.Struct('=IIII')  # rate, burst, flags, pad
STATS = struct.Struct('=QQQQQ')  # writes, reads, wakeups, deferred, timer_fires
WRITE, READ = 1, 2


# As x86, Arm, RISC-V and most others have it; Alpha, MIPS, PowerPC and SPARC differ.
def command(direction, number, size):
    return direction << 30 | size << 16 | 0xEF << 8 | number


SET_LIMIT = command(WRITE, 1, LIMIT.size)
GET_STATS = command(READ, 2, STATS.size)

fd = os.open('/dev/reventfd', os.O_RDWR | os.O_CLOEXEC)
fcntl.ioctl(fd, SET_LIMIT, LIMIT.pack(1000, 2, 0, 0))

for n in 1, 2, 3:
    os.eventfd_write(fd, n)

consumer = select.poll()
consumer.register(fd, select.POLLIN)
consumer.poll()
n = os.eventfd_read(fd)

writes, reads, *_ = STATS.unpack(fcntl.ioctl(fd, GET_STATS, bytes(STATS.size)))
print(f'{n} events in {writes} writes and {reads} read')
