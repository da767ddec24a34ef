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
import subprocess
import sys


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


def expand_response_files(words: "list[str]") -> "list[str]":
    """Replace response files, which the build may delete, by the arguments in these."""
    import shlex

    arguments: list[str] = []
    for word in words:
        if word.startswith("@") and os.path.isfile(word[1:]):
            with open(word[1:], errors="surrogateescape") as file:
                arguments += expand_response_files(shlex.split(file.read()))
        else:
            arguments.append(word)
    return arguments


def main() -> int:
    """Run the command and append one line to the journal."""
    journal, count = sys.argv[1], int(sys.argv[2])
    real, words = sys.argv[3 : 3 + count], sys.argv[3 + count :]
    try:
        status = subprocess.run([*real, *words], check=False).returncode
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
