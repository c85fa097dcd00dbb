"""p2p_bench from outside: reports, exit codes, both roles, peers that are none.

Usage: p2p_bench_test.py PATH_OF_P2P_BENCH [--bench-latency PATH] [--rail-sweep PATH]
                         [unittest arguments]
"""

import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

import bench_process
from bench_case import SMALL_BYTES, BenchTest
from bench_process import PATIENCE_S, SMALL, ForeignPeer, rails, run, run_report
from bounds_cases import Bounds  # noqa: F401  (unittest finds it here)
from interrupt_cases import Interrupts  # noqa: F401
from latency_cases import Latencies  # noqa: F401
from object_cases import Objects  # noqa: F401
from rail_list_cases import RailLists  # noqa: F401
from role_cases import Roles  # noqa: F401
from sweep_cases import Sweeps  # noqa: F401
from workload_cases import Traces, Workloads  # noqa: F401

STAGES = ("query", "plan", "submit", "wait", "verify", "commit", "seal")


class Reports(BenchTest):
    def test_the_report_has_every_field(self):
        outcome, report = run_report(*SMALL, "-n", "3")
        summary = self.assert_fine(outcome, report)
        self.assertEqual(report["schema"], "corail.p2p_bench.v1")
        self.assertEqual(report["config"]["blocks"], 6)
        self.assertEqual(summary["iterations"], 3)
        for stage in STAGES:
            self.assertLessEqual(0, summary["stages_ms"][stage]["p50"])
            self.assertLessEqual(summary["stages_ms"][stage]["p50"],
                                 summary["stages_ms"][stage]["p99"])
        self.assertGreater(summary["total_ms"]["p50"], 0)
        self.assertEqual(summary["verified_bytes"], SMALL_BYTES)
        self.assertEqual(summary["verified_by"],
                         {"integrity": SMALL_BYTES, "content": SMALL_BYTES})
        self.assertEqual(summary["cancelled"], 0)
        self.assertGreaterEqual(summary["reads_posted"], summary["reads_planned"])
        self.assertLess(summary["run_table_bytes"], summary["query_response_bytes"])
        self.assertEqual(summary["runs"], 2)  # one for each part
        self.assertGreater(summary["mean_read_bytes"], 0)
        self.assertEqual(len(summary["rails"]), 4)
        for side in ("requester", "holder"):
            self.assertGreaterEqual(summary["cpu_s_per_gib"][side], 0)
            self.assertGreater(summary["peak_rss_bytes"][side], 1 << 20)
        limit = summary["limit"]
        self.assertIn("8 connections", limit["what"])
        self.assertAlmostEqual(limit["ratio"],
                               summary["goodput_gib_s"]["median"] / limit["gib_s"], places=6)
        for word in ("p50 [ms]", "GiB/s", "tcp:127.0.0.4", "transport tcp"):
            self.assertIn(word, outcome.out)

    def test_memory_that_is_not_as_asked_for_is_told(self):
        def free_huge_pages():
            pages = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
            return int(pages.read_text()) if pages.exists() else 0

        nodes = len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*")))
        for flags in ([], ["--huge-pages"]):
            with self.subTest(flags=flags):
                outcome, report = run_report(*SMALL, "-n", "1", "--no-limit", *flags)
                self.assert_fine(outcome, report)
                for side in ("requester", "holder"):
                    memory = report["memory"][side]
                    lines = [line for line in outcome.out.splitlines()
                             if line.startswith(f"{side}'s memory: slab of ")]
                    self.assertEqual([line.split(": ", 1)[1] for line in lines],
                                     memory["missing"])
                    if nodes < 2:
                        self.assertFalse(memory["numa_bound"])
                        # A requester takes memory wherever it is for a node that is not here.
                        unbound = {"requester": "any NUMA node",
                                   "holder": "node 1 as a label only"}
                        self.assertIn(unbound[side], "".join(lines))
                    if not flags:
                        self.assertFalse(memory["huge_pages"])
                        self.assertNotIn("huge pages", "".join(lines))
                    elif free_huge_pages() == 0:
                        self.assertFalse(memory["huge_pages"])
                        self.assertIn("huge pages were asked for", "".join(lines))

    def test_a_report_on_stdout_is_alone_there(self):
        outcome = run(*SMALL, "-n", "1", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(json.loads(outcome.out)["summary"]["iterations"], 1)
        self.assertIn("goodput", outcome.err)

    def test_rails_of_every_number_carry_verified_bytes(self):
        for count in (1, 2, 3, 4, 8):
            with self.subTest(rails=count):
                outcome, report = run_report(*SMALL, "-n", "2", "--rails", rails(count))
                self.assertEqual(len(self.assert_fine(outcome, report)["rails"]), count)

    def test_other_shapes_and_orders(self):
        shapes = (["--segments", "1"], ["--layout", "lane-major"], ["--numa-nodes", "1"],
                  ["--segment-bytes", "1000"], ["--sets", "3", "-n", "4"],
                  ["--ranks", "1", "--blocks", "1"], ["--channels-per-rail", "1"],
                  ["--max-read-bytes", "16KiB", "--window-bytes", "64KiB"])
        for flags in shapes:
            with self.subTest(flags=flags):
                outcome, report = run_report(*SMALL, "-n", "2", "--no-limit", *flags)
                config = report["config"]
                payload = (config["blocks"] * config["layers"] * config["ranks"]
                           * config["segments"] * config["segment_bytes"])
                self.assert_fine(outcome, report, payload)

    def test_without_checks_nothing_is_verified(self):
        outcome, report = run_report(*SMALL, "-n", "1", "--integrity", "none", "--verify", "none")
        self.assertEqual(self.assert_fine(outcome, report)["verified_bytes"], 0)

    def test_content_is_checked_without_the_engines_checksums(self):
        outcome, report = run_report(*SMALL, "-n", "1", "--integrity", "none")
        self.assertEqual(self.assert_fine(outcome, report)["verified_by"],
                         {"integrity": 0, "content": SMALL_BYTES})

    def test_a_duration_ends_a_run(self):
        outcome, report = run_report(*SMALL, "-D", "0.3", "--no-limit")
        self.assertGreaterEqual(self.assert_fine(outcome, report)["iterations"], 1)
        self.assertIsNone(report["summary"]["limit"]["ratio"])

    def test_variables_are_flags_and_stay_away_from_the_child(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "r.json"
            outcome = run("--layers", "2", env={"CORAIL_BLOCKS": "5", "CORAIL_JSON": str(path),
                                                "CORAIL_ITERATIONS": "1", "CORAIL_RANKS": "2",
                                                "CORAIL_LIMIT_RATIO": "0.0001"})
            self.assertEqual(outcome.code, 0, outcome)
            self.assertEqual(json.loads(path.read_text())["config"]["blocks"], 5)


class ExitCodes(BenchTest):
    def test_help_and_version(self):
        for flag in ("--help", "--version"):
            outcome = run(flag)
            self.assertEqual((outcome.code, outcome.err), (0, ""))

    def test_the_readme_and_the_help_agree(self):
        readme = (pathlib.Path(__file__).parents[2] / "README.md").read_text()
        text = run("--help").out
        # cmake's, Google Benchmark's, bench_latency's, the simulation's, rail_sweep's.
        of_others = {"--build", "--benchmark", "--samples", "--big-bytes", "--check",
                     "--seeds", "--from", "--plant", "--rail"}
        flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", readme)) - of_others
        self.assertGreater(len(flags), 10)
        self.assertEqual([flag for flag in sorted(flags) if flag + " " not in text], [])
        codes = re.search(r"Exit codes: .*", text).group()
        self.assertIn(codes, readme)
        for variable in re.findall(r"CORAIL_[A-Z_]*[A-Z]", readme):
            self.assertIn(variable, text)

    def test_usage(self):
        self.assert_sentence(run("--blcks", "5"), 2, "did you mean --blocks?")
        self.assert_sentence(run("--segments", "3"), 2, "--segments 3")
        self.assert_sentence(run("--blocks", "0"), 2, "--blocks")
        self.assert_sentence(run("--rails", "pigeon:1"), 2, "pigeon", "tcp:ADDRESS")
        mock = "mock:125MB/s"
        self.assert_sentence(run("--rails", mock), 2, mock, "does not have", "tcp:", "verbs:")
        self.assert_sentence(run("--rails", "verbs:nowhere_0"), 2, "no RDMA device 'nowhere_0'")
        self.assert_sentence(run("--role", "requester"), 2, "ADDR:PORT")

    def test_a_ratio_that_is_not_reached(self):
        outcome, report = run_report(*SMALL, "-n", "1", "--limit-ratio", "99")
        self.assert_sentence(outcome, 1, "ratio", "99")
        self.assertEqual(len(report["failures"]), 1)

    def test_a_report_that_cannot_be_written(self):
        outcome = run(*SMALL, "-n", "1", "--no-limit", "--json", "/nowhere/r.json")
        self.assert_sentence(outcome, 2, "/nowhere/r.json")
        self.assertEqual(outcome.out, "")  # refused before the run
        outcome = run(*SMALL, "-n", "1", "--no-limit", "--json", "/dev/full")
        self.assert_sentence(outcome, 2, "/dev/full")

    def test_a_run_that_fails_leaves_the_reports_file_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "r.json"
            outcome = run(*SMALL, "--rails", "tcp:203.0.113.9", "--json", str(path))
            self.assertEqual((outcome.code, path.exists()), (3, False), outcome)
            path.write_text("an older report, longer than nothing" * 1000)
            outcome = run(*SMALL, "--rails", "tcp:203.0.113.9", "--json", str(path))
            self.assertEqual((outcome.code, path.read_text()[:8]), (3, "an older"), outcome)
            outcome = run(*SMALL, "-n", "1", "--no-limit", "--json", str(path))
            self.assertEqual(json.loads(path.read_text())["summary"]["iterations"], 1, outcome)

    def test_missing_standard_streams(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "r.json"
            for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
                with self.subTest(closed=closed):
                    path.unlink(missing_ok=True)
                    command = f'exec "$0" "$@" {closed}'
                    done = subprocess.run(
                        ["sh", "-c", command, bench_process.program, *SMALL, "-n", "2", "--json",
                         str(path)], capture_output=True, timeout=PATIENCE_S, check=False,
                        env=bench_process.environment())
                    self.assertEqual(done.returncode, 0, done)
                    summary = json.loads(path.read_text())["summary"]
                    self.assertEqual((summary["committed"], summary["failed"]), (2, 0))
                    self.assertIsNotNone(summary["peak_rss_bytes"]["holder"])

    def test_a_rail_that_is_not_here(self):
        self.assert_sentence(run(*SMALL, "--rails", "tcp:203.0.113.9"), 3, "203.0.113.9")

    def test_a_control_address_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            self.assert_sentence(run(*SMALL, "--listen", address), 3, address)

    def test_nobody_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            address = "127.0.0.1:%d" % gone.getsockname()[1]
        self.assert_sentence(run(address, *SMALL), 3, address)

    def test_foreign_peers(self):
        answers = (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"\0" * 64,
                   bytes(range(256)))
        for answer in answers:
            with self.subTest(answer=answer[:16]), ForeignPeer(answer) as peer:
                self.assert_sentence(run(peer.address, *SMALL), 3, peer.address)

    def test_another_version(self):
        preface = b"\x89corail\n" + struct.pack("<II", 7, 0)
        with ForeignPeer(preface) as peer:
            self.assert_sentence(run(peer.address, *SMALL), 3, peer.address, "version")

    def test_a_peer_that_says_nothing_or_hangs_up(self):
        for answer in (None, b""):
            with self.subTest(answer=answer), ForeignPeer(answer) as peer:
                self.assert_sentence(run(peer.address, *SMALL), 3, peer.address)


class CountedResult(unittest.TextTestResult):
    """Leaves the number of cases where the test run counts them."""

    def stopTestRun(self):
        super().stopTestRun()
        sink = os.environ.get("BOOST_TEST_REPORT_SINK")
        if not sink:
            return
        failed = len({str(test).split(" [")[0] for test, _ in self.failures + self.errors})
        pathlib.Path(sink).write_text(
            f'<TestResult><TestSuite test_cases_passed="{self.testsRun - failed}" '
            f'test_cases_failed="{failed}"/></TestResult>')


if __name__ == "__main__":
    bench_process.program = os.path.abspath(sys.argv.pop(1))
    if sys.argv[1:2] == ["--bench-latency"]:
        bench_process.latency_program = os.path.abspath(sys.argv[2])
        del sys.argv[1:3]
    if sys.argv[1:2] == ["--rail-sweep"]:
        bench_process.sweep_program = os.path.abspath(sys.argv[2])
        del sys.argv[1:3]
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=CountedResult, verbosity=2))
