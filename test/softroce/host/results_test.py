"""What test/softroce/run makes of a guest's words, and of its silence."""

import json
import unittest

from results import Results


class ResultsTest(unittest.TestCase):
    def told(self, cases, lines):
        shown = []
        results = Results(cases, shown.append)
        for line in lines:
            results.take(line)
        results.close()
        return results.summary(), "".join(shown)

    def test_each_status_counts_as_what_it_is(self):
        summary, shown = self.told(["a", "b", "c", "d"], [
            "BEGIN a", "a line", "RESULT a 0 1", "RESULT b 77 1", "RESULT c 1 1",
            "RESULT d 124 120", "END"])
        self.assertEqual(summary, "1 passed, 2 failed, 1 skipped")
        self.assertIn("    a line\n", shown)
        self.assertIn("d: out of time (120 s)", shown)

    def test_a_guest_that_dies_fails_what_it_owes(self):
        summary, shown = self.told(["a", "b", "c"], ["BEGIN a", "RESULT a 0 1", "BEGIN b"])
        self.assertEqual(summary, "1 passed, 2 failed, 0 skipped")
        self.assertIn("b: no result", shown)

    def test_a_case_has_one_result_and_only_asked_ones_have_any(self):
        summary, _ = self.told(["a"], ["RESULT a 0 1", "RESULT a 0 1", "RESULT b 0 1", "END"])
        self.assertEqual(summary, "1 passed, 0 failed, 0 skipped")

    def test_what_a_case_prints_is_no_result(self):
        summary, _ = self.told(["a"], ["RESULT a", "RESULT", "RESULT a 0 1 more"])
        self.assertEqual(summary, "0 passed, 1 failed, 0 skipped")

    def test_a_report_has_each_case_and_figure(self):
        results = Results(["a", "b"], lambda text: None)
        for line in ["BEGIN a", "FIGURE share 0.91 ratio", "FIGURE none", "RESULT a 0 7"]:
            results.take(line)
        results.close()
        report = json.loads(results.report())
        self.assertEqual(report["cases"], [{"case": "a", "outcome": "passed", "seconds": 7},
                                           {"case": "b", "outcome": "no result", "seconds": None}])
        self.assertEqual(report["figures"], [{"name": "share", "value": 0.91, "unit": "ratio"}])
        self.assertEqual((report["passed"], report["failed"], report["skipped"]), (1, 1, 0))

    def test_everything_can_be_skipped(self):
        results = Results(["a", "b"], lambda text: None)
        results.skip_all()
        results.close()
        self.assertEqual(results.summary(), "0 passed, 0 failed, 2 skipped")


if __name__ == "__main__":
    unittest.main()
