# SPDX-License-Identifier: MIT
"""Stands in for a compiler in somebody's build: runs the real one and notes what it made.

A script for ``python -I -S``, started for every command of a build: it loads nothing of this
package. Its arguments are the journal, how many words the real compiler has, these, and what
the build asked for. The exit status is the compiler's; a journal that cannot be written is
the build's failure, because what is not recorded would be lost silently.
"""

import hashlib
import json
import os
import subprocess
import sys


def outputs(words: "list[str]") -> "list[str]":
    """Return the files that a command may have made."""
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
    """Return what names the contents of a file; nothing where there is no file."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def expand_response_files(words: "list[str]") -> "list[str]":
    """Return the words with those of response files in their places: these may be deleted."""
    import shlex

    found: list[str] = []
    for word in words:
        if word.startswith("@") and os.path.isfile(word[1:]):
            with open(word[1:], errors="surrogateescape") as file:
                found += expand_response_files(shlex.split(file.read()))
        else:
            found.append(word)
    return found


def main() -> int:
    """Run the command and add one line to the journal."""
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
    made = {path: digest(path) for path in outputs(words)}
    made = {path: name for path, name in made.items() if name}
    if made:
        line = json.dumps({"words": [*real, *words], "cwd": os.getcwd(), "made": made}) + "\n"
        # One write to a file opened for appending: parallel builds do not mix their lines.
        file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(file, line.encode("utf-8", "surrogateescape"))
        os.close(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
