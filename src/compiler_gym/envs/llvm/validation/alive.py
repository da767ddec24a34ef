# SPDX-License-Identifier: MIT
"""Translation validation: ask ``alive-tv``, where the user has it, to prove every function.

A proof covers every input, but not every function has one: what times out, is not
supported or was changed by an action that looks at several functions is unknown.
Only a counterexample to actions that look at one function at a time is a failure.
"""

import re
import shutil
import subprocess
from pathlib import Path

from compiler_gym.envs.llvm.validation.runs import module_of
from compiler_gym.files import scratch_directory
from compiler_gym.validation import Finding, Subject, ValidationError

__all__ = ["check_proofs"]

_FUNCTION_SECONDS = 10
_SECONDS = 600.0
_NAME = re.compile(r"^define .*?@([^\s(]+)\(", re.MULTILINE)
_OUTCOMES = {
    "correct": "Transformation seems to be correct",
    "wrong": "Transformation doesn't verify",
    "timeout": "Timeout",
}


def check_proofs(subject: Subject) -> Finding:
    """Return what ``alive-tv`` says of the module before and after the actions."""
    tool = shutil.which("alive-tv")
    if tool is None:
        return Finding.unknown("needs alive-tv on PATH: https://github.com/AliveToolkit/alive2")
    with scratch_directory("build") as directory:
        before, after = Path(directory, "before.bc"), Path(directory, "after.bc")
        before.write_bytes(_before(subject))
        after.write_bytes(module_of(subject))
        command = [tool, f"--smt-to={_FUNCTION_SECONDS * 1000}", str(before), str(after)]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return Finding.unknown(f"alive-tv did not finish within {_SECONDS:g} s")
    return _judge(done.stdout.decode(errors="replace"), is_local=_is_local(subject))


def _before(subject: Subject) -> bytes:
    """Return the module as the session starts with it: marked for its goal."""
    with subject.make_env() as env:
        env.observation_space = env.reward_space = None
        env.reset(benchmark=subject.benchmark)
        return env.observation["Bitcode"].tobytes()


def _is_local(subject: Subject) -> bool:
    flags = getattr(subject.env.action_space, "flags", [])
    return all(flags[action].startswith("function(") for action in subject.actions)


def _judge(text: str, *, is_local: bool) -> Finding:
    blocks = [block for block in text.split("-" * 40) if _NAME.search(block)]
    counts = dict.fromkeys((*_OUTCOMES, "unsupported"), 0)
    wrong: list[ValidationError] = []
    for block in blocks:
        outcome = next((o for o, words in _OUTCOMES.items() if words in block), "unsupported")
        counts[outcome] += 1
        if outcome == "wrong":
            name = _NAME.findall(block)[0]
            example = block.partition("doesn't verify!")[2].strip()[:500]
            wrong.append(ValidationError("a counterexample", {"function": name, "is": example}))
    told = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    if wrong and is_local:
        return Finding.failed(wrong[:3], told)
    if wrong:
        return Finding.unknown(
            f"{told}; some actions look at several functions: no proof either way"
        )
    if counts["correct"] and counts["correct"] == len(blocks):
        return Finding.ok(told)
    return Finding.unknown(told or "alive-tv named no function")
