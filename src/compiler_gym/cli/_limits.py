# SPDX-License-Identifier: MIT
"""The limits of an environment's worker, as options of every command that runs one."""

from typing import Annotated, Any

import typer

__all__ = ["MemoryGib", "SandboxName", "StepSeconds", "limits_of"]

StepSeconds = Annotated[
    float | None,
    typer.Option(help="Seconds that one action or observation may take [default: 300]."),
]
MemoryGib = Annotated[
    float | None, typer.Option(help="GiB of memory that the compiler may take [default: 8].")
]

SandboxName = Annotated[
    str | None,
    typer.Option(
        "--sandbox",
        help="What programs are kept from when they run: namespaces, limits or none "
        "[default: the strongest here].",
    ),
]


def limits_of(step_seconds: float | None = None, memory_gib: float | None = None) -> dict[str, Any]:
    """Return what ``make`` takes for these limits: nothing where none is given.

    Raises `InvalidParameterError` for a limit that is no number above 0.
    """
    import math

    from compiler_gym.errors import InvalidParameterError
    from compiler_gym.service import Limits

    given: dict[str, Any] = {}
    for name, value in (("--step-seconds", step_seconds), ("--memory-gib", memory_gib)):
        if value is not None and not 0 < value < math.inf:
            raise InvalidParameterError(f"{name} is {value:g}: expected a number above 0")
    if step_seconds is not None:
        given["step_seconds"] = step_seconds
    if memory_gib is not None:
        given["memory_bytes"] = int(memory_gib * 2**30)
    return {"limits": Limits(**given)} if given else {}
