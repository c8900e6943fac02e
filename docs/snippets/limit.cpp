// SPDX-License-Identifier: GPL-2.0
// g++ -std=c++11 -Wall -o limit limit.cpp
#include <cerrno>
#include <cstdint>
#include <exception>
#include <iostream>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/reventfd.h>

class Counter {
public:
	Counter() : fd(open("/dev/reventfd", O_RDWR | O_CLOEXEC))
	{
		check(fd >= 0, "/dev/reventfd");
	}
	~Counter() { close(fd); }
	Counter(const Counter &) = delete;
	Counter &operator=(const Counter &) = delete;

	void limit(std::uint32_t rate, std::uint32_t burst)
	{
		reventfd_limit l = {};

		l.rate = rate;
		l.burst = burst;
		check(ioctl(fd, REVENTFD_IOC_SET_LIMIT, &l) == 0, "REVENTFD_IOC_SET_LIMIT");
	}
	void add(std::uint64_t n)
	{
		check(write(fd, &n, sizeof(n)) == sizeof(n), "write");
	}
	std::uint64_t wait()
	{
		pollfd p = { fd, POLLIN, 0 };
		std::uint64_t n;

		check(poll(&p, 1, -1) == 1, "poll");
		check(read(fd, &n, sizeof(n)) == sizeof(n), "read");
		return n;
	}
	reventfd_stats stats()
	{
		reventfd_stats s;

		check(ioctl(fd, REVENTFD_IOC_GET_STATS, &s) == 0, "REVENTFD_IOC_GET_STATS");
		return s;
	}

private:
	static void check(bool well, const char *what)
	{
		if (!well)
			throw std::system_error(errno, std::generic_category(), what);
	}

	int fd;
};

int main()
try {
	Counter counter;

	counter.limit(1000, 2);
	for (std::uint64_t n = 1; n <= 3; n++)
		counter.add(n);

	const std::uint64_t n = counter.wait();
	const reventfd_stats stats = counter.stats();

	std::cout << n << " events in " << stats.writes << " writes and " << stats.reads << " read\n";
	return 0;
} catch (const std::exception &error) {
	std::cerr << error.what() << '\n';
	return 1;
}
