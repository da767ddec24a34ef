# SPDX-License-Identifier: MIT
"""The texts of a file that people read, with their kind and line."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

__all__ = ["Kind", "Text", "read_texts"]

_FENCE = re.compile(r"^(?P<fence>```+|:::+).*?^(?P=fence)$", re.M | re.S)
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_CODE = re.compile(r"``.+?``|`[^`\n]+`", re.S)
_TARGET = re.compile(r"\]\([^)]*\)")
_QUOTE = re.compile(r'"[^"\n]{1,60}"')
_DIRECTIVE = re.compile(r"#\s*(?:type:|pyright:|noqa|fmt:|SPDX|!)")
_CXX = re.compile(r"""R"\((?:.|\n)*?\)"|'(?:[^'\\\n]|\\.)'|"(?P<message>(?:[^"\\\n]|\\.)*)"
                      |(?P<block>^[ \t]*//.*(?:\n[ \t]*//.*)*)|//(?P<trailing>.*)""",
                  re.X | re.M)  # fmt: skip
_SLASHES = re.compile(r"^[ \t]*//[ \t]*", re.M)


class Kind(Enum):
    """The kinds of text that a rule can be limited to."""

    PAGE = "page"
    DOCSTRING = "docstring"
    MESSAGE = "message"
    COMMENT = "comment"
    NAME = "name"


class Text(NamedTuple):
    """One text, the line on which it begins, and its kind."""

    kind: Kind
    line: int
    content: str


def read_texts(path: Path) -> Iterator[Text]:
    """Yield the texts of a Markdown page, a Python or a C++ file, without the code in them.

    A test's strings are data, but its name is a sentence.
    """
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield Text(Kind.PAGE, 1, _blank(source, _FENCE, _COMMENT, _CODE, _TARGET, _QUOTE))
    elif path.suffix != ".py":
        yield from _read_cxx(source)
    else:
        tree, is_test = ast.parse(source), path.name.startswith("test_")
        texts = _read_strings(tree)
        yield from (text for text in texts if not (is_test and text.kind is Kind.MESSAGE))
        yield from _read_comments(source)
        yield from _read_names(tree)


def _blank(text: str, *patterns: re.Pattern[str]) -> str:
    """Replace matches by the letter x, keeping the lines."""
    for pattern in patterns:
        text = pattern.sub(lambda match: re.sub(r"[^\n]", "x", match[0]), text)
    return text


def _read_strings(tree: ast.Module) -> Iterator[Text]:
    """Yield docstrings, and every other string that looks like a sentence."""
    documented: set[ast.AST] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", ())
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                documented.add(statement.value)
    inside = {
        part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            content = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            content = node.value
        else:
            continue
        kind = Kind.DOCSTRING if node in documented else Kind.MESSAGE
        if content.count(" ") >= 2 or kind is Kind.DOCSTRING:
            yield Text(kind, node.lineno, _blank(content, _CODE))


def _read_comments(source: str) -> Iterator[Text]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string):
            yield Text(Kind.COMMENT, token.start[0], _blank(token.string.lstrip("# "), _CODE))


def _read_names(tree: ast.Module) -> Iterator[Text]:
    """Yield the names of tests as sentences."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield Text(Kind.NAME, node.lineno, node.name[5:].replace("_", " "))


def _read_cxx(source: str) -> Iterator[Text]:
    """Yield comments and messages; an unindented comment is the docstring of a declaration."""
    for match in _CXX.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if message := match["message"]:
            if message.count(" ") >= 2:
                yield Text(Kind.MESSAGE, line, _blank(message, _CODE))
        elif comment := match["block"] or match["trailing"]:
            kind = Kind.DOCSTRING if match[0].startswith("//") and match["block"] else Kind.COMMENT
            yield Text(kind, line, _blank(_SLASHES.sub("", comment).strip(), _CODE))
