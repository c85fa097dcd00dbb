"""Striped objects, from outside: put over rails, read in turns, kept between runs."""

import pathlib
import tempfile

from bench_case import BenchTest
from bench_process import rails, run, run_report

MIB = 1 << 20
OBJECTS = ("--objects", "2", "--object-mib", "6", "--stripe-mib", "2", "--rails", rails(2))


class Objects(BenchTest):
    def assert_read(self, outcome, report):
        summary = self.assert_fine(outcome, report, 6 * MIB)
        self.assertEqual(summary["verified_by"], {"integrity": 6 * MIB, "content": 6 * MIB})
        self.assertGreater(summary["put_gib_s"], 0)
        self.assertIn("2 objects of 6 MiB in 3 stripes of 2 MiB", outcome.out)
        return summary

    def test_memory_is_read_or_written_from_by_every_policy(self):
        for mode in ("pull", "push"):
            for scheduler in ("least_loaded", "round_robin", "locality"):
                with self.subTest(mode=mode, scheduler=scheduler):
                    outcome, report = run_report(*OBJECTS, "-n", "4", "--mode", mode,
                                                 "--scheduler", scheduler)
                    self.assertEqual(self.assert_read(outcome, report)["committed"], 4)
                    self.assertEqual(report["config"]["objects"]["mode"], mode)
                    self.assertEqual(report["config"]["objects"]["scheduler"], scheduler)
                    self.assertIsNotNone(report["summary"]["limit"])

    def test_reads_at_a_time_may_be_cancelled(self):
        outcome, report = run_report(*OBJECTS, "-n", "8", "--concurrency", "4", "--cancel-after",
                                     "0.5", "--mode", "push")
        self.assertEqual(outcome.code, 0, outcome.err)
        summary = report["summary"]
        self.assertEqual(summary["committed"] + summary["cancelled"], 32)
        self.assertEqual(summary["failed"], 0)
        self.assertEqual(summary["cancel"]["late_bytes"], 0)

    def test_directories_keep_what_was_put(self):
        with tempfile.TemporaryDirectory() as folder:
            disks = [pathlib.Path(folder, name) for name in ("a", "b")]
            for disk in disks:
                disk.mkdir()
            store = ",".join(str(disk) for disk in disks)
            for _ in range(2):
                outcome, report = run_report(*OBJECTS, "-n", "2", "--store", store)
                self.assert_read(outcome, report)
                self.assertEqual(report["config"]["objects"]["mode"], "push")
            stripes = [list(disk.glob("*.stripes")) for disk in disks]
            # The second run replaced what the first one had put.
            self.assertEqual([len(files) for files in stripes], [2, 2])
            self.assertEqual(sum(file.stat().st_size for files in stripes for file in files),
                             2 * 6 * MIB)

    def test_a_store_that_is_not_there_is_one_sentence(self):
        self.assert_sentence(run(*OBJECTS, "--store", "/nonexistent"), 3, "/nonexistent")
