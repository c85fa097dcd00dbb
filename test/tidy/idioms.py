"""Constructs with one home: time, randomness, detached work."""

import re

from tree import Violation, line_of

# (rule, pattern, paths where it is allowed, message)
_BANNED = (
    ("time", r"\b(steady|system|high_resolution)_timer\b|\bbasic_waitable_timer\b|_clock::now\b"
             r"|\bclock_gettime\b|\bgettimeofday\b",
     r"engine/base/clock\.|test/",
     "time comes from engine/base/clock.h only"),
    ("time", r"\bthis_thread::sleep_|\b(u|nano)sleep\s*\(|(?<!\w)::sleep\s*\(", r"test/",
     "nothing sleeps: wait for an event or a timer of engine/base/clock.h"),
    ("randomness", r"\brandom_device\b|\bs?rand(_r)?\s*\(|\bgetrandom\b",
     r"engine/base/random\.",
     "randomness is injected, see engine/base/random.h"),
    ("detached", r"\basio::detached\b", r"test/|apps/\w+/main\.cc$",
     "spawn through when_all or a task scope"),
    ("thread", r"\.detach\(\)", r"$never", "threads are joined"),
    ("namespace", r"\busing namespace\b(?!.*literals)", r"$never", "name what you use"),
)


def check(tree):
    for file in tree.cpp_files:
        if file.path.startswith("test/compiler/"):
            continue
        for rule, pattern, allowed, message in _BANNED:
            if re.match(allowed, file.path):
                continue
            for match in re.finditer(pattern, file.code):
                line = line_of(file.code, match.start())
                yield Violation(file.path, line, rule, f"{match.group().strip()}: {message}")
