"""Checks the counting behind test/run's last line."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import count_cases  # noqa: E402  (found through the path above)

REPORT = '<TestResult><TestSuite test_cases_passed="{}" test_cases_failed="{}"/></TestResult>'


class CountCasesTest(unittest.TestCase):
    def count(self, statuses, reports):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            cases = "".join(f'<testcase name="{name}" status="{status}"/>'
                            for name, status in statuses.items())
            (build / "ctest.xml").write_text(f"<testsuite>{cases}</testsuite>")
            (build / "test_reports").mkdir()
            for name, text in reports.items():
                (build / "test_reports" / f"{name}.xml").write_text(text)
            return count_cases.count_build(build)

    def test_cases_of_reports_and_single_tests_add_up(self):
        counted = self.count({"a": "run", "b": "fail", "tidy": "run"},
                             {"a": REPORT.format(5, 0), "b": REPORT.format(2, 1)})
        self.assertEqual(counted, (8, 1))

    def test_a_crash_counts_whatever_the_report_says(self):
        self.assertEqual(self.count({"a": "fail"}, {"a": REPORT.format(5, 0)}), (5, 1))
        self.assertEqual(self.count({"a": "fail"}, {"a": "<TestRes"}), (0, 1))
        self.assertEqual(self.count({"a": "fail"}, {}), (0, 1))

    def test_a_test_that_did_not_run_fails(self):
        self.assertEqual(self.count({"a": "notrun"}, {}), (0, 1))


if __name__ == "__main__":
    unittest.main()
