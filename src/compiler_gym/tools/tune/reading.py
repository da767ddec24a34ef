# SPDX-License-Identifier: MIT
"""Read a plan, and refuse one that says what no tuner can have decided.

Plans travel between people, and words for a compiler can run code and overwrite files. So only
decisions out of the tuner's own tables are allowed: there is no list of what is dangerous.
"""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import cast

import msgspec

from compiler_gym.errors import PlanError, UnknownNameError
from compiler_gym.files import read_regular
from compiler_gym.tools.tune.goal import Goal
from compiler_gym.tools.tune.measure import Measure
from compiler_gym.tools.tune.plan import VERSION, BinaryPlan, BuildPlan
from compiler_gym.tools.tune.tuner import Tuner
from compiler_gym.tools.tune.tuners import tuner_named

__all__ = ["PROFILES", "find_tuner", "is_plain", "read_plan", "require_among", "require_nothing_in"]

PROFILES = "profiles"
"""The folder beside a plan where its profiles lie."""
_PROGRAM = re.compile(r"(?!-)[\w.+-]+", re.ASCII)
_CONTROLS = ("Cc", "Cs", "Zl", "Zp")
_MOST_BYTES = 64 << 20
_SHOWN = 200


def read_plan(path: Path) -> BuildPlan:
    """Return the plan in the file `path`; raise `PlanError` with what is wrong with it.

    A plan may come from anybody: one that says more than a tuner can decide is refused.
    Its profiles are named from where `path` lies.
    """
    try:
        text = read_regular(path, most=_MOST_BYTES)
    except OSError as error:
        raise PlanError(f"cannot read {path}: {error.strerror}") from error
    try:
        read = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PlanError(f"{path} is no plan: expected TOML: {error}") from error
    version = read.get("version")
    if version != VERSION:
        raise PlanError(
            f"{path} is of version {version!r}: this library reads {VERSION}: make the plan again"
        )
    try:
        plan = msgspec.convert(read, BuildPlan)
    except msgspec.ValidationError as error:
        raise PlanError(f"{path} is no plan: {error}") from error
    try:
        _require_permitted(plan)
    except PlanError as error:
        raise PlanError(f"{path}: {error}") from error
    return _resolve_paths(plan, path.absolute().parent)


def _resolve_paths(plan: BuildPlan, folder: Path) -> BuildPlan:
    binaries = [
        replace(binary, **{name: str(folder / kept) for name, kept in binary.list_files().items()})
        for binary in plan.binaries
    ]
    return replace(plan, binaries=tuple(binaries))


def find_tuner(plan: BuildPlan) -> Tuner:
    """Return what applies `plan`; its compiler is looked for on PATH alone.

    Raises `PlanError` where it names a file instead, which would be run, and `UnknownNameError`
    where nothing here can apply it.
    """
    program = plan.compiler.partition(" ")[0]
    if not _PROGRAM.fullmatch(program):
        raise PlanError(
            f"the plan is for the compiler {_quote(program)}: expected the name of one on PATH, "
            "because a plan may not say which file is run"
        )
    return tuner_named(program)


def is_plain(text: str) -> bool:
    """Return whether `text` can be written to a plan, and shown without harm to a terminal.

    >>> is_plain("söurce file.c"), is_plain("a\\nb"), is_plain("\\udcff")
    (True, False, False)
    """
    return not any(unicodedata.category(letter) in _CONTROLS for letter in text)


def require_among(
    plan: BinaryPlan, kind: str, found: Iterable[str], allowed: Collection[str]
) -> None:
    """Raise `PlanError` that names the first of `found` that is none of `allowed`."""
    for word in found:
        if word not in allowed:
            raise _make_refusal(plan, kind, word, "one that the tuner itself tries")


def require_nothing_in(plan: BinaryPlan, *fields: str) -> None:
    """Raise `PlanError` where a field is filled that the method of `plan` has no use for."""
    for name in fields:
        value = getattr(plan, name)
        if value:
            raise _make_refusal(plan, name, str(value), f"none with the method {plan.method!r}")


def _require_permitted(plan: BuildPlan) -> None:
    """Raise `PlanError` that names what no tuner can have written in `plan`.

    A plan for a compiler that nothing here can apply is left alone.
    """
    _require_plain_text(msgspec.to_builtins(plan))
    try:
        tuner = find_tuner(plan)
    except UnknownNameError:
        return
    if plan.goal not in list(Goal):
        raise PlanError(f"the goal is {plan.goal!r}: expected {' or '.join(Goal)}")
    if plan.measure not in list(Measure):
        raise PlanError(f"the measure is {plan.measure!r}: expected one of {', '.join(Measure)}")
    for binary in plan.binaries:
        for path in (binary.name, *(source.path for source in binary.sources)):
            if not PurePosixPath(path).name or ".." in PurePosixPath(path).parts:
                raise _make_refusal(binary, "path", path, "a path without `..`")
        for kept in binary.list_files().values():
            _require_beside(binary, kept)
        tuner.require_possible(binary)


def _require_beside(plan: BinaryPlan, kept: str) -> None:
    path = PurePosixPath(kept)
    if len(path.parts) != 2 or path.parts[0] != PROFILES or path.name == "..":
        raise _make_refusal(plan, "profile", kept, f"a file in the folder {PROFILES}")


def _require_plain_text(value: object) -> None:
    """Raise `PlanError` for a text that would do something to the terminal that shows it."""
    if isinstance(value, str) and not is_plain(value):
        raise PlanError(f"expected text without control characters, found {_quote(value)}")
    if isinstance(value, Mapping):
        for part in chain.from_iterable(cast("Mapping[object, object]", value).items()):
            _require_plain_text(part)
    elif isinstance(value, list | tuple):
        for part in cast("Sequence[object]", value):
            _require_plain_text(part)


def _make_refusal(plan: BinaryPlan, kind: str, found: str, expected: str) -> PlanError:
    return PlanError(
        f"the plan of {_quote(plan.name)} has the {kind} {_quote(found)}, which is refused: "
        f"expected {expected}; a plan may hold nothing else, because other words for a compiler "
        "can run code and overwrite files: make the plan anew with `compiler-gym tune`"
    )


def _quote(text: str) -> str:
    return ascii(text)[:_SHOWN] if not text.isprintable() else repr(text)[:_SHOWN]
