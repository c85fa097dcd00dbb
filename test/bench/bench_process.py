"""Runs p2p_bench for its tests: with limits on time, and without leftovers."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading

# For hangs, not for slowness: a sanitizer's build on a busy machine is slow.
PATIENCE_S = 120
SMALL = ["--blocks", "6", "--layers", "3", "--ranks", "4", "--segment-bytes", "4KiB"]

program = None  # the path of p2p_bench, set by whoever runs the tests
latency_program = None  # that of bench_latency, where benches are built
sweep_program = None  # likewise of rail_sweep


def environment(extra=None):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CORAIL_")}
    return kept | (extra or {})


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def run(*arguments, env=None, of=None):
    done = subprocess.run([of or program, *arguments], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_S, env=environment(env), stdin=subprocess.DEVNULL)
    return Outcome(done.returncode, done.stdout, done.stderr)


def run_report(*arguments, env=None):
    """The outcome of a run, and its report; None where it wrote none."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        outcome = run(*arguments, "--json", str(path), env=env)
        return outcome, json.loads(path.read_text()) if path.exists() else None


def rails(count):
    return ",".join(f"tcp:127.0.0.{i + 1}" for i in range(count))


class Holder:
    """A holder in its own process; ends with the `with` block."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [program, "--role", "holder", "--listen", "127.0.0.1:0", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment())
        watchdog = threading.Timer(PATIENCE_S, self.process.kill)
        watchdog.start()
        self.greeting = self.process.stdout.readline()
        watchdog.cancel()
        found = re.search(r"on (\S+:\d+); limit endpoint (\S+);", self.greeting)
        if not found:
            self.process.kill()
            raise AssertionError(f"no holder: {self.greeting} {self.process.communicate()}")
        self.address, self.limit = found.groups()

    def end(self, how=signal.SIGTERM):
        """Ends it by a signal, or by closing its input for None; returns its exit code."""
        if how is None:
            self.process.stdin.close()
        else:
            self.process.send_signal(how)
        code = self.process.wait(PATIENCE_S)
        self.errors = self.process.stderr.read()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class ForeignPeer:
    """Listens where a holder might, and answers every connection with the same bytes, or with
    silence for None."""

    def __init__(self, answer):
        self.answer = answer
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.kept = []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.kept.append(connection)
            if self.answer is None:
                continue
            try:
                connection.sendall(self.answer)
                connection.recv(4096)
                connection.close()
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(PATIENCE_S)
        for connection in self.kept:
            connection.close()
