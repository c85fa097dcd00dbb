"""The shape of files: length, width, names, first lines, and no marks of unfinished work."""

import pathlib
import re

from tree import Violation

MOST_LINES = 300
MOST_COLUMNS = 100
# Words that say nothing about what a file is for.
EMPTY_WORDS = {
    "common", "helper", "helpers", "manager", "misc", "stuff", "util", "utility", "utils",
}
_UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
_TEXT_SUFFIXES = {".h", ".cc", ".proto", ".cmake", ".txt", ".py", ".sh", ""}


def check(tree):
    for file in tree.files.values():
        suffix = pathlib.PurePosixPath(file.path).suffix
        if suffix in _TEXT_SUFFIXES:
            yield from _check_lines(file)
        words = set(re.split(r"[_.\-]", file.name.lower()))
        for word in sorted(words & EMPTY_WORDS):
            yield Violation(file.path, 1, "name", f"'{word}' does not say what the file is for")
        if file.is_cpp:
            yield from _check_cpp(tree, file)


def _check_lines(file):
    lines = file.text.splitlines()
    if len(lines) > MOST_LINES:
        message = f"{len(lines)} lines, at most {MOST_LINES}: split it by idea"
        yield Violation(file.path, MOST_LINES + 1, "length", message)
    for number, line in enumerate(lines, 1):
        if len(line) > MOST_COLUMNS:
            message = f"{len(line)} columns, at most {MOST_COLUMNS}"
            yield Violation(file.path, number, "width", message)
        # The checks and their tests have to name what they look for.
        if _UNFINISHED.search(line) and not file.path.startswith("test/tidy/"):
            yield Violation(file.path, number, "unfinished", "finish it, or file an issue")


def _check_cpp(tree, file):
    if not re.fullmatch(r"[a-z0-9_]+\.(h|cc)", file.name):
        yield Violation(file.path, 1, "name", "file names are snake_case")
    if file.path.endswith(".h"):
        if not re.search(r"^#pragma once$", file.text, re.MULTILINE):
            yield Violation(file.path, 1, "header", "#pragma once is missing")
        return
    # The first include proves that the header compiles alone. CMake compiles those headers that
    # have no source file.
    own = file.path.removesuffix(".cc") + ".h"
    if own in tree.files and (not file.includes or file.includes[0].name != own):
        yield Violation(file.path, 1, "header", f'"{own}" must be the first include')
