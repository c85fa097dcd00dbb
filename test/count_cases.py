"""Prints "PASSED FAILED" for a build directory in which ctest has run.

A Boost.Test program leaves a report with its number of cases; any other test counts as one case.
A program that ctest calls failed has at least one failure, whatever its report says: it may have
crashed or hung after or before writing it.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def count_report(path):
    """Returns (passed, failed) of one Boost.Test report, or None if there is no usable one."""
    try:
        suite = ElementTree.parse(path).getroot().find("TestSuite")
    except (OSError, ElementTree.ParseError):
        return None
    if suite is None:
        return None

    def number(name):
        return int(suite.get("test_cases_" + name, "0"))

    passed = number("passed") + number("passed_with_warnings")
    return passed, number("failed") + number("skipped")


def count_build(build):
    passed = failed = 0
    for case in ElementTree.parse(build / "ctest.xml").getroot().iter("testcase"):
        succeeded = case.get("status") == "run"
        report = count_report(build / "test_reports" / (case.get("name") + ".xml"))
        if report is None:
            report = (1, 0) if succeeded else (0, 1)
        elif not succeeded:
            report = (report[0], max(report[1], 1))
        passed += report[0]
        failed += report[1]
    return passed, failed


def main():
    try:
        passed, failed = count_build(pathlib.Path(sys.argv[1]))
    except (OSError, ElementTree.ParseError) as error:
        print(f"count_cases: no result of ctest: {error}", file=sys.stderr)
        passed, failed = 0, 1
    print(passed, failed)


if __name__ == "__main__":
    main()
