# SPDX-License-Identifier: MIT
"""Exports states as JSON, fragments, command lines and Python, and imports them from files.

Imports read what other commands wrote: states, search results, runs, entries of a leaderboard,
reports of tuned projects. Nothing in them is executed.
"""

import base64
import io
import itertools
import json
import os
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym.core import CompilerEnv, CompilerEnvState, CompilerEnvStateReader
from compiler_gym.errors import ExplorerError, StateFileError, StateFileNotFoundError
from compiler_gym.files import read_regular
from compiler_gym.registration import compilers
from compiler_gym.tools.explorer.programs import local_path
from compiler_gym.tools.explorer.records import (
    Episode,
    Episodes,
    Export,
    ImportRequest,
    Recording,
    Source,
)
from compiler_gym.tools.explorer.tree import State, Tree
from compiler_gym.tools.learn.leaderboard import read_submission
from compiler_gym.tools.tune import PLAN_FILE, read_plan

__all__ = ["export_state", "import_episodes", "read_fragment", "recordings", "write_fragment"]

_FRAGMENT_PREFIX = "s1."
"""The prefix of a fragment: its version."""
_MOST_BYTES = 8 << 20
_MOST_FILE_BYTES = 64 << 20
_MOST_EPISODES = 2000
_KINDS = {"submission.toml": "leaderboard", "states.jsonl": "run", PLAN_FILE: "tuning"}
"""What a folder with such a file is."""
_MOST_FOLDERS = 5000
_MOST_DEEP = 3
_MOST_RECORDINGS = 100


class _Binary(msgspec.Struct):
    """A binary in the report of a tuned project; only the fields that are read here."""

    name: str
    passes: str


class _Report(msgspec.Struct):
    """The report of a tuned project."""

    compiler: str
    binaries: list[_Binary]


def export_state(tree: Tree, state: State, environment: str, source: Source | None) -> Export:
    """Return `state` in every form."""

    def write_export(env: CompilerEnv) -> Export:
        record = env.state
        episode = Episode(
            environment=environment,
            benchmark=None if source else record.benchmark,
            source=source,
            action_space=record.action_space,
            reward_space=record.reward_space,
            actions=[one.name if _is_named(one) else one.action for one in state.path],
            reward=state.total,
        )
        plain = {key: value for key, value in asdict(record).items() if value is not None}
        return Export(
            state=plain | {"environment": environment} | _make_text(source),
            fragment=write_fragment(episode),
            commandline=record.commandline,
            python=_python(episode, state.path),
        )

    return tree.use(state, write_export)


def _is_named(state: State) -> bool:
    """Return whether the action that led to a state has a name."""
    return isinstance(state.action, int) and state.name != str(state.action)


def _make_text(source: Source | None) -> dict[str, Any]:
    """Return the text of a pasted program, which has no URI to load it from."""
    return {} if source is None else {"source": msgspec.to_builtins(source)}


def write_fragment(episode: Episode) -> str:
    """Return an episode as text for the fragment of a URL."""
    packed = zlib.compress(msgspec.json.encode(_without_empty(episode)), 9)
    return _FRAGMENT_PREFIX + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def read_fragment(text: str) -> Episode:
    """Return the episode of a fragment; raise `StateFileError` if it is damaged.

    Text after an ``&`` is ignored: it holds the settings of the page.
    """
    try:
        packed, _, _ = text.removeprefix("#").removeprefix(_FRAGMENT_PREFIX).partition("&")
        data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        unpacking = zlib.decompressobj()
        plain = unpacking.decompress(data, _MOST_BYTES)
        if not unpacking.eof:
            raise ValueError("it is cut, or too long")
        return msgspec.json.decode(plain, type=Episode)
    except (ValueError, zlib.error) as error:
        raise StateFileError(f"this link is damaged: {error}: expected all of it") from error


def import_episodes(asked: ImportRequest) -> Episodes:
    """Return the episodes in a text or a file; raise `StateFileError` if there are none."""
    if (asked.text is None) == (asked.path is None):
        raise ExplorerError("expected a text or a path to read, and not both")
    if asked.text is not None:
        return _from_text(asked.text)
    path = local_path(asked.path or "")
    if os.path.isdir(path):
        return _from_folder(path)
    if path.name == "report.json" and os.path.isfile(path.with_name(PLAN_FILE)):
        path = path.with_name(PLAN_FILE)
    if path.suffix == ".toml":
        return _from_plan(path)
    text = _text_in(path)
    try:
        if text.lstrip().startswith("{") and len(text) <= _MOST_BYTES:
            return _from_text(text)
        return _of_states(list(CompilerEnvStateReader(io.StringIO(text))), "state")
    except StateFileError as error:  # the file may have another format
        raise StateFileError(f"{path}: {str(error).partition('; found ')[0]}") from None


def recordings(root: Path) -> list[Recording]:
    """Return the folders in and a few below `root` that `imported` reads, the newest first.

    Their paths begin at `root`.
    """
    found: dict[Recording, float] = {}
    looked = itertools.islice(os.walk(root), _MOST_FOLDERS)
    for folder, below, files in looked:
        at = Path(folder)
        if kind := next((kind for name, kind in _KINDS.items() if name in files), None):
            found[Recording(kind=kind, path=str(at.relative_to(root)))] = at.stat().st_mtime
        is_deep = len(at.relative_to(root).parts) >= _MOST_DEEP
        # What lies in a recording is part of it.
        below[:] = [] if kind or is_deep else [name for name in below if not name.startswith(".")]
    return sorted(found, key=found.__getitem__, reverse=True)[:_MOST_RECORDINGS]


def _text_in(path: Path) -> str:
    """Return the text of a file that a client names; errors do not quote it."""
    try:
        return read_regular(path, most=_MOST_FILE_BYTES).decode()
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        kind = StateFileNotFoundError if missing else StateFileError
        raise kind(f"cannot read {path}: {error.strerror}") from error
    except UnicodeError:
        raise StateFileError(f"{path} is no text: expected CSV or JSON lines") from None


def _from_text(text: str) -> Episodes:
    begin = text.strip()
    if begin.removeprefix("#").startswith(_FRAGMENT_PREFIX):
        return Episodes(kind="fragment", episodes=[read_fragment(begin)])
    if not begin:
        raise StateFileError("there is nothing to read: expected states, results or a link")
    if begin.startswith("["):
        begin = "\n".join(json.dumps(line) for line in _read_list(begin))
    if begin.startswith("{") and (plan := _plan_in(begin)) is not None:
        return plan
    begin = _in_one_line(begin)
    kind = "leaderboard" if _is_entry(begin) else "state"
    found = _of_states(list(CompilerEnvStateReader(io.StringIO(begin))), kind)
    return _with_sources(found, begin)


def _from_folder(path: Path) -> Episodes:
    if os.path.isfile(path / "submission.toml"):
        submission = read_submission(path)
        states = [outcome.state for outcome in submission.outcomes]
        return _of_states(states, "leaderboard", submission.name)
    if os.path.isfile(path / "states.jsonl"):
        lines = list(CompilerEnvStateReader(io.StringIO(_text_in(path / "states.jsonl"))))
        return _of_states(lines, "run", path.name)
    if os.path.isfile(path / PLAN_FILE):
        return _from_plan(path / PLAN_FILE)
    raise StateFileError(
        f"{path} is not a run, a leaderboard entry or a tuned project: expected a folder "
        f"with states.jsonl, submission.toml or {PLAN_FILE}"
    )


def _from_plan(path: Path) -> Episodes:
    """Return the passes of each binary of a tuned project, to apply to any program."""
    plan = read_plan(path)
    return Episodes(
        kind="tuning",
        episodes=[
            Episode(
                environment=_environment_for(plan.compiler),
                commandline=binary.passes,
                title=f"{binary.name}: {plan.goal}, {binary.method}",
            )
            for binary in plan.binaries
        ],
    )


def _plan_in(text: str) -> Episodes | None:
    """Return the report of a tuned project, or None if the text is not one."""
    try:
        report = msgspec.json.decode(text, type=_Report)
    except msgspec.MsgspecError:
        return None
    return Episodes(
        kind="tuning",
        episodes=[
            Episode(
                environment=_environment_for(report.compiler),
                commandline=binary.passes,
                title=binary.name,
            )
            for binary in report.binaries
        ],
    )


def _of_states(states: list[CompilerEnvState], kind: str, title: str = "") -> Episodes:
    if not states:
        raise StateFileError("no state was found: expected at least one")
    episodes = [
        Episode(
            environment=state.environment,
            benchmark=state.benchmark,
            action_space=state.action_space,
            reward_space=state.reward_space,
            commandline=state.commandline,
            reward=state.reward,
            title=f"{title} {state.benchmark}".strip(),
        )
        for state in states[:_MOST_EPISODES]
    ]
    return Episodes(kind=kind, episodes=episodes)


def _environment_for(compiler: str) -> str | None:
    """Return the first environment of the compiler that a report names with its version."""
    word = compiler.split(" ")[0].lower().partition("-")[0]
    for known in compilers().values():
        if known.name == word:
            return known.environments[0].id
    return None


class _Sourced(msgspec.Struct):
    """The source beside a state of a pasted program."""

    source: Source | None = None


def _with_sources(found: Episodes, text: str) -> Episodes:
    """Return the episodes with the sources of pasted programs from their lines."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not text.startswith("{") or len(lines) < len(found.episodes):
        return found
    try:
        told = [msgspec.json.decode(line, type=_Sourced).source for line in lines]
    except msgspec.MsgspecError as error:
        if msgspec.json.encode("source").decode() in text:
            raise StateFileError(f"the source of a state is damaged: {error}") from error
        return found
    episodes = [
        one if source is None else msgspec.structs.replace(one, benchmark=None, source=source)
        for one, source in zip(found.episodes, told, strict=False)
    ]
    return msgspec.structs.replace(found, episodes=episodes)


def _in_one_line(text: str) -> str:
    """Return a state that spans several lines as one line, as states are read."""
    if text.startswith("{\n"):
        try:
            document = json.loads(text)
        except ValueError:
            return text
        if "benchmark" in document and "commandline" in document:
            return json.dumps(document)
    return text


class _Published(msgspec.Struct):
    """The fields beside the state in a leaderboard entry."""

    published: Any


def _is_entry(text: str) -> bool:
    try:
        msgspec.json.decode(text.partition("\n")[0], type=_Published)
    except msgspec.MsgspecError:
        return False
    return True


def _read_list(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise StateFileError(f"this is no JSON: {error}") from error
    return list(found)


def _without_empty(episode: Episode) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(episode)
    return {key: value for key, value in plain.items() if value not in (None, "")}


def _python(episode: Episode, path: list[State]) -> str:
    """Return a Python program that replays the episode and prints its state."""
    chosen = {
        key: value
        for key, value in (
            ("action_space", episode.action_space),
            ("reward_space", episode.reward_space),
        )
        if value is not None
    }
    arguments = "".join(f", {key}={value!r}" for key, value in chosen.items())
    program = repr(episode.benchmark)
    before = ""
    if episode.source is not None:
        source = episode.source
        before = f"source = {source.text!r}\n\n"
        program = f"env.panes.paste(source, {source.language!r}, {source.name!r})"
    lines = [f"    env.reset(benchmark={program})"]
    if path:
        is_named = all(map(_is_named, path))
        actions = [one.name if is_named else one.action for one in path]
        action = "env.action_space[action]" if is_named else "action"
        lines += [f"    for action in {actions!r}:", f"        env.step({action})"]
    return (
        f"import compiler_gym\n\n{before}"
        f"with compiler_gym.make({episode.environment!r}{arguments}) as env:\n"
        + "\n".join(lines)
        + "\n    print(env.state)\n"
    )
