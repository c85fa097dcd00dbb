"""Layouts, encodings, concurrent and cancelled reads, and traces, from outside."""

import gzip
import json
import pathlib
import random
import tempfile

from bench_case import SMALL_BYTES, BenchTest
from bench_process import SMALL, run, run_report

LAYOUTS = ("bump", "lane-major", "batched", "permuted", "fragmented", "scattered", "mixed-numa")
# Blocks of 4 KiB, as a trace has them unless told otherwise.
TRACE_BLOCK_BYTES = 4096


class Workloads(BenchTest):
    def test_every_layout_and_encoding_carries_verified_bytes(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                outcome, report = run_report(*SMALL, "-n", "1", "--no-limit", "--layout", layout,
                                             "--encoding", "parts,runs,segments")
                self.assert_fine(outcome, report)
                names = [one["encoding"] for one in report["encodings"]]
                self.assertEqual(names, ["parts", "runs", "segments"])
                for one in report["encodings"]:
                    self.assert_fine(outcome, one)
                segments = report["encodings"][2]["summary"]
                self.assertEqual(segments["reads_posted"], 6 * 3 * 4 * 2)
                self.assertEqual(segments["runs"], 6 * 3 * 4 * 2)
                self.assertRegex(outcome.out, r"\nsegments +\d")

    def test_one_encoding_is_its_own_list(self):
        outcome, report = run_report(*SMALL, "-n", "1", "--no-limit", "--encoding", "runs")
        self.assertEqual(self.assert_fine(outcome, report)["runs"], 3 * 4 * 2)
        self.assertEqual(report["encodings"],
                         [{"encoding": "runs", "summary": report["summary"]}])

    def test_reads_at_a_time(self):
        for sets in ("1", "3", "8"):
            with self.subTest(sets=sets):
                outcome, report = run_report(*SMALL, "-n", "2", "--concurrency", "4", "--sets",
                                             sets)
                self.assertEqual(self.assert_fine(outcome, report)["committed"], 8)
                self.assertIn("4 at a time", outcome.out)

    def test_ranges_of_lanes(self):
        # 24 lanes: four sub-reads of 7, the last one of 3.
        for integrity in ("xxh3", "none"):
            with self.subTest(integrity=integrity):
                outcome, report = run_report(*SMALL, "-n", "2", "--no-limit", "--lane-range", "7",
                                             "--integrity", integrity, "--concurrency", "2",
                                             "--encoding", "parts,runs")
                summary = self.assert_fine(outcome, report)
                self.assertEqual(summary["committed"], 4)
                ranges = summary["lane_ranges"]
                self.assertEqual(ranges["sub_reads"], 4)
                self.assertGreater(ranges["first_ms"]["p50"], 0)
                self.assertLess(ranges["first_ms"]["p50"], summary["total_ms"]["p50"])
                self.assertIn("4, of 7 lanes of 24", outcome.out)

    def test_cancelled_reads_leave_no_byte_behind(self):
        # 36 MiB a read: it is running after a fraction of a ms, and ended after a minute.
        shape = ("--blocks", "16", "--no-limit", "--concurrency", "2")
        outcome, report = run_report(*shape, "-n", "4", "--cancel-after", "0.3")
        self.assertEqual(outcome.code, 0, outcome)
        summary = report["summary"]
        self.assertEqual((summary["cancelled"] + summary["committed"], summary["failed"]), (8, 0))
        self.assertGreater(summary["cancelled"], 0)
        cancel = summary["cancel"]
        self.assertGreater(cancel["latency_ms"]["p50"], 0)
        self.assertLessEqual(cancel["latency_ms"]["p50"], cancel["latency_ms"]["p99"])
        self.assertGreaterEqual(cancel["reused_bytes"], 2 * 16 * 36 * 8 * 2 * 4096)
        self.assertEqual(cancel["late_bytes"], 0)
        self.assertIn("cancel latency", outcome.out)
        outcome, report = run_report(*SMALL, "-n", "2", "--cancel-after", "60000")
        self.assertEqual(self.assert_fine(outcome, report)["cancelled"], 0)
        self.assertEqual(report["summary"]["bytes"], SMALL_BYTES)


def conversations(count, seed=1):
    """Requests that go on with what was said before, as (timestamp, ids)."""
    dice = random.Random(seed)
    said, fresh, requests = [[0, 1]], 2, []
    for number in range(count):
        talk = dice.choice(said) + list(range(fresh, fresh + dice.randint(1, 6)))
        fresh = talk[-1] + 1
        said.append(talk)
        requests.append((number, talk))
    return requests


class Traces(BenchTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, requests, name="trace.jsonl.gz"):
        path = self.folder / name
        text = "".join(json.dumps({"timestamp": at, "input_length": 1, "output_length": 1,
                                   "hash_ids": ids}) + "\n" for at, ids in requests)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        return str(path)

    def replay(self, path, *flags):
        outcome, report = run_report("--trace", path, *flags)
        self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
        self.assertEqual(report["schema"], "corail.p2p_bench.trace.v1")
        summary = report["summary"]
        self.assertEqual((summary["failed"], summary["mismatched_bytes"],
                          summary["over_read_bytes"]), (0, 0, 0))
        self.assertEqual(summary["requests"],
                         summary["committed"] + summary["cancelled"] + summary["misses"])
        return outcome, summary

    def test_every_hit_of_an_unbounded_holder_is_fetched(self):
        requests = conversations(150)
        seen, hits, misses = set(), 0, 0
        for _, ids in requests:
            prefix = next((i for i, one in enumerate(ids) if one not in seen), len(ids))
            hits += prefix
            misses += prefix == 0
            seen.update(ids)
        for name in ("trace.jsonl", "trace.jsonl.gz"):
            with self.subTest(name=name):
                outcome, summary = self.replay(self.write(requests, name), "--concurrency", "1")
                self.assertEqual((summary["requests"], summary["hit_blocks"], summary["misses"]),
                                 (150, hits, misses))
                self.assertEqual(summary["bytes"], hits * TRACE_BLOCK_BYTES)
                self.assertEqual((summary["saved_blocks"], summary["evicted_blocks"]),
                                 (len(seen), 0))
                self.assertIn("two nodes of this process", outcome.out)

    def test_a_small_holder_evicts(self):
        path = self.write(conversations(150))
        _, summary = self.replay(path, "--trace-capacity-blocks", "150")
        self.assertGreater(summary["evicted_blocks"], 0)
        _, summary = self.replay(path, "--trace-capacity-blocks", "1")
        self.assertGreater(summary["refused_saves"], 0)

    def test_aborted_reads_are_counted(self):
        path = self.write(conversations(150))
        _, summary = self.replay(path, "--abort-rate", "1")
        self.assertGreater(summary["cancelled"], 0)
        self.assertGreater(summary["cancel_ms"]["p50"], 0)
        self.assertLessEqual(summary["cancelled"], summary["cancels_asked"])

    def test_time_is_scaled(self):
        path = self.write([(0, [1]), (1000, [1])])
        _, summary = self.replay(path, "--speed", "4")
        self.assertGreaterEqual(summary["seconds"], 0.25)

    def test_what_is_no_trace(self):
        self.assert_sentence(run("--trace", "/nowhere"), 2, "/nowhere")
        path = self.folder / "bad.jsonl"
        path.write_text('{"timestamp": 0, "hash_ids": [1]}\n{"timestamp": 0}\n')
        self.assert_sentence(run("--trace", str(path)), 2, str(path), "line 2")
        path.write_bytes(gzip.compress(b'{"timestamp": 0, "hash_ids": [1]}\n' * 1000)[:-20])
        self.assert_sentence(run("--trace", str(path)), 2, str(path))
