"""The repository as the checks see it: files, their code without comments, includes, targets."""

import dataclasses
import functools
import pathlib
import re

TOP_FOLDERS = ("engine", "proto", "rpc", "apps", "test", "bench", "third_party", ".ci")

# Comments and literals, each of which may contain what looks like code. A quote after a digit
# separates digits.
_NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
_TARGET = re.compile(r"\bcorail_add_(library|proto|program|bench|test|fuzzer)\s*\(([^()]*)\)")


@dataclasses.dataclass(frozen=True, order=True)
class Violation:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Include:
    line: int
    name: str
    system: bool


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def _blank(match):
    # Newlines stay, so that positions and line numbers stay.
    return re.sub(r"[^\n]", " ", match.group())


class File:
    def __init__(self, root, path):
        self.path = path
        self.name = pathlib.PurePosixPath(path).name
        self.folder = str(pathlib.PurePosixPath(path).parent)
        self.text = (root / path).read_text(encoding="utf-8", errors="replace")

    @property
    def is_cpp(self):
        return self.path.endswith((".h", ".cc"))

    @property
    def layer(self):
        """The unit of layering: engine/<layer>, or the top folder."""
        parts = self.path.split("/")
        return parts[1] if parts[0] == "engine" and len(parts) > 2 else parts[0]

    @functools.cached_property
    def code(self):
        """The text with comments and literals blanked."""
        return _NO_CODE.sub(_blank, self.text)

    @functools.cached_property
    def includes(self):
        return [
            Include(line_of(self.text, match.start(1)), match.group(2), match.group(1) == "<")
            for match in _INCLUDE.finditer(self.text)
        ]


@dataclasses.dataclass
class Target:
    """One corail_add_* call of a CMakeLists.txt."""

    kind: str
    name: str
    folder: str
    line: int
    sources: list
    depends: list


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = {}
        for top in TOP_FOLDERS:
            for path in sorted((self.root / top).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    relative = path.relative_to(self.root).as_posix()
                    self.files[relative] = File(self.root, relative)

    @property
    def cpp_files(self):
        return [file for file in self.files.values() if file.is_cpp]

    @functools.cached_property
    def targets(self):
        found = []
        for file in self.files.values():
            if file.name == "CMakeLists.txt":
                found += _parse_targets(file)
        return found


def _parse_targets(file):
    text = re.sub(r"#[^\n]*", _blank, file.text)
    for match in _TARGET.finditer(text):
        sections = {"": []}
        section = ""
        for word in match.group(2).split():
            if word in ("SOURCES", "DEPENDS", "PROGRAMS", "UNDER_TEST"):
                section = word
            else:
                sections.setdefault(section, []).append(word.strip('"'))
        yield Target(
            kind=match.group(1),
            name=(sections[""] or ["?"])[0],
            folder=file.folder,
            line=line_of(text, match.start()),
            sources=[f"{file.folder}/{source}" for source in sections.get("SOURCES", [])],
            depends=sections.get("DEPENDS", []),
        )
