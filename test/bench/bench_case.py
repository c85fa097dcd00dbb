"""What the tests of p2p_bench check alike."""

import unittest

SMALL_BYTES = 6 * 3 * 4 * 2 * 4096


class BenchTest(unittest.TestCase):
    def assert_sentence(self, outcome, code, *words):
        """Ended with this code and one line on stderr that has all the words."""
        self.assertEqual(outcome.code, code, outcome)
        lines = [line for line in outcome.err.splitlines() if not line.startswith("Try ")]
        self.assertEqual(len(lines), 1, outcome)
        self.assertTrue(lines[0].startswith("p2p_bench: "), outcome)
        for word in words:
            self.assertIn(word, lines[0])

    def assert_fine(self, outcome, report, payload=SMALL_BYTES):
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.err, "")
        summary = report["summary"]
        self.assertEqual(summary["bytes"], payload)
        self.assertEqual(summary["needed_bytes"], payload)
        self.assertEqual(summary["read_bytes"], payload)
        self.assertEqual(summary["mismatched_bytes"], 0)
        self.assertEqual(summary["failed"], 0)
        self.assertEqual(summary["committed"], summary["iterations"])
        moved = sum(rail["bytes"] for rail in summary["rails"])
        self.assertEqual(moved, payload * summary["iterations"])
        self.assertAlmostEqual(sum(rail["share"] for rail in summary["rails"]), 1.0, places=6)
        self.assertGreater(summary["goodput_gib_s"]["median"], 0)
        return summary
