# SPDX-License-Identifier: MIT
"""``compiler-gym validate``."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.failures import INTERRUPTED, REFUSED, report_failure
from compiler_gym.cli.kit.interrupts import Interrupts
from compiler_gym.cli.kit.options import LimitOptions, SandboxName, spread
from compiler_gym.cli.kit.output import Json, errors, output, print_json, show, style_text, table
from compiler_gym.cli.kit.programs import (
    RewardName,
    StateFiles,
    StatesEnvName,
    env_for,
    program_name,
    read_states,
)

if TYPE_CHECKING:
    from rich.text import Text

    from compiler_gym.core import CompilerEnvState
    from compiler_gym.options import Limits
    from compiler_gym.validation import ValidationResult

INVALID = 1
"""The exit status when a state is wrong."""
_COLOURS = {"ok": "green", "failed": "bold red", "unknown": "yellow"}


@spread
def validate(
    files: StateFiles,
    env: StatesEnvName = None,
    reward: RewardName = None,
    rungs: Annotated[
        str | None,
        typer.Option(help="Checks to run, separated by commas [default: all]."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only replay, verify and run; no sanitizers or proofs.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(help="Number of states to check in parallel [default: one per processor]."),
    ] = None,
    output_file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            help="Append each result to this file as a JSON line; states already in it are "
            "skipped.",
        ),
    ] = None,
    limits: LimitOptions = None,
    sandbox: SandboxName = None,
    json: Json = False,
) -> None:
    """Check that recorded states replay and that their programs still work.

    Each check returns ok, failed or unknown; a full disk or a deadline is not a failure. Exits
    with status 1 if a state is wrong. An interrupted validation keeps its results.

    compiler-gym validate states.jsonl --quick --output results.jsonl
    """
    states, damage = read_states(files)
    options: dict[str, Any] = {} if quick else {"rungs": None}
    if rungs is not None:
        options["rungs"] = [name.strip() for name in rungs.split(",") if name.strip()]
    if sandbox is not None:
        options["sandbox"] = sandbox
    choices = {"env": env, "reward": reward, "sandbox": sandbox, "limits": limits}
    log = _Log(output_file, asked=_describe_checks(options, choices))
    remaining = [state for state in states if not log.holds(state)]
    results: list[ValidationResult] = []
    log.open()
    with Interrupts() as interrupts, _Counter(len(remaining), is_quiet=json) as counter:
        for result in _results(remaining, env, reward, jobs, options, limits):
            results.append(result)
            log.add(result)
            counter.show(results)
            if interrupts.requested:
                break
    documents = [*log.find_known(states), *(result.to_json() for result in results)]
    if json:
        print_json(documents)
    elif documents or damage is None:
        _show_verdicts(documents)
    if damage is not None:
        report_failure(damage)
        raise typer.Exit(REFUSED)
    if interrupts.requested and len(results) < len(remaining):
        errors().print(f"interrupted: {len(remaining) - len(results)} states were not validated")
        raise typer.Exit(INTERRUPTED)
    if not all(document["okay"] for document in documents):
        raise typer.Exit(INVALID)


def _describe_checks(
    options: dict[str, Any], choices: dict[str, Any]
) -> str | list[str] | dict[str, Any]:
    """Return the checks as they are stored in the file of results, with any other choices."""
    from compiler_gym.options import Limits, to_plain

    checks: Any = (options["rungs"] or "all") if "rungs" in options else "quick"
    given_choices = {name: value for name, value in choices.items() if value is not None}
    if isinstance(limits := given_choices.get("limits"), Limits):
        given_choices["limits"] = to_plain(limits)
    return {"checks": checks, **given_choices} if given_choices else checks


def _results(
    states: "Iterable[CompilerEnvState]",
    env: str | None,
    reward: str | None,
    jobs: int | None,
    options: dict[str, Any],
    limits: "Limits | None",
) -> "Iterator[ValidationResult]":
    """Yield the results, one environment after the other."""
    from compiler_gym.validation import validate_states

    by_environment = groupby(
        sorted(states, key=lambda state: state.environment or ""),
        key=lambda state: state.environment,
    )
    for environment, group in by_environment:
        make_env = env_for(environment, env, reward, limits)
        with closing(validate_states(make_env, list(group), jobs, **options)) as results:
            yield from results


class _Log:
    """The file of results, if any: read to resume a validation, and appended to at once.

    It may contain results of other states and checks, which are ignored.
    """

    def __init__(self, path: Path | None, *, asked: str | list[str] | dict[str, Any]) -> None:
        self._path = path
        self._asked = asked
        self._known = {
            _state_key(document["state"]): document
            for document in (_read_lines(path) if path else ())
            if document.get("asked") == asked and not _is_untold(document)
        }

    def holds(self, state: "CompilerEnvState") -> bool:
        """Return whether `state` was validated with the same checks before."""
        return _state_key(state.dict()) in self._known

    def find_known(self, states: "Iterable[CompilerEnvState]") -> list[dict[str, Any]]:
        """Return the earlier results of `states`."""
        keys = dict.fromkeys(_state_key(state.dict()) for state in states)
        return [self._known[key] for key in keys if key in self._known]

    def add(self, result: "ValidationResult") -> None:
        """Append one result, so that it survives an interruption."""
        import json

        from compiler_gym.cli.kit.output import to_plain

        self._append(json.dumps(to_plain({**result.to_json(), "asked": self._asked})) + "\n")

    def open(self) -> None:
        """Create the file if necessary; raise `CacheError` if it cannot be written."""
        self._append("")

    def _append(self, text: str) -> None:
        from compiler_gym.errors import CacheError
        from compiler_gym.files import append, writing

        if self._path is not None:
            with writing(self._path, CacheError):
                append(self._path, text.encode())


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the complete lines of a file of results; a kill may have cut off the last one."""
    from compiler_gym.files import whole_lines

    yield from (line for line in whole_lines(path) if isinstance(line.get("state"), dict))


def _state_key(state: dict[str, Any]) -> tuple[Any, ...]:
    names = ("benchmark", "commandline", "reward", "action_space", "reward_space", "state_hash")
    return tuple(state.get(name) for name in names)


class _Counter:
    """A one-line counter on standard error, if that is a terminal."""

    def __init__(self, total: int, *, is_quiet: bool) -> None:
        self._total = total
        console = errors()
        self._status = None
        if console.is_terminal and not is_quiet:
            self._status = console.status(f"validating {total} states")

    def show(self, results: "list[ValidationResult]") -> None:
        """Show the progress."""
        if self._status is not None:
            wrong = sum(not result.okay() for result in results)
            self._status.update(f"{len(results)} of {self._total} states, {wrong} wrong")

    def __enter__(self) -> "_Counter":
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *args: object) -> None:
        if self._status is not None:
            self._status.stop()


def _show_verdicts(documents: list[dict[str, Any]]) -> None:
    console = output()
    names = list(dict.fromkeys(r["name"] for document in documents for r in document["rungs"]))
    summary = table(
        "Program",
        "Reward",
        *names,
        "Seconds",
        "",
        right=("Reward", "Seconds"),
        typed=("Program",),
    )
    for document in documents:
        verdicts = {rung["name"]: rung["verdict"] for rung in document["rungs"]}
        state = document["state"]
        summary.add_row(
            program_name(state["benchmark"]),
            "-" if state["reward"] is None else f"{state['reward']:.4f}",
            *(_verdict_text(verdicts.get(name, "")) for name in names),
            f"{document['walltime']:.2f}",
            _summary(document),
        )
    show(summary, console)
    wrong = [document for document in documents if not document["okay"]]
    for document in wrong:
        for error in document["errors"]:
            facts = "".join(f", {key}={value!r}" for key, value in error["data"].items())
            name = program_name(document["state"]["benchmark"])
            console.print(f"{name}: {error['type']}{facts}", soft_wrap=True)
    _show_unknown(documents)
    undecided = sum(document["okay"] and _is_untold(document) for document in documents)
    suffix = f", {undecided} unknown" if undecided else ""
    states = "1 state" if len(documents) == 1 else f"{len(documents)} states"
    console.print(f"{states}, {len(wrong)} wrong{suffix}")


def _summary(document: dict[str, Any]) -> "Text":
    if not document["okay"]:
        return style_text("WRONG", "bold red")
    return style_text("unknown", "yellow") if _is_untold(document) else style_text("okay", "green")


def _is_untold(document: dict[str, Any]) -> bool:
    """Return whether the replay had no verdict, so that it must be repeated next time."""
    verdicts = [r["verdict"] for r in document.get("rungs", ()) if r["name"] == "replay"]
    return "unknown" in verdicts


def _show_unknown(documents: list[dict[str, Any]]) -> None:
    """Print each reason for an unknown verdict once."""
    reasons: dict[tuple[str, str], int] = {}
    for document in documents:
        for rung in document["rungs"]:
            if rung["verdict"] == "unknown":
                key = (rung["name"], rung["reason"].partition("\n")[0])
                reasons[key] = reasons.get(key, 0) + 1
    for (name, reason), times in reasons.items():
        note = f" ({times} states)" if times > 1 else ""
        output().print(f"{name} unknown: {reason}{note}", soft_wrap=True)


def _verdict_text(verdict: str) -> "Text":
    return style_text(verdict, _COLOURS.get(verdict, ""))
