# SPDX-License-Identifier: MIT
"""Translation validation: prove every function with ``alive-tv``, if it is installed.

A proof covers every input, but not every function can be proved: the result is unknown if
``alive-tv`` times out or does not support a function, or if an action can change several functions
together. Only a counterexample to actions on single functions is a failure.
"""

import re
import shutil
import subprocess
from pathlib import Path

from compiler_gym.envs.llvm.validation.runs import make_module
from compiler_gym.files import scratch_directory
from compiler_gym.validation import Finding, Subject, ValidationError, Verdict

__all__ = ["check_proofs", "is_proved"]

_FUNCTION_SECONDS = 10
_PROOF_SECONDS = 600.0
_FUNCTION_NAME = re.compile(r"^define .*?@([^\s(]+)\(", re.MULTILINE)
_OUTCOMES = {
    "correct": "Transformation seems to be correct",
    "wrong": "Transformation doesn't verify",
    "timeout": "Timeout",
}


def check_proofs(subject: Subject) -> Finding:
    """Return the result of ``alive-tv`` for the module before and after the actions."""
    tool = shutil.which("alive-tv")
    if tool is None:
        return Finding.unknown(
            "alive-tv is not on PATH; install it from https://github.com/AliveToolkit/alive2"
        )
    return _run_alive(tool, _before(subject), make_module(subject), is_local=_is_local(subject))


def is_proved(before: bytes, after: bytes) -> bool:
    """Return whether ``alive-tv`` is installed and proves the change of every function."""
    tool = shutil.which("alive-tv")
    return tool is not None and _run_alive(tool, before, after, is_local=True).verdict is Verdict.OK


def _run_alive(tool: str, before: bytes, after: bytes, *, is_local: bool) -> Finding:
    with scratch_directory("build") as directory:
        source, target = Path(directory, "before.bc"), Path(directory, "after.bc")
        source.write_bytes(before)
        target.write_bytes(after)
        command = [tool, f"--smt-to={_FUNCTION_SECONDS * 1000}", str(source), str(target)]
        try:
            result = subprocess.run(
                command, capture_output=True, timeout=_PROOF_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return Finding.unknown(f"alive-tv did not finish within {_PROOF_SECONDS:g} s")
    return _judge(result.stdout.decode(errors="replace"), is_local=is_local)


def _before(subject: Subject) -> bytes:
    """Return the module at reset, with the attributes of its goal."""
    with subject.make_env() as env:
        env.observation_space = env.reward_space = None
        env.reset(benchmark=subject.benchmark)
        return env.observation["Bitcode"].tobytes()


def _is_local(subject: Subject) -> bool:
    flags = getattr(subject.env.action_space, "flags", [])
    return all(flags[action].startswith("function(") for action in subject.actions)


def _judge(text: str, *, is_local: bool) -> Finding:
    blocks = [block for block in text.split("-" * 40) if _FUNCTION_NAME.search(block)]
    counts = dict.fromkeys((*_OUTCOMES, "unsupported"), 0)
    wrong: list[ValidationError] = []
    for block in blocks:
        outcome = next((o for o, words in _OUTCOMES.items() if words in block), "unsupported")
        counts[outcome] += 1
        if outcome == "wrong":
            name = _FUNCTION_NAME.findall(block)[0]
            example = block.partition("doesn't verify!")[2].strip()[:500]
            wrong.append(ValidationError("a counterexample", {"function": name, "is": example}))
    summary = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    if wrong and is_local:
        return Finding.fail(wrong[:3], summary)
    if wrong:
        return Finding.unknown(
            f"{summary}; inconclusive, because some actions change several functions together"
        )
    if counts["correct"] and counts["correct"] == len(blocks):
        return Finding.ok(summary)
    return Finding.unknown(summary or "alive-tv reported no function")
