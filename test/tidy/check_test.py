"""Plants each kind of violation in a small tree and expects the checks to find it, and only it."""

import pathlib
import tempfile
import unittest

import check
import coroutines

CLEAN_TREE = {
    "engine/base/CMakeLists.txt": "corail_add_library(base SOURCES a.cc DEPENDS corail_xxhash)",
    "engine/base/a.h": "#pragma once\nint a();\n",
    "engine/base/a.cc": '#include "engine/base/a.h"\n#include <xxhash.h>\n',
    "engine/exec/CMakeLists.txt":
        "corail_add_library(exec\n  SOURCES b.cc b.h  # a comment\n  DEPENDS base corail_asio)",
    "engine/exec/b.h": '#pragma once\n#include <asio.hpp>\n#include "engine/base/a.h"\n',
    "engine/exec/b.cc": '#include "engine/exec/b.h"\n',
    "engine/plan/CMakeLists.txt": "corail_add_library(plan SOURCES p.cc DEPENDS base)",
    "engine/plan/p.cc": '#include "engine/base/a.h"\n',
    "proto/CMakeLists.txt": "corail_add_proto(proto SOURCES m.proto)",
    "proto/m.proto": 'syntax = "proto3";\n',
    "rpc/CMakeLists.txt": "corail_add_library(rpc SOURCES r.cc DEPENDS proto exec)",
    "rpc/r.cc": '#include "engine/exec/b.h"\n#include "proto/m.pb.h"\n',
    "test/exec/CMakeLists.txt": "corail_add_test(exec SOURCES t.cc DEPENDS exec)",
    "test/exec/t.cc": '#include <boost/test/unit_test.hpp>\n#include "engine/exec/b.h"\n',
}

# Per case: what is added to the clean tree (text is appended to a file that is there), and the
# rule and a part of the message of the one violation expected.
PLANTED = {
    "upward include": ({"engine/base/a.cc": '#include "engine/plan/q.h"\n',
                        "engine/plan/q.h": "#pragma once\n",
                        "engine/plan/p.cc": '#include "engine/plan/q.h"\n',
                        "engine/base/CMakeLists.txt": "corail_add_library(base2 DEPENDS plan)"},
                       "layering", "base must not include plan"),
    "upward link": ({"engine/base/CMakeLists.txt": "corail_add_library(base2 DEPENDS exec)"},
                    "layering", "base must not link exec"),
    "asio in plan": ({"engine/plan/p.cc": "#include <asio/buffer.hpp>\n"},
                     "layering", "asio/buffer.hpp is not allowed here"),
    "clock in plan": ({"engine/plan/p.cc": '#include "engine/base/clock.h"\n',
                       "engine/base/clock.h": "#pragma once\n"},
                      "layering", "it knows no clock"),
    "verbs outside verbs": ({"engine/exec/b.cc": "#include <infiniband/verbs.h>\n"},
                            "layering", "infiniband/verbs.h is not allowed here"),
    "protobuf in the engine": ({"engine/exec/b.cc": '#include "proto/m.pb.h"\n'},
                               "layering", "know Protobuf"),
    "missing file": ({"engine/exec/b.cc": '#include "engine/base/none.h"\n'},
                     "layering", "does not exist"),
    "relative include": ({"engine/exec/b.cc": '#include "b.h"\n'}, "layering", "root"),
    "missing link": ({"engine/plan/CMakeLists.txt": None,
                      "engine/plan/CMakeLists.txt+": "corail_add_library(plan SOURCES p.cc)"},
                     "links", "must link base to plan"),
    "missing third-party link": ({"engine/plan/p.cc": "#include <fmt/core.h>\n"},
                                 "links", "must link corail_fmt to plan"),
    "unused link": ({"test/exec/CMakeLists.txt": "corail_add_test(x SOURCES DEPENDS plan)"},
                    "links", "x links plan but includes nothing of it"),
    "raw link": ({"engine/exec/CMakeLists.txt": "\ntarget_link_libraries(corail_exec z)"},
                 "links", "corail_add_ functions"),
    "unlisted source": ({"engine/exec/c.cc": ""}, "dead file", "no CMakeLists.txt lists it"),
    "unlisted proto": ({"proto/n.proto": ""}, "dead file", "no CMakeLists.txt lists it"),
    "unused header": ({"engine/exec/c.h": "#pragma once\n"}, "dead file", "nothing includes it"),
    "unlisted header without source": ({"engine/exec/c.h": "#pragma once\n",
                                        "engine/exec/b.cc": '#include "engine/exec/c.h"\n'},
                                       "header", "list it in SOURCES"),
    "timer": ({"engine/exec/b.cc": "asio::steady_timer t;\n"}, "time", "clock.h"),
    "clock": ({"rpc/r.cc": "auto t = std::chrono::steady_clock::now();\n"}, "time", "clock.h"),
    "sleep": ({"rpc/r.cc": "std::this_thread::sleep_for(x);\n"}, "time", "nothing sleeps"),
    "random device": ({"test/exec/t.cc": "std::random_device d;\n"}, "randomness", "injected"),
    "rand": ({"rpc/r.cc": "int x = rand();\n"}, "randomness", "injected"),
    "detached": ({"rpc/r.cc": "co_spawn(x, f(), asio::detached);\n"}, "detached", "when_all"),
    "using namespace": ({"rpc/r.cc": "using namespace std;\n"}, "namespace", "name what you use"),
    "long file": ({"rpc/r.cc": "\n" * 300}, "length", "302 lines"),
    "wide line": ({"rpc/r.cc": "/" * 101 + "\n"}, "width", "101 columns"),
    "unfinished": ({"rpc/r.cc": "// TODO: more\n"}, "unfinished", "finish it"),
    "empty name": ({"engine/exec/read_util.h": "#pragma once\n",
                    "engine/exec/b.cc": '#include "engine/exec/read_util.h"\n'},
                   "name", "'util' does not say"),
    "case of a name": ({"engine/exec/Big.h": "#pragma once\n",
                        "engine/exec/b.cc": '#include "engine/exec/Big.h"\n'},
                       "name", "snake_case"),
    "no pragma": ({"engine/exec/c.h": "int c;\n",
                   "engine/exec/b.cc": '#include "engine/exec/c.h"\n'}, "header", "#pragma once"),
    "own header not first": ({"engine/exec/p.h": "#pragma once\n",
                              "engine/exec/p.cc":
                                  '#include "engine/base/a.h"\n#include "engine/exec/p.h"\n',
                              "engine/exec/CMakeLists.txt":
                                  "corail_add_library(exec2 SOURCES p.cc DEPENDS base)"},
                             "header", "must be the first include"),
    "coroutine": ({"rpc/r.cc": "T f() { if (co_await g()) { h(); } }\n"},
                  "coroutine", "condition of if"),
}

BAD_COROUTINES = {
    "while (co_await g()) {}": "condition of while",
    "switch (co_await g()) { default: break; }": "condition of switch",
    "for (int i = 0; i < co_await g(); ++i) {}": "condition of for",
    "if (const auto x = co_await g(); x) {}": "condition of if",
    "BOOST_TEST(co_await g());": "arguments of a macro",
    "auto x = c ? co_await g() : X();": "conditional expression",
    "auto x = co_await g(co_await h());": "more than one",
    "co_return {a, b};": "co_return with a braced list",
    "Pair p{a, co_await g()};": "among the braces",
    "co_return Pair{a, co_await g()};": "among the braces",
    "co_await g({1, 2});": "braces or a lambda",
    "co_await g(Pair{a, b});": "braces or a lambda",
    "co_await g([&] { h(); });": "braces or a lambda",
    "auto f = [x]() -> Task<void> { co_await g(x); };": "a lambda that captures",
    "spawn([&](int a) mutable { co_return; });": "a lambda that captures",
    "return [this] { co_return; };": "a lambda that captures",
    "auto f = [&] { k([](int a) -> T { co_return; }); co_return; };": "a lambda that captures",
    "Task<Result<int>> f(int a, int b = 2);": "default argument",
}

GOOD_COROUTINES = (
    "const auto x = co_await g(a, X(b)); if (x.ok()) { h(); }",
    "for (auto& x : co_await g()) { h(x); }",
    "while (more) { more = co_await g(); }",
    "auto f = [](auto state) -> Task<void> { co_await g(state); };",
    "auto f = [&] { spawn([](int a) -> Task<int> { co_return a; }); };",
    "handlers[i](x); if (table[i](x)) { const auto y = co_await g(); }",
    "const char* s = \"if (co_await g()) {\"; const auto big = 1'000'000; char c = '{';",
    "// if (co_await g())\n/* c ? co_await g() : 0 */",
    "Task<int> f(int a, const Options& b); void g(int a = 2);",
    "auto x = a ? b : c; const auto y = co_await g(x);",
)


class CheckTest(unittest.TestCase):
    def violations(self, changes):
        with tempfile.TemporaryDirectory() as root:
            content = dict(CLEAN_TREE)
            for path, text in changes.items():
                if text is None:
                    del content[path]
                else:
                    path = path.removesuffix("+")
                    content[path] = content.get(path, "") + text
            for path, text in content.items():
                file = pathlib.Path(root, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            return check.violations(root)

    def test_clean_tree(self):
        self.assertEqual(self.violations({}), [])

    def test_planted(self):
        for name, (changes, rule, message) in PLANTED.items():
            with self.subTest(name):
                found = [v for v in self.violations(changes) if v.rule == rule]
                texts = "\n".join(map(str, found))
                self.assertIn(message, texts)

    def test_tests_may_sleep(self):
        self.assertEqual(self.violations({"test/exec/t.cc": "std::this_thread::sleep_for(x);\n"}),
                         [])

    def code_of(self, text):
        with tempfile.TemporaryDirectory() as root:
            file = pathlib.Path(root, "rpc", "x.cc")
            file.parent.mkdir()
            file.write_text(text, encoding="utf-8")
            return check.Tree(root).files["rpc/x.cc"].code

    def test_bad_coroutines(self):
        for text, message in BAD_COROUTINES.items():
            with self.subTest(text):
                code = self.code_of("T f() {\n" + text + "\n}\n")
                self.assertTrue(any(message in m for _, m in coroutines.check_code(code)))

    def test_good_coroutines(self):
        for text in GOOD_COROUTINES:
            with self.subTest(text):
                code = self.code_of("T f() {\n" + text + "\n}\n")
                self.assertEqual(list(coroutines.check_code(code)), [])


if __name__ == "__main__":
    unittest.main()
