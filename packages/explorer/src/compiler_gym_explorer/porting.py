# SPDX-License-Identifier: MIT
"""Export of states as JSON, fragments, command lines and Python, and import from files.

Imports read the output of other commands: states, search results, runs, leaderboard entries and
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
from compiler_gym.tools.learn.leaderboard import read_submission
from compiler_gym.tools.tune import PLAN_FILE, read_plan
from compiler_gym_explorer.programs import local_path
from compiler_gym_explorer.records import (
    Episode,
    Episodes,
    Export,
    ImportRequest,
    Recording,
    Source,
)
from compiler_gym_explorer.tree import State, Tree

__all__ = ["export_state", "import_episodes", "read_fragment", "recordings", "write_fragment"]

_FRAGMENT_PREFIX = "s1."
"""The prefix of a fragment: its version."""
_MOST_BYTES = 8 << 20
_MOST_FILE_BYTES = 64 << 20
_MOST_EPISODES = 2000
_KINDS = {"submission.toml": "leaderboard", "states.jsonl": "run", PLAN_FILE: "tuning"}
"""The kind of a folder that contains such a file."""
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
    """Return `state` in every export format."""

    def write_export(env: CompilerEnv) -> Export:
        record = env.state
        episode = Episode(
            environment=environment,
            benchmark=None if source else record.benchmark,
            source=source,
            action_space=record.action_space,
            reward_space=record.reward_space,
            actions=[s.name if _is_named(s) else s.action for s in state.path],
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
    """Return an episode as the fragment of a URL."""
    packed = zlib.compress(msgspec.json.encode(_without_empty(episode)), 9)
    return _FRAGMENT_PREFIX + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def read_fragment(text: str) -> Episode:
    """Return the episode of a fragment; raise `StateFileError` if it is damaged.

    Text after an ``&`` is ignored: it contains settings of the page.
    """
    try:
        packed, _, _ = text.removeprefix("#").removeprefix(_FRAGMENT_PREFIX).partition("&")
        data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        decompressor = zlib.decompressobj()
        plain = decompressor.decompress(data, _MOST_BYTES)
        if not decompressor.eof:
            raise ValueError("it is truncated or too long")
        return msgspec.json.decode(plain, type=Episode)
    except (ValueError, zlib.error) as error:
        raise StateFileError(f"this link is damaged: {error}; copy the whole link") from error


def import_episodes(asked: ImportRequest) -> Episodes:
    """Return the episodes in a text or a file; raise `StateFileError` if there are none."""
    if (asked.text is None) == (asked.path is None):
        raise ExplorerError("give either a text or a path to read")
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
        return _from_states(list(CompilerEnvStateReader(io.StringIO(text))), "state")
    except StateFileError as error:  # the file may have another format
        raise StateFileError(f"{path}: {str(error).partition(' (got ')[0]}") from None


def recordings(root: Path) -> list[Recording]:
    """Return the folders below `root` that `import_episodes` reads, newest first.

    The search is limited to a few levels. Paths are relative to `root`.
    """
    times: dict[Recording, float] = {}
    for folder, subfolders, files in itertools.islice(os.walk(root), _MOST_FOLDERS):
        path = Path(folder)
        if kind := next((kind for name, kind in _KINDS.items() if name in files), None):
            times[Recording(kind=kind, path=str(path.relative_to(root)))] = path.stat().st_mtime
        is_deep = len(path.relative_to(root).parts) >= _MOST_DEEP
        # Subfolders of a recording are part of it.
        names = [] if kind or is_deep else subfolders
        subfolders[:] = [name for name in names if not name.startswith(".")]
    return sorted(times, key=times.__getitem__, reverse=True)[:_MOST_RECORDINGS]


def _text_in(path: Path) -> str:
    """Return the text of a file chosen by a client; errors do not quote its contents."""
    try:
        return read_regular(path, most=_MOST_FILE_BYTES).decode()
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        kind = StateFileNotFoundError if missing else StateFileError
        raise kind(f"cannot read {path}: {error.strerror}") from error
    except UnicodeError:
        raise StateFileError(f"{path} is not a text file; open CSV or JSON lines") from None


def _from_text(text: str) -> Episodes:
    text = text.strip()
    if text.removeprefix("#").startswith(_FRAGMENT_PREFIX):
        return Episodes(kind="fragment", episodes=[read_fragment(text)])
    if not text:
        raise StateFileError("there is nothing to read; paste states, results or a link")
    if text.startswith("["):
        text = "\n".join(json.dumps(line) for line in _read_list(text))
    if text.startswith("{") and (plan := _plan_in(text)) is not None:
        return plan
    text = _in_one_line(text)
    kind = "leaderboard" if _is_entry(text) else "state"
    episodes = _from_states(list(CompilerEnvStateReader(io.StringIO(text))), kind)
    return _with_sources(episodes, text)


def _from_folder(path: Path) -> Episodes:
    if os.path.isfile(path / "submission.toml"):
        submission = read_submission(path)
        states = [outcome.state for outcome in submission.outcomes]
        return _from_states(states, "leaderboard", submission.name)
    if os.path.isfile(path / "states.jsonl"):
        lines = list(CompilerEnvStateReader(io.StringIO(_text_in(path / "states.jsonl"))))
        return _from_states(lines, "run", path.name)
    if os.path.isfile(path / PLAN_FILE):
        return _from_plan(path / PLAN_FILE)
    raise StateFileError(
        f"{path} is not a run, a leaderboard entry or a tuned project: it contains no "
        f"states.jsonl, submission.toml or {PLAN_FILE}"
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


def _from_states(states: list[CompilerEnvState], kind: str, title: str = "") -> Episodes:
    if not states:
        raise StateFileError("there are no states to read")
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
    """Return the first environment of `compiler`, a name with a version as in a report."""
    name = compiler.split(" ")[0].lower().partition("-")[0]
    for plugin in compilers().values():
        if plugin.name == name:
            return plugin.environments[0].id
    return None


class _Sourced(msgspec.Struct):
    """The source field of a state whose program was pasted."""

    source: Source | None = None


def _with_sources(states: Episodes, text: str) -> Episodes:
    """Return the episodes with the sources of pasted programs from their lines."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not text.startswith("{") or len(lines) < len(states.episodes):
        return states
    try:
        sources = [msgspec.json.decode(line, type=_Sourced).source for line in lines]
    except msgspec.MsgspecError as error:
        if msgspec.json.encode("source").decode() in text:
            raise StateFileError(f"the source of a state is damaged: {error}") from error
        return states
    episodes = [
        e if source is None else msgspec.structs.replace(e, benchmark=None, source=source)
        for e, source in zip(states.episodes, sources, strict=False)
    ]
    return msgspec.structs.replace(states, episodes=episodes)


def _in_one_line(text: str) -> str:
    """Return a state that spans several lines as a single line, which the reader needs."""
    if text.startswith("{\n"):
        try:
            document = json.loads(text)
        except ValueError:
            return text
        if "benchmark" in document and "commandline" in document:
            return json.dumps(document)
    return text


class _Published(msgspec.Struct):
    """The field that distinguishes a leaderboard entry from a state."""

    published: Any


def _is_entry(text: str) -> bool:
    try:
        msgspec.json.decode(text.partition("\n")[0], type=_Published)
    except msgspec.MsgspecError:
        return False
    return True


def _read_list(text: str) -> list[Any]:
    try:
        return list(json.loads(text))
    except ValueError as error:
        raise StateFileError(f"this is not valid JSON: {error}") from error


def _without_empty(episode: Episode) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(episode)
    return {key: value for key, value in plain.items() if value not in (None, "")}


def _python(episode: Episode, path: list[State]) -> str:
    """Return a Python program that replays the episode and prints its state."""
    options = {
        key: value
        for key, value in (
            ("action_space", episode.action_space),
            ("reward_space", episode.reward_space),
        )
        if value is not None
    }
    arguments = "".join(f", {key}={value!r}" for key, value in options.items())
    program = repr(episode.benchmark)
    preamble = ""
    if episode.source is not None:
        source = episode.source
        preamble = f"source = {source.text!r}\n\n"
        program = f"env.panes.paste(source, {source.language!r}, {source.name!r})"
    lines = [f"    env.reset(benchmark={program})"]
    if path:
        is_named = all(map(_is_named, path))
        actions = [state.name if is_named else state.action for state in path]
        action = "env.action_space[action]" if is_named else "action"
        lines += [f"    for action in {actions!r}:", f"        env.step({action})"]
    return (
        f"import compiler_gym\n\n{preamble}"
        f"with compiler_gym.make({episode.environment!r}{arguments}) as env:\n"
        + "\n".join(lines)
        + "\n    print(env.state)\n"
    )
