"""What the guest says of its cases, line by line."""

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

    def take(self, line):
        """One line of the guest's, without its end."""
        words = line.split()
        if words[:1] == ["END"] and len(words) == 1:
            self.ended = True
        elif words[:1] == ["BEGIN"] and len(words) == 2:
            self._show(f"--- {words[1]}\n")
        elif words[:1] == ["RESULT"] and len(words) == 4 and words[1] in self._owed:
            self._settle(words[1], int(words[2]), words[3])
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
        self._show(f"--- {name}: {word} ({seconds} s)\n")

    def owed(self):
        return list(self._owed)

    def skip_all(self):
        self.skipped += len(self._owed)
        self._owed.clear()

    def close(self):
        for name in self._owed:
            self._show(f"--- {name}: no result\n")
        self.failed += len(self._owed)
        self._owed.clear()

    def summary(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
