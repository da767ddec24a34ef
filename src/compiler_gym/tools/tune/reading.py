# SPDX-License-Identifier: MIT
"""Read a plan, and refuse one with decisions that no tuner can have made.

Plans are shared, and compiler flags can run code and overwrite files. Therefore only decisions
from the tuner's own tables are allowed; a list of dangerous flags would never be complete.
"""

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
from compiler_gym.tools.tune.goal import Goal, Measure
from compiler_gym.tools.tune.plan import VERSION, BinaryPlan, BuildPlan
from compiler_gym.tools.tune.tuner import tuner_named

PROFILES = "profiles"
"""The folder next to a plan that contains its profiles."""
_CONTROLS = ("Cc", "Cs", "Zl", "Zp")
_MOST_BYTES = 64 << 20
_SHOWN = 200


def read_plan(path: Path) -> BuildPlan:
    """Return the plan in the file `path`; raise `PlanError` if it is invalid.

    Plans are untrusted: one with decisions that no tuner can make is refused.
    The paths of its profiles are relative to the folder of `path`.
    """
    try:
        text = read_regular(path, most=_MOST_BYTES)
    except OSError as error:
        raise PlanError(f"cannot read {path}: {error.strerror}") from error
    try:
        document = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PlanError(f"{path} is not a plan: it is not valid TOML: {error}") from error
    version = document.get("version")
    if version != VERSION:
        raise PlanError(
            f"{path} has version {version!r}, but this library reads {VERSION}: make the plan again"
        )
    if any("after" in binary for binary in document.get("binaries", ())):
        raise PlanError(
            f"{path} has a step after the link (BOLT), which this version does not run: make the "
            "plan again with `compiler-gym tune --goal speed`"
        )
    try:
        plan = msgspec.convert(document, BuildPlan)
    except msgspec.ValidationError as error:
        raise PlanError(f"{path} is not a plan: {error}") from error
    try:
        _require_permitted(plan)
    except PlanError as error:
        raise PlanError(f"{path}: {error}") from error
    return _resolve_paths(plan, path.absolute().parent)


def _resolve_paths(plan: BuildPlan, folder: Path) -> BuildPlan:
    return replace(
        plan,
        binaries=tuple(
            replace(binary, profile=str(folder / binary.profile)) if binary.profile else binary
            for binary in plan.binaries
        ),
    )


def is_plain(text: str) -> bool:
    """Return whether `text` can be stored in a plan and printed safely on a terminal.

    >>> is_plain("söurce file.c"), is_plain("a\\nb"), is_plain("\\udcff")
    (True, False, False)
    """
    return not any(unicodedata.category(letter) in _CONTROLS for letter in text)


def require_among(
    plan: BinaryPlan, kind: str, found: Iterable[str], allowed: Collection[str]
) -> None:
    """Raise a `PlanError` that names the first element of `found` that is not in `allowed`."""
    for value in found:
        if value not in allowed:
            raise _make_refusal(plan, kind, value, "the tuner itself never tries it")


def require_nothing_in(plan: BinaryPlan, *fields: str) -> None:
    """Raise `PlanError` if a field is set that the method of `plan` does not use."""
    for name in fields:
        value = getattr(plan, name)
        if value:
            raise _make_refusal(plan, name, str(value), f"the method {plan.method!r} ignores it")


def _require_permitted(plan: BuildPlan) -> None:
    """Raise a `PlanError` that names the first value of `plan` that no tuner can have written.

    A plan for a compiler without a tuner here is not checked.
    """
    _require_plain_text(msgspec.to_builtins(plan))
    try:
        tuner = tuner_named(plan.compiler)
    except UnknownNameError:
        return
    if plan.goal not in list(Goal):
        raise PlanError(f"no goal {plan.goal!r}: use {' or '.join(Goal)}")
    if plan.measure not in list(Measure):
        raise PlanError(f"no measure {plan.measure!r}: use one of {', '.join(Measure)}")
    for binary in plan.binaries:
        for path in (binary.name, *(source.path for source in binary.sources)):
            if not PurePosixPath(path).name or ".." in PurePosixPath(path).parts:
                raise _make_refusal(binary, "path", path, "a path must not contain `..`")
        if binary.profile:
            _require_in_profiles(binary, binary.profile)
        tuner.require_possible(binary)


def _require_in_profiles(plan: BinaryPlan, file: str) -> None:
    path = PurePosixPath(file)
    if len(path.parts) != 2 or path.parts[0] != PROFILES or path.name == "..":
        raise _make_refusal(plan, "profile", file, f"it must be a file in the folder {PROFILES}")


def _require_plain_text(value: object) -> None:
    """Raise `PlanError` for text with control characters, which could affect a terminal."""
    if isinstance(value, str) and not is_plain(value):
        raise PlanError(f"{_quote(value)} contains control characters: remove these")
    if isinstance(value, Mapping):
        for part in chain.from_iterable(cast("Mapping[object, object]", value).items()):
            _require_plain_text(part)
    elif isinstance(value, list | tuple):
        for part in cast("Sequence[object]", value):
            _require_plain_text(part)


def _make_refusal(plan: BinaryPlan, kind: str, value: str, reason: str) -> PlanError:
    return PlanError(
        f"the plan of {_quote(plan.name)} has the {kind} {_quote(value)}, which is refused: "
        f"{reason}; plans are restricted because compiler flags can run code and overwrite "
        "files: make a new plan with `compiler-gym tune`"
    )


def _quote(text: str) -> str:
    return ascii(text)[:_SHOWN] if not text.isprintable() else repr(text)[:_SHOWN]
