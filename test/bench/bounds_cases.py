"""The bounds of test/bench/check_bounds: each is noticed when it breaks."""

import copy
import unittest

import bounds

PAYLOAD = 2250 * bounds.MIB
REPORT = {
    "config": {"blocks": 1000, "rails": ["a", "b", "c", "d"], "iterations": 3,
               "integrity": "xxh3"},
    "summary": {
        "bytes": PAYLOAD, "needed_bytes": PAYLOAD, "read_bytes": PAYLOAD,
        "reads_planned": 72, "reads_posted": 72 + 8 * 4, "rails": [{}] * 4,
        "run_table_bytes": 13_000, "query_response_bytes": 13_000 + 8 * 1000 + 100,
        "verified_by": {"integrity": PAYLOAD}, "mismatched_bytes": 0, "failed": 0, "committed": 3,
        "peak_rss_bytes": {"requester": int(PAYLOAD * 1.1) + 64 * bounds.MIB},
    },
}


def broken(change):
    report = copy.deepcopy(REPORT)
    change(report["summary"])
    return [bound.name for bound in bounds.bounds_of(report) if not bound.holds]


class Bounds(unittest.TestCase):
    def test_a_report_on_every_bound_is_fine(self):
        self.assertEqual(broken(lambda summary: None), [])

    def test_one_more_is_too_much(self):
        for name in ("reads_posted", "query_response_bytes", "mismatched_bytes", "failed",
                     "read_bytes", "committed"):
            with self.subTest(name=name):
                self.assertEqual(
                    broken(lambda summary, name=name: summary.update({name: summary[name] + 1})),
                    [name])
        self.assertIn("reads_planned", broken(lambda summary: summary.update(reads_planned=73)))
        self.assertIn("run_table_bytes",
                      broken(lambda summary: summary.update(run_table_bytes=13_001)))
        self.assertIn("requester's peak rss",
                      broken(lambda summary: summary["peak_rss_bytes"].update(
                          requester=summary["peak_rss_bytes"]["requester"] + 1)))

    def test_less_is_too_little_where_all_is_needed(self):
        self.assertEqual(broken(lambda summary: summary.update(read_bytes=PAYLOAD - 1)),
                         ["read_bytes"])
        self.assertEqual(broken(lambda summary: summary.update(
            read_bytes=PAYLOAD - 1, needed_bytes=PAYLOAD - 1)), ["needed_bytes"])
        self.assertEqual(broken(lambda summary: summary.update(committed=2)), ["committed"])
        self.assertEqual(broken(lambda summary: summary["verified_by"].update(integrity=0)),
                         ["checksummed bytes"])
