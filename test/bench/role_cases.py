"""A holder and a requester that were started apart."""

import signal
import subprocess
import time

import bench_process
from bench_case import BenchTest
from bench_process import PATIENCE_S, SMALL, Holder, rails, run, run_report


class Roles(BenchTest):
    def test_a_holder_and_a_requester(self):
        with Holder(*SMALL, "--sets", "2") as holder:
            for _ in range(2):
                outcome, report = run_report(holder.address, *SMALL, "--sets", "2", "-n", "2")
                summary = self.assert_fine(outcome, report)
                self.assertIsNone(summary["cpu_s_per_gib"]["holder"])
                self.assertIsNone(summary["peak_rss_bytes"]["holder"])
                self.assertIsNone(report["memory"]["holder"])
                self.assertIsNotNone(report["memory"]["requester"])
                if holder.limit != "none":
                    self.assertGreater(summary["limit"]["gib_s"], 0)
            self.assertEqual(holder.end(), 0)
            # The port beside a control port that the kernel chose may be taken.
            if holder.limit != "none":
                self.assertEqual(holder.errors, "")

    def test_a_holder_without_limit_endpoint(self):
        with Holder(*SMALL, "--no-limit") as holder:
            outcome, report = run_report(holder.address, *SMALL, "-n", "1")
            summary = self.assert_fine(outcome, report)
            self.assertIsNone(summary["limit"]["gib_s"])
            self.assertIn("limit", outcome.out)
            outcome = run(holder.address, *SMALL, "-n", "1", "--limit-ratio", "0.1")
            self.assert_sentence(outcome, 1, "could not be checked")

    def test_unequal_numbers_of_rails(self):
        for here, there in ((1, 3), (3, 2), (2, 4), (5, 1)):
            with self.subTest(here=here, there=there), \
                    Holder(*SMALL, "--rails", rails(there)) as holder:
                outcome, report = run_report(holder.address, *SMALL, "-n", "2", "--rails",
                                             rails(here))
                # Pairs by index, modulo the smaller number: every port is used.
                self.assertEqual(len(self.assert_fine(outcome, report)["rails"]),
                                 max(here, there))

    def test_other_shapes_are_refused(self):
        changes = (["--blocks", "7"], ["--blocks", "5"], ["--layers", "2"], ["--ranks", "3"],
                   ["--segments", "1"], ["--segment-bytes", "8KiB"], ["--numa-nodes", "1"],
                   ["--sets", "3"], ["--sets", "1"], ["--layout", "lane-major"], ["--seed", "2"])
        # With the limit endpoint the flags are compared and the difference is named. Without it the
        # holder has no such blocks. What the requester wants of the limit changes nothing.
        for there, here, tried in (([], [], changes), (["--no-limit"], [], changes),
                                   ([], ["--no-limit"], changes[:2]),
                                   (["--no-limit"], ["--no-limit"], changes[:2])):
            with Holder(*SMALL, "--sets", "2", *there) as holder:
                for change in tried:
                    with self.subTest(change=change, holder=there, requester=here):
                        outcome = run(holder.address, *SMALL, "--sets", "2", *here, *change)
                        self.assert_sentence(outcome, 3, "both sides need the same shape flags")
                        self.assertEqual(outcome.out, "")
                        if not there and holder.limit != "none":
                            self.assertIn(change[0], outcome.err)

    def test_a_holder_ends_as_it_is_told(self):
        for how, code in ((signal.SIGTERM, 0), (signal.SIGINT, 130), (None, 0)):
            with self.subTest(how=how), Holder(*SMALL) as holder:
                self.assertEqual(holder.end(how), code)

    def test_a_holder_that_is_killed(self):
        with Holder(*SMALL) as holder:
            requester = subprocess.Popen(
                [bench_process.program, holder.address, *SMALL, "-D", "600"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=bench_process.environment())
            time.sleep(1)
            holder.process.kill()
            out, err = requester.communicate(timeout=PATIENCE_S)
            self.assert_sentence(bench_process.Outcome(requester.returncode, out, err), 3)
