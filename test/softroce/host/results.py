"""What the guest says of its cases, line by line."""

import json
import sys

SKIPPED = 77  # the exit status of a case that cannot run in this guest
OUT_OF_TIME = (124, 137)  # of timeout(1)


class Results:
    """Counts outcomes. A case that never got one has failed: silence is no success."""

    def __init__(self, cases, show=sys.stdout.write):
        self._owed = list(cases)
        self._show = show
        self.passed = self.failed = self.skipped = 0
        self.ended = False
        self._told = []
        self._figures = []

    def take(self, line):
        """One line of the guest's, without its end."""
        words = line.split()
        if words[:1] == ["END"] and len(words) == 1:
            self.ended = True
        elif words[:1] == ["BEGIN"] and len(words) == 2:
            self._show(f"--- {words[1]}\n")
        elif words[:1] == ["RESULT"] and len(words) == 4 and words[1] in self._owed:
            self._settle(words[1], int(words[2]), words[3])
        elif words[:1] == ["FIGURE"] and len(words) == 4:
            self._figures.append({"name": words[1], "value": float(words[2]), "unit": words[3]})
            self._show(f"    {words[1]} {words[2]} {words[3]}\n")
        elif line:
            self._show(f"    {line}\n")

    def _settle(self, name, status, seconds):
        self._owed.remove(name)
        if status == 0:
            self.passed += 1
            word = "passed"
        elif status == SKIPPED:
            self.skipped += 1
            word = "skipped"
        else:
            self.failed += 1
            word = "out of time" if status in OUT_OF_TIME else f"failed with {status}"
        self._tell(name, word, int(seconds))
        self._show(f"--- {name}: {word} ({seconds} s)\n")

    def _tell(self, name, outcome, seconds=None):
        self._told.append({"case": name, "outcome": outcome, "seconds": seconds})

    def owed(self):
        return list(self._owed)

    def skip_all(self):
        for name in self._owed:
            self._tell(name, "skipped")
        self.skipped += len(self._owed)
        self._owed.clear()

    def close(self):
        for name in self._owed:
            self._show(f"--- {name}: no result\n")
            self._tell(name, "no result")
        self.failed += len(self._owed)
        self._owed.clear()

    def summary(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"

    def report(self):
        """All of it for machines; the figures are ratios and rates of an emulated machine."""
        return json.dumps({"schema": "corail.softroce.v1", "passed": self.passed,
                           "failed": self.failed, "skipped": self.skipped, "cases": self._told,
                           "figures": self._figures}, indent=2) + "\n"
