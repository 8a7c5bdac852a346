"""What a gateway adds to a call: the same echo server called directly, through the Rust `mcp-proxy`, and through Lockgate.

    bench/mcp/overhead.py                      everything that is built; see README.md for what has to be
    bench/mcp/overhead.py --only direct        one way
    bench/mcp/overhead.py --calls 10000 --rounds 5
    bench/mcp/overhead.py --syncs              how often a call waits for the disk (needs strace)

Prints a table. Every way uses the same server, the same load generator (`mcp-peer load`) and the same machine. The rounds go through all
ways in turn, and a figure is the median of the rounds; CPU time is that of the process in the middle (directly: of the server itself).
"""

import argparse
import contextlib
import json
import pathlib
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / "target"
PEER = TARGET / "release/mcp-peer"
PROXY = TARGET / "bench-tools/bin/mcp-proxy"
LOCKGATE = TARGET / "release/lockgate"
CALLERS = (1, 32)
FIELDS = {
    "calls_per_second": "calls/s",
    "p50_ms": "p50 ms",
    "p99_ms": "p99 ms",
    "cpu_ms_per_call": "CPU ms a call",
    "peak_memory_mib": "memory MiB",
}


class Started:
    """A process that ends with its stdin, or is ended. It says where it is, or is told."""

    tool = "echo"

    def __init__(self, command, url=None):
        told = subprocess.DEVNULL if url else subprocess.PIPE
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=told, stderr=subprocess.DEVNULL, text=True)
        self.url = url or next(word for line in self.child.stdout for word in line.split() if word.startswith("http://"))
        self._wait()

    def _wait(self):
        """Until somebody listens there."""
        place = urllib.parse.urlsplit(self.url)
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection((place.hostname, place.port)):
                return
            time.sleep(0.05)
        raise SystemExit(f"nobody listens at {self.url}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        self.child.terminate()
        self.child.wait(timeout=10)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", nargs="*")
    arguments.add_argument("--calls", type=int, default=10000)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--syncs", action="store_true")
    given = arguments.parse_args()
    ways = {
        "direct": direct,
        "mcp-proxy 0.6.0": proxy,
        "lockgate, `memory:100`": plain,
        "lockgate, SQLite": journaled,
    }
    with contextlib.ExitStack() as running:
        folder = pathlib.Path(running.enter_context(tempfile.TemporaryDirectory()))
        server = running.enter_context(Started([PEER, "echo", "--http", "127.0.0.1:0"]))
        if given.syncs:
            return syncs(running, server, folder)
        middles = {}
        for way, start in ways.items():
            if (not given.only or way in given.only) and (middle := start(server, folder)):
                middles[way] = middle if middle is server else running.enter_context(middle)
        costs = {}
        for _ in range(given.rounds):
            for way, middle in middles.items():
                for callers in CALLERS:
                    costs.setdefault((way, callers), []).append(load(middle, callers, given.calls))
    print(f"| way | callers | {' | '.join(FIELDS.values())} |\n|---|---|{'---|' * len(FIELDS)}")
    for (way, callers), rounds in costs.items():
        print(f"| {way} | {callers} | " + " | ".join(f"{middling(rounds, field):.4g}" for field in FIELDS) + " |")


def middling(rounds, field):
    """The median of the rounds."""
    return statistics.median(cost[field] for cost in rounds)


def syncs(running, server, folder):
    """How often a call through the journal waits for the disk, with one caller: counted by strace, after the first calls."""
    calls = 500
    seen = folder / "syncs"
    middle = running.enter_context(journaled(server, folder))
    load(middle, 1, calls, watched=False)
    trace = ["strace", "-f", "-e", "trace=fsync,fdatasync", "-o", str(seen), "-p", str(middle.child.pid)]
    tracer = subprocess.Popen(trace, stderr=subprocess.PIPE, text=True)
    # It says so once it is there.
    tracer.stderr.readline()
    load(middle, 1, calls, watched=False)
    tracer.terminate()
    tracer.wait(timeout=10)
    # A tenth of the calls goes before those that are asked for.
    print(f"{called(seen) / (calls + calls // 10):.2f} syncs a call")


def called(trace):
    """How many calls of the system a trace has; the rest of one that others interrupted has no bracket."""
    return sum("sync(" in line for line in trace.read_text().splitlines())


def load(middle, callers, calls, watched=True):
    """What so many calls cost."""
    watch = ["--watch", str(middle.child.pid)] if watched else []
    command = [PEER, "load", "--url", middle.url, "--callers", str(callers), "--calls", str(calls), *watch]
    said = subprocess.run([*command, "--tool", middle.tool], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(said)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def direct(server, _):
    return server


def proxy(server, folder):
    """The other one, with one server behind it."""
    if not PROXY.exists():
        return None
    port = free_port()
    config = folder / "proxy.toml"
    config.write_text(
        f'[proxy]\nname = "proxy"\n\n[proxy.listen]\nhost = "127.0.0.1"\nport = {port}\n\n'
        f'[[backends]]\nname = "echo"\ntransport = "http"\nurl = "{server.url}"\n\n[observability]\nlog_level = "error"\n'
    )
    started = Started([PROXY, "--config", str(config)], f"http://127.0.0.1:{port}/")
    started.tool = "echo/echo"
    return started


def plain(server, folder):
    """Lockgate with its policy and schemas, and a journal that is in memory alone and forgets."""
    return lockgate(server, folder, "memory:100")


def journaled(server, folder):
    """Lockgate with a journal on this disk, which each call waits for."""
    return lockgate(server, folder, f"sqlite:{folder / 'journal.db'}")


def lockgate(server, folder, journal):
    if not LOCKGATE.exists():
        return None
    config = folder / f"{journal.partition(':')[0]}.toml"
    config.write_text(f'[journal]\nurl = "{journal}"\n\n[mcp.echo]\nurl = "{server.url}"\npermission = "allow"\n')
    port = free_port()
    command = [LOCKGATE, "serve", str(config), "--bind", f"127.0.0.1:{port}"]
    started = Started(command, f"http://127.0.0.1:{port}/mcp")
    started.tool = "echo__echo"
    return started


if __name__ == "__main__":
    main()
