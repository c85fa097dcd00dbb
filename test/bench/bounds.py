"""What must hold for every run of p2p_bench on any machine: counts and sizes, no times."""

import dataclasses

MIB = 1 << 20

# Of `--preset seed-4k --layout bump` (1000 blocks of 576 segments of 4 KiB, 2250 MiB).
MOST_READS_PLANNED = 72
MOST_TABLE_BYTES = 13_000
# A rail may halve the slices of a read's tail, a checksum has 8 bytes a block, and an answer some
# fields beside its table.
MOST_READS_MORE_PER_RAIL = 8
CHECKSUM_BYTES = 8
MOST_OTHER_ANSWER_BYTES = 100
# Beside the payload: slabs that are not full, sockets, threads.
MOST_MEMORY_FACTOR = 1.1
MOST_OTHER_MEMORY_BYTES = 64 * MIB


@dataclasses.dataclass(frozen=True)
class Bound:
    name: str
    value: int
    relation: str  # "<=" or "=="
    limit: int

    @property
    def holds(self):
        return self.value <= self.limit if self.relation == "<=" else self.value == self.limit

    def __str__(self):
        verdict = "fine" if self.holds else "BROKEN"
        return f"{self.name:<22}{self.value:>14} {self.relation} {self.limit:<14}{verdict}"


def bounds_of(report):
    """The bounds of a report of --preset seed-4k, from its JSON."""
    config, summary = report["config"], report["summary"]
    most_posted = (summary["reads_planned"]
                   + MOST_READS_MORE_PER_RAIL * max(len(config["rails"]), len(summary["rails"])))
    most_answer = (summary["run_table_bytes"] + CHECKSUM_BYTES * config["blocks"]
                   + MOST_OTHER_ANSWER_BYTES)
    most_memory = int(summary["bytes"] * MOST_MEMORY_FACTOR) + MOST_OTHER_MEMORY_BYTES
    checked = summary["bytes"] if config["integrity"] == "xxh3" else 0
    return [
        Bound("reads_planned", summary["reads_planned"], "<=", MOST_READS_PLANNED),
        Bound("reads_posted", summary["reads_posted"], "<=", most_posted),
        Bound("run_table_bytes", summary["run_table_bytes"], "<=", MOST_TABLE_BYTES),
        Bound("query_response_bytes", summary["query_response_bytes"], "<=", most_answer),
        Bound("read_bytes", summary["read_bytes"], "==", summary["needed_bytes"]),
        Bound("needed_bytes", summary["needed_bytes"], "==", summary["bytes"]),
        Bound("checksummed bytes", summary["verified_by"]["integrity"], "==", checked),
        Bound("mismatched_bytes", summary["mismatched_bytes"], "==", 0),
        Bound("failed", summary["failed"], "==", 0),
        Bound("committed", summary["committed"], "==", config["iterations"]),
        Bound("requester's peak rss", summary["peak_rss_bytes"]["requester"], "<=", most_memory),
    ]
