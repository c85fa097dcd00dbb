"""bench_latency from outside: that it measures, not what."""

import json
import unittest

import bench_process
from bench_process import run

QUICK = ("--samples", "5", "--big-bytes", "36MiB", "--idle", "0.2")


class Latencies(unittest.TestCase):
    def setUp(self):
        if not bench_process.latency_program:
            self.skipTest("benches are not built")

    def test_every_figure_is_there(self):
        outcome = run(*QUICK, "--json", "-", of=bench_process.latency_program)
        self.assertEqual(outcome.code, 0, outcome)
        report = json.loads(outcome.out)
        self.assertEqual(report["config"]["block_bytes"], 2304 * 1024)
        self.assertEqual(report["config"]["big_bytes"], 36 << 20)
        for times in ("read_ms", "exchange_ms", "alone_ms", "beside_ms"):
            self.assertGreater(report[times]["p50"], 0)
            self.assertLessEqual(report[times]["p50"], report[times]["p99"])
        self.assertGreater(report["big_reads"], 0)
        self.assertAlmostEqual(report["over_exchange_p50_ms"],
                               report["read_ms"]["p50"] - report["exchange_ms"]["p50"], places=6)
        self.assertAlmostEqual(report["beside_over_alone_p99"],
                               report["beside_ms"]["p99"] / report["alone_ms"]["p99"], places=6)
        self.assertGreaterEqual(report["idle_cpu_share"], 0)
        for words in ("target", "read, alone", "CPU of an idle pair"):
            self.assertIn(words, outcome.err)

    def test_a_window_that_is_none(self):
        outcome = run("--window-bytes", "1KiB", of=bench_process.latency_program)
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn("--window-bytes", outcome.err)

    def test_a_size_that_is_none(self):
        for size in ("1KiB", "much", "100000GiB"):
            outcome = run("--big-bytes", size, of=bench_process.latency_program)
            self.assertEqual(outcome.code, 2, outcome)
            self.assertIn(size, outcome.err)
