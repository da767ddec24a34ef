# SPDX-License-Identifier: MIT
"""CompilerGym 0.2.5 beside ours: the same bitcode, the same hundred actions, in turns.

The old library needs an environment of its own: ``--peer DIR`` or ``COMPILER_GYM_PEER`` names a
folder with its interpreter as ``venv/bin/python``, with what it would download below
``site_data`` and with bitcode that both read (LLVM 10's) below ``programs``. Both sides run
``peer_round.py``, each in a process of its own; they take turns, and the best of every round
counts, because other programs on the machine only ever add. Sequences are comparable where
about as many actions changed the program on both sides.
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure, NotSetUpError
from compiler_gym import make

VARIABLE = "COMPILER_GYM_PEER"
ROUNDS = 3
SECONDS = 0.5
"""How long each thing is repeated in a round, if it can be done more than three times."""
ACTIONS = 100
LARGEST_BYTES = 1 << 20
ROUND = Path(__file__).with_name("peer_round.py")
SMALL, MEDIUM = 500, 3_000
"""Instructions: what was promised depends on the size."""

Measured = dict[str, dict[str, float]]
"""By program, then by what was done: seconds, or counts."""


def measure() -> list[Figure]:
    folder = _folder()
    programs = sorted(
        (p for p in (folder / "programs").glob("*.bc*") if p.stat().st_size <= LARGEST_BYTES),
        key=lambda path: path.stat().st_size,
    )
    if not programs:
        raise NotSetUpError(f"no bitcode below {folder / 'programs'}")
    asked = json.dumps(
        {"programs": [str(p) for p in programs], "actions": _actions(), "seconds": SECONDS}
    )
    old: Measured = {}
    ours: Measured = {}
    for _ in range(ROUNDS):
        _keep(old, _round(folder / "venv/bin/python", asked, folder, _old_variables(folder)))
        _keep(ours, _round(Path(sys.executable), asked, folder, _our_variables()))
    return [
        figure
        for path in sorted(ours, key=lambda path: ours[path]["instructions"])
        for figure in _figures(Path(path).stem, old[path], ours[path])
    ]


def _folder() -> Path:
    named = os.environ.get(VARIABLE)
    if not named:
        raise NotSetUpError(
            f"CompilerGym 0.2.5 is not set up: name its folder with --peer DIR or {VARIABLE}"
        )
    folder = Path(named).absolute()
    if not (folder / "venv/bin/python").exists():
        raise NotSetUpError(f"CompilerGym 0.2.5 is not set up: no {folder}/venv/bin/python")
    return folder


def _actions() -> list[str]:
    """Return names of the old action space, drawn with a fixed seed."""
    with make("llvm-v0", action_space="CompilerGymV0") as env:
        names = list(env.action_space.names)
    return random.Random(0).choices(names, k=ACTIONS)


def _round(python: Path, asked: str, folder: Path, variables: dict[str, str]) -> Measured:
    done = subprocess.run(
        [python, ROUND], input=asked, capture_output=True, text=True, check=False,
        cwd=folder, env={**os.environ, **variables},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"a round with {python} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])["programs"]


def _old_variables(folder: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": "",
        "COMPILER_GYM_SITE_DATA": str(folder / "site_data"),
        "COMPILER_GYM_CACHE": str(folder / "cache"),
        "COMPILER_GYM_TRANSIENT_CACHE": str(folder / "cache"),
        "COMPILER_GYM_LOGS": str(folder / "logs"),
    }


def _our_variables() -> dict[str, str]:
    return {"PYTHONPATH": str(ROUND.parents[1])}


def _keep(best: Measured, found: Measured) -> None:
    for path, values in found.items():
        known = best.setdefault(path, values)
        for name, value in values.items():
            known[name] = min(known[name], value)


def _figures(name: str, old: dict[str, float], ours: dict[str, float]) -> list[Figure]:
    size = int(ours["instructions"])
    step = 5.0 if size <= SMALL else 4.0 if size <= MEDIUM else 2.2
    bounds: dict[str, float | None] = {
        "step + IrInstructionCount": step,
        "step + Autophase + IrInstructionCountOz": step,
        "multistep": 2.0 if size <= MEDIUM else 1.4,
        "reset": 5.0,
        "fork": None,
    }
    label = f"{name}, {size:,} instructions"
    figures = [
        Figure(f"{label}: {_WORDS.get(kind, kind)}", old[kind] / ours[kind], "x", bound, "at least")
        for kind, bound in bounds.items()
    ]
    forks: dict[str, Any] = {"unit": "x", "bound": 1.5}
    return [
        *figures,
        Figure(f"{label}: fork against a bare one", ours["fork"] / ours["bare fork"], **forks),
        Figure(f"{label}: actions that changed it, 0.2.5", old["changed"], ""),
        Figure(f"{label}: actions that changed it, ours", ours["changed"], ""),
    ]


_WORDS = {
    "multistep": f"multistep of {ACTIONS}",
    "reset": "reset to a program seen before",
    "fork": "fork",
}
