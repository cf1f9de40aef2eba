# Copyright the DataLoading authors
# SPDX-License-Identifier: Apache-2.0
"""A Redis server that can be troubled, and runs of daemons that share a rate through it, for `fleet`."""

import os
import subprocess
import sys
import tempfile
import time

DAEMONS = 8
# What runs, or has run: a scene that ends amid its run leaves some.
started = []


class Server:
    """A Redis server on a Unix-domain socket, whose clock can be set if that is asked for."""

    def __init__(self, directory, name="redis", port=0, more=(), clock=False):
        self.path = os.path.join(directory, name + ".sock")
        self.url = "unix://" + self.path
        self.directory = directory
        self.port = port
        self.arguments = [
            os.environ.get("REDIS_SERVER", "redis-server"), "--port", str(port),
            "--unixsocket", self.path, "--save", "", "--appendonly", "no", "--dir", directory, *more,
        ]
        self.environment = dict(os.environ)
        self.clock = os.path.join(directory, "clock")
        if clock:
            self.environment.update(LD_PRELOAD=build_clock(directory), CLOCK_FILE=self.clock)
            self.set_clock(0)
        self.start()

    def set_clock(self, seconds):
        """Sets the server's clock so many seconds ahead."""
        with open(self.clock + ".new", "w") as file:
            file.write(f"{seconds}\n")
        os.rename(self.clock + ".new", self.clock)

    def start(self):
        self.process = subprocess.Popen(
            self.arguments, stdout=subprocess.DEVNULL, env=self.environment)
        while self.run("PING", check=False) != "PONG":
            time.sleep(0.02)

    def run(self, *words, check=True):
        done = subprocess.run(["redis-cli", "-s", self.path, *words], capture_output=True, text=True)
        if check and done.returncode != 0:
            sys.exit(f"{words[0]}: {done.stderr}")
        return done.stdout.strip()

    def calls(self):
        """How many scripts were run that are no heartbeats, of which each counts a set once."""
        total = 0
        for line in self.run("INFO", "commandstats").splitlines():
            name, _, rest = line.partition(":calls=")
            number = int(rest.split(",")[0] or 0) if rest else 0
            if name in ("cmdstat_evalsha", "cmdstat_eval"):
                total += number
            elif name == "cmdstat_zcount":
                total -= number
        return total

    def kill(self):
        self.process.kill()
        self.process.wait()


def build():
    command = ["swift", "build", "-c", "release", "--package-path", "Tests/FleetProbe"]
    subprocess.run(command + ["--quiet"], check=True)
    path = subprocess.run(command + ["--show-bin-path"], check=True, capture_output=True, text=True)
    return os.path.join(path.stdout.strip(), "FleetProbe")


# Under libfaketime Debian's redis-server does not start: it stops at recursive calls before main. What
# scripts know of the time comes from this function.
CLOCK = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    long result = syscall(SYS_gettimeofday, time, zone), ahead = 0;
    FILE *file = fopen(getenv("CLOCK_FILE"), "r");
    if (file) {
        if (fscanf(file, "%ld", &ahead) == 1) time->tv_sec += ahead;
        fclose(file);
    }
    return result;
}
"""


def build_clock(directory):
    """Builds a library with a clock that is as far ahead as a file says."""
    library = os.path.join(directory, "clock.so")
    subprocess.run(
        ["clang", "-x", "c", "-shared", "-fPIC", "-o", library, "-"], input=CLOCK, text=True,
        check=True)
    return library


class Resources:
    """What a process has."""

    def __init__(self, process):
        with open(f"/proc/{process}/status") as status:
            fields = dict(line.rstrip("\n").split(":\t", 1) for line in status)
        # KiB.
        self.memory = int(fields["VmRSS"].split()[0])
        self.others = int(fields["Threads"]) + len(os.listdir(f"/proc/{process}/fd"))


class Run:
    """What daemons did: eight of them, if a trouble does not start or end some."""

    def __init__(self, probe, server, seconds, trouble=lambda run: None, each=lambda place: {}, **settings):
        self.seconds = seconds
        self.probe = probe
        self.settings = dict(server=server.url, members=DAEMONS, **settings)
        self.daemons = []
        before = server.calls()
        self.begun = time.monotonic()
        for place in range(DAEMONS):
            self.add(**each(place))
        trouble(self)
        self.starts, self.waits, self.failed, self.counts = [], [], [], []
        for daemon, output in self.daemons:
            daemon.wait()
            output.seek(0)
            self.read(output)
            output.close()
        self.starts.sort()
        self.waits.sort()
        try:
            self.calls = server.calls() - before
        except SystemExit:
            self.calls = 0

    def add(self, until=None, **settings):
        """Starts a daemon that ends when all do, or so many seconds after the first; what is None is not
        said."""
        rest = self.begun + (until or self.seconds) - time.monotonic()
        words = {**self.settings, "seconds": rest, **settings}
        output = tempfile.TemporaryFile("w+")
        daemon = subprocess.Popen(
            [self.probe]
            + [f"{key}={value}" for key, value in words.items() if value is not None],
            stdout=output)
        self.daemons.append((daemon, output))
        started.append(daemon)
        return daemon

    def read(self, output):
        """Reads what a daemon has written; one that was killed may have been in a line."""
        mine = 0
        for line in output:
            words = line.split()
            if words[0] == "start" and len(words) == 2:
                self.starts.append(int(words[1]) / 1e9)
                mine += 1
            elif words[0] == "wait" and len(words) == 3:
                # At first they connect, all at once.
                if int(words[2]) >= 3e9:
                    self.waits.append(float(words[1]) / 1e6)
            elif words[0] == "failed":
                self.failed.append(line.strip())
        self.counts.append(mine)

    def at(self, second):
        """Sleeps until so many seconds after the begin, and returns the instant."""
        time.sleep(max(0, self.begun + second - time.monotonic()))
        return time.monotonic()

    def count(self, first, last):
        """The loads that began between two instants."""
        return sum(1 for start in self.starts if first <= start < last)

    def most(self, first, last, width=1.0):
        """The most loads that began within any second."""
        best = low = 0
        starts = [start for start in self.starts if first <= start < last]
        for high, start in enumerate(starts):
            while starts[low] <= start - width:
                low += 1
            best = max(best, high - low + 1)
        return best

    def quarters(self, first, last, rate):
        """The share of the rate in each quarter of a second, in per cent."""
        shares = []
        while first + 0.25 <= last:
            shares.append(round(100 * self.count(first, first + 0.25) / (rate / 4)))
            first += 0.25
        return shares
