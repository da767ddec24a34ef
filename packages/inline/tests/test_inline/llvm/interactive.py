# SPDX-License-Identifier: MIT
"""The inliner of ``opt-22`` in its interactive mode: a stranger answers over two pipes."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from compiler_gym_foreign.interactive import CompilerQuestion, EndedConversation, Header, Pipes

__all__ = ["Asked", "ask_opt"]

Asked = dict[str, int]
_SECONDS = 120.0


def ask_opt(
    module: bytes, folder: Path, decide: Callable[[int, Asked], bool], level: str = "Oz"
) -> list[Asked]:
    """Return what ``opt-22 -passes=default<level>`` asked about `module`.

    `decide` answers each question, given its number and its features.
    """
    (folder / "input.bc").write_bytes(module)
    with Pipes(folder / "channel") as pipes:
        command = [
            "opt-22",
            "-discard-value-names",
            f"-passes=default<{level}>",
            "-enable-ml-inliner=release",
            f"-inliner-interactive-channel-base={pipes.base}",
            "-inliner-interactive-include-default",
            "-ml-advisor-size-increase-threshold=1000",
            "-relocation-model=pic",  # as clang takes it from the module, and opt does not
            str(folder / "input.bc"),
            *("-o", str(folder / "output.bc")),
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as opt:
            asked = _answered(pipes, decide)
            _, complaint = opt.communicate()
    assert opt.returncode == 0, complaint
    return asked


def _answered(pipes: Pipes, decide: Callable[[int, Asked], bool]) -> list[Asked]:
    header = pipes.receive(_SECONDS)
    assert isinstance(header, Header)
    assert {feature.type for feature in header.features} == {"int64_t"}
    asked: list[Asked] = []
    while isinstance(message := pipes.receive(_SECONDS), CompilerQuestion):
        numbers = [int(tensor[0]) for tensor in message.tensors]
        question = dict(zip(header.names, numbers, strict=True))
        pipes.answer(header.advice.pack(decide(len(asked), question)))
        asked.append(question)
    assert isinstance(message, EndedConversation)
    return asked
