"""rail_sweep from outside: that it measures and tells, not how fast this machine is."""

import json
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree

import bench_process
from bench_process import run

QUICK = ("--object-mib", "3", "--stripe-mib", "1", "-n", "1")
KEYS = {"rails", "agg_mb_s", "bal_mb_s", "theo_mb_s", "speedup", "efficiency", "bottleneck"}


class Sweeps(unittest.TestCase):
    def setUp(self):
        if not bench_process.sweep_program:
            self.skipTest("benches are not built")

    def sweep(self, *arguments):
        return run(*arguments, of=bench_process.sweep_program)

    def test_a_row_for_each_count(self):
        outcome = self.sweep(*QUICK, "--counts", "1,3,2", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome)
        report = json.loads(outcome.out)
        self.assertEqual(report["schema"], "corail.rail_sweep.v1")
        self.assertEqual([row["rails"] for row in report["rows"]], [1, 3, 2])
        for row in report["rows"]:
            self.assertEqual(set(row), KEYS)
            self.assertEqual(row["theo_mb_s"], 125 * row["rails"])
            self.assertAlmostEqual(row["efficiency"], row["agg_mb_s"] / row["theo_mb_s"])
            # No link carries more than it can.
            self.assertLess(row["efficiency"], 1)
        for words in ("agg_MB/s", "bal_MB/s", "theo_MB/s", "speedup", "efficiency", "bottleneck"):
            self.assertIn(words, outcome.err)

    def test_unequal_rails_cycle(self):
        outcome = self.sweep(*QUICK, "--rail", "50MB/s,100MB/s,200MB/s", "--counts", "2,3,4",
                             "--json", "-")
        self.assertEqual(outcome.code, 0, outcome)
        rates = [row["theo_mb_s"] for row in json.loads(outcome.out)["rows"]]
        self.assertEqual(rates, [150, 350, 400])

    def test_report_and_picture_are_files(self):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, "sweep.json")
            picture = pathlib.Path(folder, "sweep.svg")
            outcome = self.sweep(*QUICK, "--counts", "1,2", "--verify", "none", "--json",
                                 str(report), "--plot", str(picture))
            self.assertEqual(outcome.code, 0, outcome)
            self.assertEqual(len(json.loads(report.read_text())["rows"]), 2)
            root = xml.etree.ElementTree.parse(picture).getroot()
            self.assertTrue(root.tag.endswith("svg"))
            self.assertIn("agg_MB/s", outcome.out)

    def test_a_limit_that_is_missed(self):
        outcome = self.sweep(*QUICK, "--counts", "1", "--min-efficiency", "1")
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("1 rail: the efficiency is", outcome.err)

    def test_wrong_calls(self):
        for arguments, named in ((("--rail", "fast"), "--rail"), (("--counts", "0"), "--counts"),
                                 (("--max-read-kib", "1"), "--max-read-kib"),
                                 (("--max-read-kib", "8192"), "--window-kib"),
                                 (("--verify", "some"), "--verify"), (("--fast",), "--fast"),
                                 (("--json", "/no/such/folder/x"), "/no/such/folder/x")):
            with self.subTest(arguments=arguments):
                outcome = self.sweep(*QUICK, "--counts", "1", *arguments)
                self.assertEqual(outcome.code, 2, outcome)
                self.assertIn(named, outcome.err)

    def test_help(self):
        outcome = self.sweep("--help")
        self.assertEqual(outcome.code, 0, outcome)
        for flag in ("--object-mib", "--stripe-mib", "--rail", "--counts", "--json", "--plot"):
            self.assertIn(flag, outcome.out)
