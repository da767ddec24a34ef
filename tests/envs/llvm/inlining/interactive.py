# SPDX-License-Identifier: MIT
"""The inliner of ``opt-22`` in its interactive mode: a stranger answers over two pipes.

LLVM sends one line of JSON with the names of the features, then for each question a line of JSON
and the numbers themselves, and reads eight bytes.
"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np

__all__ = ["Question", "ask_opt"]

Question = dict[str, int]


def ask_opt(
    module: bytes, folder: Path, decide: Callable[[int, Question], bool], level: str = "Oz"
) -> tuple[list[Question], bytes]:
    """Return what ``opt-22 -passes=default<level>`` asked about `module`, and what it wrote.

    `decide` answers each question, given its number and its features.
    """
    base = folder / "channel"
    for end in ("in", "out"):
        os.mkfifo(f"{base}.{end}")
    (folder / "input.bc").write_bytes(module)
    command = [
        "opt-22",
        "-discard-value-names",
        f"-passes=default<{level}>",
        "-enable-ml-inliner=release",
        f"-inliner-interactive-channel-base={base}",
        "-inliner-interactive-include-default",
        "-ml-advisor-size-increase-threshold=1000",
        "-relocation-model=pic",  # as clang takes it from the module, and opt does not
        str(folder / "input.bc"),
        "-o",
        str(folder / "output.bc"),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as opt:
        assert opt.stderr is not None
        with open(f"{base}.in", "wb") as answers, open(f"{base}.out", "rb") as questions:
            asked = list(_answered(questions, answers, decide))
        complaint = opt.stderr.read().decode()
    assert opt.returncode == 0, complaint
    return asked, (folder / "output.bc").read_bytes()


def _answered(
    questions: BinaryIO, answers: BinaryIO, decide: Callable[[int, Question], bool]
) -> list[Question]:
    head = json.loads(questions.readline())
    names = [feature["name"] for feature in head["features"]]
    assert {feature["type"] for feature in head["features"]} == {"int64_t"}
    asked: list[Question] = []
    while line := questions.readline():
        if "observation" not in json.loads(line):  # the name of a context
            continue
        numbers = np.frombuffer(questions.read(8 * len(names)), np.int64)
        assert questions.read(1) == b"\n"
        question = dict(zip(names, numbers.tolist(), strict=True))
        answers.write(np.int64(decide(len(asked), question)).tobytes())
        answers.flush()
        asked.append(question)
    return asked
