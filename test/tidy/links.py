"""CMake's link lines say what the includes say, and every source file is in a link line."""

import pathlib
import re

from layers import ALLOWED, THIRD_PARTY, layer_of
from tree import Violation

# What corail_add_<kind> links by itself.
_IMPLIED = {
    "test": {"corail_boost_test"},
    "bench": {"corail_benchmark"},
    "proto": {"corail_protobuf"},
    # Compiled into it source by source.
    "fuzzer": {"rpc", "rail"},
}


def check(tree):
    owners = _Owners(tree)
    for target in tree.targets:
        yield from _check_target(tree, owners, target)
    yield from _check_unlisted(tree)
    yield from _check_raw_links(tree)


class _Owners:
    """Which library a header belongs to: the one of the nearest folder that declares any."""

    def __init__(self, tree):
        self.libraries = {t.name: t for t in tree.targets if t.kind in ("library", "proto")}
        self._by_folder = {}
        self._by_source = {}
        for target in self.libraries.values():
            self._by_folder.setdefault(target.folder, []).append(target)
            for source in target.sources:
                self._by_source[source] = target

    def of(self, header):
        """The names of the libraries that the header may belong to."""
        for suffix, source in ((".pb.h", ".proto"), (".h", ".cc")):
            if header.endswith(suffix):
                target = self._by_source.get(header.removesuffix(suffix) + source)
                if target:
                    return {target.name}
        for folder in pathlib.PurePosixPath(header).parents:
            if str(folder) in self._by_folder:
                return {target.name for target in self._by_folder[str(folder)]}
        return set()

    def reachable(self, target):
        """Everything that the target links, through others too."""
        seen = set()
        pending = [*target.depends, *_IMPLIED.get(target.kind, ())]
        while pending:
            name = pending.pop().removeprefix("corail::")
            if name not in seen:
                seen.add(name)
                library = self.libraries.get(name)
                if library:
                    pending += [*library.depends, *_IMPLIED.get(library.kind, ())]
        return seen


def _files_of(tree, owners, target):
    """The target's sources and the headers that are its own."""
    files = {source for source in target.sources if source in tree.files}
    if target.kind == "library":
        files |= {f.path for f in tree.cpp_files if target.name in owners.of(f.path)
                  and f.path.endswith(".h")}
        return files
    pending = list(files)
    while pending:
        for include in tree.files[pending.pop()].includes:
            mine = include.name.startswith(target.folder + "/") and not owners.of(include.name)
            if mine and include.name in tree.files and include.name not in files:
                files.add(include.name)
                pending.append(include.name)
    return files


def _needed(tree, owners, target):
    """For each include that needs a library: (path, line, names of which one is needed)."""
    for path in sorted(_files_of(tree, owners, target)):
        for include in tree.files[path].includes:
            if include.system:
                for pattern, library, _ in THIRD_PARTY:
                    if library and re.match(pattern, include.name):
                        yield path, include.line, {library}
            else:
                names = owners.of(include.name)
                itself = target.kind in ("library", "proto") and target.name in names
                if names and not itself:
                    yield path, include.line, names


def _check_target(tree, owners, target):
    cmake = f"{target.folder}/CMakeLists.txt"
    reachable = owners.reachable(target)
    needed = set()
    for path, line, names in _needed(tree, owners, target):
        needed |= names
        if not names & reachable:
            one = " or ".join(sorted(names))
            yield Violation(path, line, "links", f"{cmake} must link {one} to {target.name}")
    for name in target.depends:
        plain = name.removeprefix("corail::")
        if plain not in needed and target.kind not in ("proto", "fuzzer"):
            message = f"{target.name} links {name} but includes nothing of it"
            yield Violation(cmake, target.line, "links", message)
        library = owners.libraries.get(plain)
        if library:
            layer, own = layer_of(library.folder + "/x"), layer_of(target.folder + "/x")
            if layer != own and layer not in ALLOWED.get(own, set()):
                message = f"{own} must not link {layer}"
                yield Violation(cmake, target.line, "layering", message)


def _check_unlisted(tree):
    listed = {source for target in tree.targets for source in target.sources}
    for file in tree.files.values():
        if file.path.endswith((".cc", ".proto")) and file.path not in listed:
            yield Violation(file.path, 1, "dead file", "no CMakeLists.txt lists it")
    included = {include.name for file in tree.cpp_files for include in file.includes}
    for file in tree.cpp_files:
        if file.path.endswith(".h") and file.path not in included:
            yield Violation(file.path, 1, "dead file", "nothing includes it")
        alone = file.path.endswith(".h") and file.path.removesuffix(".h") + ".cc" not in tree.files
        if alone and file.path not in listed:
            message = "list it in SOURCES, so that it is compiled alone: it has no .cc file"
            yield Violation(file.path, 1, "header", message)


def _check_raw_links(tree):
    exempt = ("third_party/", "test/tidy/")
    for file in tree.files.values():
        if file.name == "CMakeLists.txt" and not file.path.startswith(exempt):
            for number, line in enumerate(file.text.splitlines(), 1):
                if re.match(r"\s*(target_link_libraries|add_library|add_executable)\b", line):
                    message = "declare targets with the corail_add_ functions"
                    yield Violation(file.path, number, "links", message)
