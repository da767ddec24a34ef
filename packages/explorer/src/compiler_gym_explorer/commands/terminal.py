# SPDX-License-Identifier: MIT
"""The commands of ``compiler-gym explore`` and their replies."""

import json
import math
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, cast

from rich.table import Table

from compiler_gym.cli.kit.costs import number
from compiler_gym.cli.kit.output import command_lines, output, show, table, to_plain
from compiler_gym.cli.kit.programs import find_program
from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark, Dataset
from compiler_gym.errors import CompilerGymError, InvalidActionError, did_you_mean
from compiler_gym.files import writing
from compiler_gym.registration import program_formats
from compiler_gym.spaces import (
    action_descriptions,
    action_names,
    action_parts,
    close_names,
    find_action,
)
from compiler_gym_explorer.tree import State, Tree

__all__ = ["Explorer"]


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a command, as text and as data."""

    text: "str | Table"
    data: dict[str, Any] = field(default_factory=dict[str, Any])


class _Quit(Exception):
    """The user ended the prompt."""


_MOST_LISTED, _MOST_LISTED_OF_EACH = 1000, 10
_ROUNDING = 1e-9
_TUTORIAL = (
    "1. `list` shows the actions; type the name of one to apply it.",
    "2. `try` shows the actions with the highest reward; `greedy 5` applies the best, five times.",
    "3. `undo` reverts the last action, `history` shows all, `reset` starts over.",
    "4. `observe` lists the observations, `observe NAME` shows one; `reward NAME` sets the goal.",
    "5. `simplify_stack` removes actions that earned nothing; `commandline` shows the compiler's "
    "command, `save FILE` saves the program.",
)


class Explorer:
    """The state of the prompt: one episode with undo."""

    def __init__(self, env: CompilerEnv, benchmark: Benchmark) -> None:
        self._env = env
        self._benchmark = benchmark
        self._tree = Tree(env, benchmark, _ignore_recovery)
        self._shown: list[str] = []
        self._names: list[str] = list(action_names(env.action_space))

    def __str__(self) -> str:
        """The prompt."""
        program = str(self._benchmark.uri.path).rpartition("/")[2] or str(self._benchmark)
        return f"{program} [{self._at.depth}]"

    def start(self) -> None:
        """Start an episode on the program, discarding all earlier states."""
        self.close()
        self._tree = Tree(self._env, self._benchmark, _ignore_recovery)
        self._root = self._at = self._tree.start()

    def close(self) -> None:
        """End the kept processes; the caller closes the environment."""
        for child in [*self._root.children.values()] if self._tree.ids else ():
            self._tree.remove(child)

    def words(self) -> list[str]:
        """Return the completions for the Tab key."""
        return [*_COMMANDS, *self._names, *self._env.observation, *self._env.reward]

    def show_start(self, *, as_json: bool) -> None:
        """Print the program and the initial state."""
        self._print(self._state(f"{self._benchmark}"), as_json=as_json)

    def obey(self, line: str, *, as_json: bool) -> bool:
        """Execute one line; return False if it ends the prompt."""
        words = line.split()
        if not words or words[0].startswith("#"):
            return True
        try:
            command = _COMMANDS.get(words[0])
            reply = command(self, words[1:]) if command else self.apply(words)
        except _Quit:
            return False
        except CompilerGymError as error:
            reply = Reply(f"error: {error}", {"error": type(error).__name__, "details": str(error)})
        self._print(reply, as_json=as_json)
        return True

    # -- commands ----------------------------------------------------------------------------

    def apply(self, words: list[str]) -> Reply:
        """NAME...: apply actions by name or number."""
        applied: list[str] = []
        for action in [self._find(word) for word in words]:
            state = self._step(action)
            if state.error is not None:
                return Reply(
                    f"{state.name} failed and was reverted: {state.error.message}",
                    {"error": state.error.type, "details": state.error.message},
                )
            applied.append(state.name if state.changed else f"{state.name} (changed nothing)")
        return self._state(f"applied {', '.join(applied)}")

    def undo(self, words: list[str]) -> Reply:
        """undo [N]: revert the last action, or the last N; also: back."""
        count = self._number(words, 1)
        states = [self._root, *self._at.path]
        self._at = states[max(self._at.depth - count, 0)]
        reverted = len(states) - 1 - self._at.depth
        return self._state(f"reverted {reverted} action{'s' * (reverted != 1)}")

    def reset(self, words: list[str]) -> Reply:
        """reset: go back to the start."""
        self._at = self._root
        return self._state("back at the start")

    def try_all(self, words: list[str]) -> Reply:
        """try [N]: try every action and show the N with the highest reward (default 10)."""
        best = [
            (self._names[action], reward)
            for reward, action in self._earnings()[: self._number(words, 10)]
        ]
        rows = table("Action", "Reward", right=("Reward",), typed=("Action",))
        for name, reward in best:
            rows.add_row(name, _number_text(reward))
        return Reply(rows, {"best": [{"action": n, "reward": r} for n, r in best]})

    def list_actions(self, words: list[str]) -> Reply:
        """list [LETTERS]: list the actions, or those that contain the letters in order."""
        space, letters = self._now.action_space, " ".join(words)
        names = close_names(self._names, letters) if words else self._names
        descriptions = dict(zip(self._names, action_descriptions(space), strict=False))
        all_parts = {part.name: part for part in action_parts(space)}
        parts = close_names(all_parts, letters) if words else list(all_parts)
        data = {"actions": names, "parts": [all_parts[name]._asdict() for name in parts]}
        if not names and not parts:
            return Reply("no such action", data)
        rows = table("#", "Action", "Description", right=("#",), typed=("Action",))
        for name in names:
            rows.add_row(str(self._names.index(name)), name, descriptions.get(name, ""))
        for name in parts:
            _, values, description = all_parts[name]
            rows.add_row("", name, ": ".join(filter(None, (values, description))))
        if not self._names:
            rows.caption = f"an action is JSON without spaces: {self._example()}"
        return Reply(rows, data)

    def _example(self) -> str:
        space: Any = self._now.action_space
        plain: Any = to_plain(getattr(space, "to_plain", to_plain)(space.sample()))
        if isinstance(plain, list):
            return f"a list of {len(cast('list[Any]', plain))} numbers, one per row, counted from 0"
        return f"such as {json.dumps(plain, separators=(',', ':'))}"

    def observe(self, words: list[str]) -> Reply:
        """observe [NAME...]: show observations, or list their names."""
        if not words:
            names = [*self._env.observation]
            return Reply("\n".join(names), {"observations": names})
        values = {name: self._now.observation[name] for name in words}
        names = self._env.panes.vectors
        lines = [f"{name}: {_readable(value, names.get(name))}" for name, value in values.items()]
        return Reply("\n".join(lines), {"observations": to_plain(values)})

    def show(self, words: list[str]) -> Reply:
        """show: print the program in its current state."""
        text = str(self._now.render("ansi"))
        return Reply(text, {"shown": text})

    def reward(self, words: list[str]) -> Reply:
        """reward [NAME]: show the reward so far, or switch to another and replay the actions."""
        if words:
            self._env.reward_space = words[0]
            actions = self._tree.actions_to(self._at)
            self.start()
            self._go_to(actions)
        return self._state(f"rewards: {', '.join(self._env.reward)}")

    def set_observation(self, words: list[str]) -> Reply:
        """set_default_observation [NAME]: show an observation after every command, or none."""
        for name in words:
            self._env.observation.spec(name)
        self._shown = list(words)
        return self._state(f"default observation: {', '.join(words) or 'none'}")

    def set_benchmark(self, words: list[str]) -> Reply:
        """set_benchmark PROGRAM: start on another program, a URI or a path."""
        if len(words) != 1:
            raise InvalidActionError("usage: set_benchmark PROGRAM, a URI or a path")
        self._benchmark = find_program(self._env, words[0])
        self.start()
        return self._state(f"{self._benchmark}")

    def list_datasets(self, words: list[str]) -> Reply:
        """list_datasets: list the datasets."""
        descriptions = {d.name: d.description for d in self._env.datasets.datasets()}
        rows = table("Dataset", "Description")
        for name, description in descriptions.items():
            rows.add_row(name, description)
        return Reply(rows, {"datasets": list(descriptions)})

    def list_benchmarks(self, words: list[str]) -> Reply:
        """list_benchmarks [DATASET]: list the first programs of a dataset, or of each."""
        datasets = self._env.datasets
        selected = [datasets.dataset(name) for name in words] or list(datasets.datasets())
        most = _MOST_LISTED if words else _MOST_LISTED_OF_EACH
        uris = [uri for dataset in selected for uri in islice(_list_uris(dataset), most)]
        return Reply("\n".join(uris), {"benchmarks": uris})

    def list_rewards(self, words: list[str]) -> Reply:
        """list_rewards: list the rewards."""
        names = [*self._env.reward]
        return Reply("\n".join(names), {"rewards": names})

    def greedy(self, words: list[str]) -> Reply:
        """greedy [N]: apply the action with the highest reward, N times (1), if it is positive."""
        applied: list[str] = []
        for _ in range(self._number(words, 1)):
            reward, action = next(iter(self._earnings()), (0.0, 0))
            if reward <= 0:
                break
            applied.append(self._step(action).name)
        return self._state(f"applied {', '.join(applied) or 'nothing: no reward is positive'}")

    def hill_climb(self, words: list[str]) -> Reply:
        """hill_climb [N]: try a random action, N times (1); keep those with a positive reward."""
        applied: list[str] = []
        for _ in range(self._number(words, 1)):
            action = self._now.action_space.sample()
            if self._would_earn(action) > 0:
                applied.append(self._step(action).name)
        return self._state(f"applied {', '.join(applied) or 'nothing: no reward was positive'}")

    def simplify(self, words: list[str]) -> Reply:
        """simplify_stack: remove every action that the reward does not depend on."""
        from compiler_gym.search import minimize_trajectory_iteratively

        least = self._earned - _ROUNDING

        def earns_as_much(env: CompilerEnv) -> bool:
            return env.episode.has_program and (env.episode_reward or 0.0) >= least

        with self._tree.fork(self._at) as trial:
            for _ in minimize_trajectory_iteratively(trial, earns_as_much):
                pass
            actions = trial.actions
        self._go_to(actions)
        return self._state(f"{len(actions)} action{'s' * (len(actions) != 1)} left")

    def tutorial(self, words: list[str]) -> Reply:
        """tutorial: show the first steps."""
        text = "\n".join(_TUTORIAL)
        return Reply(text, {"tutorial": text})

    def history(self, words: list[str]) -> Reply:
        """history: show the actions so far with their rewards; also: stack."""
        rows = table("Step", "Action", "Reward", right=("Step", "Reward"), typed=("Action",))
        steps: list[dict[str, Any]] = [
            {"action": state.name, "reward": state.reward or 0.0} for state in self._at.path
        ]
        for i, step in enumerate(steps, 1):
            rows.add_row(str(i), step["action"], _number_text(step["reward"]))
        return Reply(rows if steps else "no actions yet", {"history": steps})

    def commandline(self, words: list[str]) -> Reply:
        """commandline: show the actions as a compiler command."""
        text = self._now.commandline()
        console = output()
        lines = command_lines(text, console.width) if console.is_terminal else [text]
        return Reply("\n".join(lines), {"commandline": text})

    def save(self, words: list[str]) -> Reply:
        """save FILE: save the compiler command, or the program if FILE has such a suffix."""
        if len(words) != 1:
            raise InvalidActionError("usage: save FILE")
        path = Path(words[0]).expanduser()
        with writing(path, InvalidActionError):
            if writer := _writer(path):
                getattr(self._now, writer)(path)
            else:
                path.write_text(self._now.commandline() + "\n", encoding="utf-8")
        return Reply(f"wrote {path}", {"saved": str(path)})

    def help(self, words: list[str]) -> Reply:
        """help: list the commands."""
        commands = dict.fromkeys((Explorer.apply, *_COMMANDS.values()))
        lines = [command.__doc__ or "" for command in commands]
        rows = table("Command", "Effect", typed=("Command",))
        for line in lines:
            usage, _, effect = line.partition(": ")
            rows.add_row(usage, effect)
        return Reply(rows, {"help": lines})

    def leave(self, words: list[str]) -> Reply:
        """quit: end the prompt; also: exit, Ctrl-D."""
        raise _Quit

    # -- helpers -----------------------------------------------------------------------------

    @property
    def _now(self) -> CompilerEnv:
        """The environment in the current state."""
        return self._tree.use(self._at, lambda env: env)

    @property
    def _earned(self) -> float:
        return self._at.total or 0.0

    def _step(self, action: Any) -> State:
        """Apply `action` and return its state, which becomes current unless the action failed."""
        state = self._tree.step(self._at, to_plain(action))
        if state.error is None:
            self._at = state
        return state

    def _would_earn(self, action: Any) -> float:
        """Return the reward of `action`; minus infinity if it fails or changes nothing."""
        with self._tree.fork(self._at) as fork:
            _, reward, _, truncated, info = fork.step(action)
        useless = truncated or info["action_had_no_effect"]
        return -math.inf if useless else float(reward or 0.0)

    def _earnings(self) -> list[tuple[float, int]]:
        """Return the reward of each action that has an effect, highest first."""
        rewards = [(self._would_earn(action), action) for action in range(len(self._names))]
        effective = [pair for pair in rewards if pair[0] > -math.inf]
        return sorted(effective, key=lambda pair: (-pair[0], pair[1]))

    def _go_to(self, actions: list[Any]) -> None:
        self._at = self._root
        for action in actions:
            self._step(action)

    def _state(self, message: str) -> Reply:
        reward = self._env.reward_space
        needed = reward.observation_spaces if reward else []
        names: dict[str, None] = dict.fromkeys([*needed, *self._shown])
        costs = {name: self._now.observation[name] for name in names}
        texts = {name: _format_lines(value) for name, value in costs.items()}
        parts = [f"{name} {text}" for name, text in texts.items()]
        if reward is not None:
            parts.append(f"{reward.name} reward {_number_text(self._earned)}")
        data = {
            "actions": [state.name for state in self._at.path],
            "observations": to_plain(costs),
            "reward": self._earned,
            "reward_space": reward.name if reward else None,
        }
        parts.sort(key=lambda part: "\n" in part)  # multi-line values come last
        return Reply(f"{message}\n  {'   '.join(parts)}", data)

    def _find(self, word: str) -> Any:
        """Return the action called `word`, or the only one whose name starts with it."""
        try:
            return find_action(self._now.action_space, word)
        except InvalidActionError:
            close = close_names(self._names, word)
            matches = [name for name in close if name.lower().startswith(word.lower())]
            if len(matches) == 1:
                return self._names.index(matches[0])
            if not did_you_mean(word, self._names) and (hint := did_you_mean(word, _COMMANDS)):
                raise InvalidActionError(f"no action or command {word!r}: {hint}") from None
            raise

    def _number(self, words: list[str], default: int) -> int:
        if not words:
            return default
        if not words[0].isdecimal():
            raise InvalidActionError(f"{words[0]!r} is not a number")
        return int(words[0])

    def _print(self, reply: Reply, *, as_json: bool) -> None:
        if as_json:
            sys.stdout.write(json.dumps(to_plain(reply.data)) + "\n")
            sys.stdout.flush()
        elif isinstance(reply.text, str):
            console = output()
            console.print(reply.text, soft_wrap=True)
        else:
            show(reply.text)


def _ignore_recovery(node: int, error: Exception) -> None:
    """Ignore a lost worker, which was replaced by another."""


def _list_uris(dataset: Dataset) -> Iterator[str]:
    """Return the program names of a dataset; empty if it is not installed."""
    return iter(dataset.benchmark_uris() if dataset.installed else ())


def _writer(path: Path) -> str:
    """Return the name of the environment's method that writes such a file, or empty."""
    return next((f.writer for f in program_formats() if path.suffix in f.suffixes), "")


def _format_lines(value: Any) -> str:
    """Return a value as text; a multi-line text starts on a new line."""
    text = str(value)
    return f"\n{text}" if "\n" in text.strip() else text


def _readable(value: Any, names: Sequence[str] | None) -> str:
    """Return a value as text; of a vector with named elements, only those that are not 0."""
    if not names or len(names) != len(value):
        return _format_lines(value)
    pairs = zip(names, to_plain(value), strict=True)
    text = ", ".join(f"{name} {number(element)}" for name, element in pairs if element)
    width = output().width - 2
    return "\n" + textwrap.indent(textwrap.fill(text or "all 0", width), "  ")


def _number_text(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


_COMMANDS: dict[str, Callable[[Explorer, list[str]], Reply]] = {
    "undo": Explorer.undo,
    "back": Explorer.undo,
    "reset": Explorer.reset,
    "try": Explorer.try_all,
    "list": Explorer.list_actions,
    "observe": Explorer.observe,
    "reward": Explorer.reward,
    "show": Explorer.show,
    "history": Explorer.history,
    "stack": Explorer.history,
    "commandline": Explorer.commandline,
    "save": Explorer.save,
    "help": Explorer.help,
    "quit": Explorer.leave,
    "exit": Explorer.leave,
    # Names of CompilerGym 0.2.5's prompt:
    "action": Explorer.apply,
    "greedy": Explorer.greedy,
    "hill_climb": Explorer.hill_climb,
    "list_actions": Explorer.list_actions,
    "list_benchmarks": Explorer.list_benchmarks,
    "list_datasets": Explorer.list_datasets,
    "list_observations": Explorer.observe,
    "list_rewards": Explorer.list_rewards,
    "observation": Explorer.observe,
    "set_benchmark": Explorer.set_benchmark,
    "set_default_observation": Explorer.set_observation,
    "set_default_reward": Explorer.reward,
    "simplify_stack": Explorer.simplify,
    "try_all_actions": Explorer.try_all,
    "tutorial": Explorer.tutorial,
}
