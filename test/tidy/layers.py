"""Which folder may include which, and which third-party library is allowed where."""

import re

from tree import Violation

_ENGINE = {"base", "disk", "exec", "memory", "object", "plan", "verbs", "rail", "read", "store"}

# What each layer may include besides itself. Tests may include anything.
ALLOWED = {
    "base": set(),
    "exec": {"base"},
    "memory": {"base"},
    "disk": {"base", "exec", "memory"},
    "object": {"base"},
    "plan": {"base", "object"},
    "verbs": {"base"},
    "rail": {"base", "exec", "memory", "verbs"},
    "read": {"base", "exec", "memory", "object", "plan", "rail"},
    "store": {"base", "disk", "exec", "memory", "object", "plan"},
    "proto": set(),
    "rpc": _ENGINE - {"verbs"} | {"proto"},
    "apps": _ENGINE - {"verbs"} | {"rpc"},
    "bench": _ENGINE | {"rpc", "proto", "apps"},
    "test": _ENGINE | {"rpc", "proto", "apps", "bench"},
}

# Third-party headers, the target that brings them, and the paths that may include them.
THIRD_PARTY = (
    (r"asio(\.hpp$|/)", "corail_asio", r"(engine/(?!plan/)|rpc/|apps/|bench/|test/)"),
    (r"infiniband/", "corail_ibverbs", r"(engine|test)/verbs/"),
    (r"google/protobuf/", "corail_protobuf", r"(proto|rpc|test)/"),
    (r"xxhash\.h$", "corail_xxhash", r"engine/base/"),
    (r"spdlog/", "corail_spdlog", r"engine/base/log\."),
    (r"fmt/", "corail_fmt", r""),
    (r"numa(if)?\.h$", "corail_numa", r"engine/memory/"),
    (r"liburing\.h$", "corail_uring", r"engine/disk/"),
    (r"nlohmann/", "corail_json", r"(apps|bench|test)/"),
    (r"CLI/", "corail_cli11", r"(apps|bench|test/sim)/"),
    (r"zlib\.h$", "corail_zlib", r"apps/"),
    (r"boost/test/", "corail_boost_test", r"test/"),
    (r"boost/(?!test/)", None, r"$never"),
    (r"benchmark/", "corail_benchmark", r"bench/"),
)


def layer_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "engine" and len(parts) > 2 else parts[0]


def check(tree):
    for file in tree.cpp_files:
        for include in file.includes:
            message = _objection(tree, file, include)
            if message:
                yield Violation(file.path, include.line, "layering", message)


def _objection(tree, file, include):
    name = include.name
    for pattern, _, where in THIRD_PARTY:
        if re.match(pattern, name):
            if not include.system:
                return f"third-party header {name} belongs in angle brackets"
            return None if re.match(where, file.path) else f"{name} is not allowed here"
    if include.system:
        return None
    if "/" not in name:
        return f'"{name}" must be written from the repository\'s root'
    generated = name.endswith(".pb.h")
    source = name.removesuffix(".pb.h") + ".proto" if generated else name
    if source not in tree.files:
        return f"{name} does not exist"
    if generated and file.layer not in ("proto", "rpc", "test"):
        return f"only proto/ and rpc/ know Protobuf, not {file.path}"
    if file.layer == "plan" and name == "engine/base/clock.h":
        return "plan/ is pure: it knows no clock"
    layer = layer_of(name)
    if layer != file.layer and layer not in ALLOWED.get(file.layer, set()):
        return f"{file.layer} must not include {layer} ({name})"
    if file.layer == layer == "apps" and file.path.split("/")[1] != name.split("/")[1]:
        return f"programs do not include each other ({name})"
    return None
