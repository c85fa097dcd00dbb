"""Checks the repository given as argument (this one by default). Exits 1 if anything is wrong."""

import pathlib
import sys

import coroutines
import idioms
import layers
import links
import shape
from tree import Tree

CHECKS = (layers, links, coroutines, idioms, shape)


def violations(root):
    tree = Tree(root)
    return sorted({violation for check in CHECKS for violation in check.check(tree)})


def main():
    default = pathlib.Path(__file__).resolve().parents[2]
    found = violations(sys.argv[1] if len(sys.argv) > 1 else default)
    for violation in found:
        print(violation)
    if found:
        print(f"{len(found)} violations")
        sys.exit(1)


if __name__ == "__main__":
    main()
