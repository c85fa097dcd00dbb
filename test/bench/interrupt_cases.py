"""Interrupts, and processes that die."""

import json
import os
import pathlib
import pty
import signal
import subprocess
import tempfile
import time

import bench_process
from bench_case import BenchTest
from bench_process import PATIENCE_S, SMALL


def read_until(descriptor, wanted):
    """Reads a terminal until the bytes were there; False when it closed before."""
    seen = b""
    deadline = time.monotonic() + PATIENCE_S
    while wanted not in seen and time.monotonic() < deadline:
        try:
            more = os.read(descriptor, 4096)
        except OSError:
            return False
        if not more:
            return False
        seen += more
    return wanted in seen


def children_of(pid):
    return [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()]


def is_gone(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"  # nobody may be there to wait for it


class Interrupts(BenchTest):
    def start(self, *arguments):
        """A long run with its progress on a terminal, once it is measuring."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [bench_process.program, *SMALL, "-D", "600", *arguments], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=theirs, text=True, env=bench_process.environment())
        os.close(theirs)
        self.addCleanup(os.close, ours)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(read_until(ours, b"iteration 2"))
        return process

    def test_an_interrupt_shows_what_there_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "r.json"
            process = self.start("--json", str(path))
            children = children_of(process.pid)
            self.assertEqual(len(children), 1)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE_S), 130)
            self.assertIn("interrupted", process.stdout.read())
            report = json.loads(path.read_text())
            self.assertTrue(report["interrupted"])
            self.assertGreaterEqual(report["summary"]["iterations"], 1)
            self.assertEqual(report["summary"]["failed"], 0)
            self.assertTrue(is_gone(children[0]))

    def test_the_child_dies_with_its_parent(self):
        process = self.start()
        children = children_of(process.pid)
        self.assertEqual(len(children), 1)
        process.kill()
        process.wait()
        deadline = time.monotonic() + PATIENCE_S
        while not is_gone(children[0]) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(is_gone(children[0]))

    def test_a_child_that_dies_ends_the_run(self):
        process = self.start()
        os.kill(children_of(process.pid)[0], signal.SIGKILL)
        self.assertEqual(process.wait(PATIENCE_S), 3)
