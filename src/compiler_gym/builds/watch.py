# SPDX-License-Identifier: MIT
"""A stand-in for a compiler in a build: runs the real compiler and records its outputs.

This script runs under ``python -I -S`` for every command of a build, so it imports nothing from
this package. Its arguments are the journal, the number of arguments of the real compiler's
command, that command, and the build's arguments. The exit status is the compiler's. If the journal
cannot be written the build fails, because the command would be lost silently.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

RUST_OBJECT = ".rcgu.o"
RUST_CODE = [
    "-w",
    "-O2",
    "-fPIC",
    "-ffunction-sections",
    "-fdata-sections",
    "-Xclang",
    "-disable-llvm-passes",
]
"""Flags with which clang generates the code of rustc's modules as rustc does."""

PIECES = re.compile(
    r"""[ \t\n\v\f\r]+|'((?:[^\\']|\\.)*)(?:'|\\?\Z)|"((?:[^\\"]|\\.)*)(?:"|\\?\Z)"""
    r"""|((?:[^ \t\n\v\f\r'"\\]|\\.)+)|\\()\Z""",
    re.DOTALL,
)
"""Blanks, or a piece of an argument: in single or double quotes, which the end of the file closes,
or plain; a backslash at the end is dropped."""
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
MOST_FILES = 2000
SCRIPT = os.path.abspath(__file__)
"""The path of this file, which stand-ins of compilers run."""


def outputs(words: "list[str]") -> "list[str]":
    """Return the files that a command may have written."""
    for at, word in enumerate(words):
        if word == "-o" and at + 1 < len(words):
            return [words[at + 1]]
        if word.startswith("-o") and len(word) > 2 and not word.startswith("-ob"):
            return [word[2:]]
    if "-c" not in words:
        return ["a.out"]
    names = [word for word in words if not word.startswith("-") and "." in word]
    return [os.path.splitext(os.path.basename(name))[0] + ".o" for name in names]


def digest(path: str) -> str:
    """Return the SHA-256 of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def expand_response_files(words: "list[str]", cwd: str = "") -> "list[str]":
    """Replace response files, which a build may delete, by the arguments in these, as GCC does.

    A name that is not a regular file stays an argument. A file that contains itself is read only
    until `MOST_FILES`, at which GCC gives up.
    """
    todo, arguments, left = words[::-1], list[str](), MOST_FILES
    while todo:
        word = todo.pop()
        path = os.path.join(cwd, word[1:])
        if left and word.startswith("@") and "\0" not in word and os.path.isfile(path):
            with open(path, "rb") as file:
                todo += split_response_file(file.read())[::-1]
            left -= 1
        else:
            arguments.append(word)
    return arguments


def split_response_file(data: bytes) -> "list[str]":
    r"""Return the arguments in a response file: blanks separate them, and a backslash escapes any
    character, in quotes too.

    >>> split_response_file(b"-DA='\\\"x y\\\"' '' \"b")
    ['-DA="x y"', '', 'b']
    """
    arguments, pieces = list[str](), list[str]()
    text = data.partition(b"\0")[0].decode("utf-8", "surrogateescape")
    for match in PIECES.finditer(text):
        if match.lastindex is not None:  # not blanks
            pieces.append(ESCAPED.sub(r"\1", match[match.lastindex]))
        elif pieces:
            arguments.append("".join(pieces))
            pieces = []
    return [*arguments, "".join(pieces)] if pieces else arguments


def keep_rust_files(words: "list[str]", before: "list[str]") -> "list[str]":
    """Return rustc's link `words` with copies of the files that it deletes after the link.

    Modules are compiled to the objects that are linked, so they are sources like any other.
    `before` are the arguments of this script before those of the build. Links in which the standard
    library is machine code, such as those of macros and build scripts, are not changed.
    """
    if (
        "-c" in words
        or not any(word.endswith(RUST_OBJECT) for word in words)
        or re.search(r"/lib(core|proc_macro)-[0-9a-f]+\.rlib", " ".join(words))
    ):
        return words
    folder = outputs(words)[0] + ".rust"
    os.makedirs(folder, exist_ok=True)
    kept: list[str] = []
    for word in words:
        option, equals, path = word.rpartition("=")
        is_brief = path.endswith(RUST_OBJECT) or re.search(r"/rustc\w{6}/", path)
        if not is_brief or not os.path.isfile(path):
            kept.append(word)
            continue
        copy = os.path.join(folder, os.path.basename(path))
        shutil.copy(path, copy)
        with open(path, "rb") as file:
            is_module = file.read(2) == b"BC"
        if is_module:
            module = copy.removesuffix(RUST_OBJECT) + ".bc"
            os.replace(copy, module)
            compile_words = [*before, *RUST_CODE, "-c", module, "-o", copy]
            subprocess.run([sys.executable, "-I", "-S", __file__, *compile_words], check=True)
        kept.append(option + equals + copy)
    return kept


def main() -> int:
    """Run the command and append one line to the journal."""
    journal, count = sys.argv[1], int(sys.argv[2])
    real, words = sys.argv[3 : 3 + count], sys.argv[3 + count :]
    try:
        words = keep_rust_files(words, sys.argv[1 : 3 + count])
        status = subprocess.run([*real, *words], check=False).returncode
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    except OSError as error:
        sys.stderr.write(f"{real[0]}: {error.strerror}\n")
        return 127
    if status:
        return status if status > 0 else 128 - status
    words = expand_response_files(words)
    digests = {path: digest(path) for path in outputs(words)}
    digests = {path: name for path, name in digests.items() if name}
    if digests:
        line = json.dumps({"words": [*real, *words], "cwd": os.getcwd(), "made": digests}) + "\n"
        # A single appending write keeps the lines of parallel commands apart.
        file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(file, line.encode("utf-8", "surrogateescape"))
        os.close(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
