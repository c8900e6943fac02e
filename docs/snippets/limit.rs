// SPDX-License-Identifier: GPL-2.0
// rustc limit.rs
use std::fs::{File, OpenOptions};
use std::io::{Error, Read, Result, Write};
use std::os::raw::{c_int, c_short, c_ulong};
use std::os::unix::io::AsRawFd;

#[repr(C)]
#[derive(Default)]
struct Limit {
    rate: u32,
    burst: u32,
    flags: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Default)]
struct Stats {
    writes: u64,
    reads: u64,
    wakeups: u64,
    deferred: u64,
    timer_fires: u64,
}

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: c_short,
    revents: c_short,
}

extern "C" {
    fn ioctl(fd: c_int, command: c_ulong, ...) -> c_int;
    fn poll(fds: *mut PollFd, n: c_ulong, timeout: c_int) -> c_int;
}

const POLLIN: c_short = 1;

// As x86, Arm, RISC-V and most others have it; Alpha, MIPS, PowerPC and SPARC differ.
const fn command(direction: c_ulong, number: c_ulong, size: usize) -> c_ulong {
    direction << 30 | (size as c_ulong) << 16 | 0xEF << 8 | number
}

const SET_LIMIT: c_ulong = command(1, 1, std::mem::size_of::<Limit>());
const GET_STATS: c_ulong = command(2, 2, std::mem::size_of::<Stats>());

fn check(result: c_int) -> Result<c_int> {
    if result < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(result)
    }
}

struct Counter(File);

impl Counter {
    fn new() -> Result<Counter> {
        Ok(Counter(OpenOptions::new().read(true).write(true).open("/dev/reventfd")?))
    }

    fn limit(&self, rate: u32, burst: u32) -> Result<()> {
        let limit = Limit { rate, burst, ..Default::default() };
        check(unsafe { ioctl(self.0.as_raw_fd(), SET_LIMIT, &limit) }).map(|_| ())
    }

    fn add(&self, n: u64) -> Result<()> {
        (&self.0).write_all(&n.to_ne_bytes())
    }

    fn wait(&self) -> Result<u64> {
        let mut consumer = PollFd { fd: self.0.as_raw_fd(), events: POLLIN, revents: 0 };
        let mut n = [0; 8];
        check(unsafe { poll(&mut consumer, 1, -1) })?;
        (&self.0).read_exact(&mut n)?;
        Ok(u64::from_ne_bytes(n))
    }

    fn stats(&self) -> Result<Stats> {
        let mut stats = Stats::default();
        check(unsafe { ioctl(self.0.as_raw_fd(), GET_STATS, &mut stats) })?;
        Ok(stats)
    }
}

fn main() -> Result<()> {
    let counter = Counter::new()?;
    counter.limit(1000, 2)?;
    for n in 1..=3 {
        counter.add(n)?;
    }
    let n = counter.wait()?;
    let stats = counter.stats()?;
    println!("{} events in {} writes and {} read", n, stats.writes, stats.reads);
    Ok(())
}
