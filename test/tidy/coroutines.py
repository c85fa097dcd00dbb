"""Coroutine constructs that GCC 12.2 mistranslates, or that this code base does without."""

import re

from tree import Violation, line_of

_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CONDITION = re.compile(r"\b(if|while|switch|for)\s*(?:constexpr\s*)?\(")
_MACRO = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\s*\(")
_COROUTINE_WORD = re.compile(r"\bco_(?:await|return|yield)\b")
_COROUTINE_TYPE = re.compile(r"\b(?:Task|awaitable)<")
# A lambda's introducer, which is no subscript: those follow a name or a closing bracket.
_LAMBDA = re.compile(r"(?:(?<![\w\])])|(?<=\breturn)\s*|(?<=\bco_return)\s*)\[([^\[\]]*)\]")
_LAMBDA_TAIL = re.compile(r"\s*(?:(?:mutable|noexcept|constexpr)\s*)*(?:->[^{};]*)?\{")


def check(tree):
    for file in tree.cpp_files:
        # These tests are about the compiler: they hold the allowed constructs in their raw form.
        if file.path.startswith("test/compiler/"):
            continue
        for position, message in check_code(file.code):
            yield Violation(file.path, line_of(file.code, position), "coroutine", message)


def check_code(code):
    yield from _conditions(code)
    yield from _statements(code)
    yield from _braces(code)
    yield from _lambdas(code)
    yield from _default_arguments(code)


def _end_of(code, start):
    """The position behind the bracket that closes the one at start."""
    opening, closing = code[start], _CLOSING[code[start]]
    depth = 0
    for position in range(start, len(code)):
        if code[position] == opening:
            depth += 1
        elif code[position] == closing:
            depth -= 1
            if depth == 0:
                return position + 1
    return len(code)


def _conditions(code):
    for match in _CONDITION.finditer(code):
        inside = code[match.end() - 1 : _end_of(code, match.end() - 1)]
        # A range-for over an awaited value is sound.
        if "co_await" in inside and not (match.group(1) == "for" and ";" not in inside):
            yield match.start(), f"co_await inside the condition of {match.group(1)}"
    for match in _MACRO.finditer(code):
        if "co_await" in code[match.end() : _end_of(code, match.end() - 1)]:
            yield match.start(), "co_await inside the arguments of a macro"


def _statements(code):
    for statement in re.finditer(r"[^;{}]+", code):
        awaits = len(re.findall(r"\bco_await\b", statement.group()))
        if awaits:
            first = statement.start() + statement.group().index("co_await")
            if "?" in statement.group():
                yield first, "co_await beside a conditional expression: name its result first"
            if awaits > 1:
                yield first, "more than one co_await in a statement"


def _braces(code):
    for match in re.finditer(r"\bco_return\s*\{", code):
        yield match.start(), "co_return with a braced list: name the type"
    for match in re.finditer(r"\{", code):
        inside = code[match.start() : _end_of(code, match.start())]
        if "co_await" in inside and ";" not in inside:
            yield match.start(), "co_await among the braces of an initializer"
    for match in re.finditer(r"\bco_await\b", code):
        depth = 0
        for position in range(match.end(), len(code)):
            letter = code[position]
            if letter in "([":
                depth += 1
            elif letter in ")]":
                depth -= 1
            if depth < 0 or letter == "}" or (letter == ";" and depth == 0):
                break
            if letter == "{":
                yield match.start(), "braces or a lambda in an awaited expression: name it first"
                break


def _lambdas(code):
    """Lambdas that capture and whose own body (not that of a lambda inside) is a coroutine."""
    found = []
    for match in _LAMBDA.finditer(code):
        position = match.end()
        parameters = re.compile(r"\s*(?:<[^(]*>\s*)?\(").match(code, position)
        if parameters:
            position = _end_of(code, parameters.end() - 1)
        tail = _LAMBDA_TAIL.match(code, position)
        if tail:
            body = tail.end() - 1
            found.append((match.start(), match.group(1).strip(), body, _end_of(code, body)))
    for start, captures, body, end in found:
        own = code[body:end]
        for _, _, inner_body, inner_end in found:
            if body < inner_body and inner_end < end:
                blank = " " * (inner_end - inner_body)
                own = own[: inner_body - body] + blank + own[inner_end - body :]
        if captures and _COROUTINE_WORD.search(own):
            yield start, "a lambda that captures is a coroutine: pass its state as parameters"


def _default_arguments(code):
    for match in _COROUTINE_TYPE.finditer(code):
        after = _end_of(code, match.end() - 1)
        name = re.compile(r"\s+[\w:]+\s*\(").match(code, after)
        if name:
            parameters = code[name.end() : _end_of(code, name.end() - 1)]
            if re.search(r"(?<![=<>!\[])=(?!=)", parameters):
                yield match.start(), "default argument on a coroutine: write an overload"
