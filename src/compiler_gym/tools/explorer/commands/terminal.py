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
from compiler_gym.tools.explorer.tree import State, Tree

__all__ = ["Explorer"]


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a command, as text and as data."""

    text: "str | Table"
    data: dict[str, Any] = field(default_factory=dict[str, Any])


class _Leave(Exception):
    """Ends the prompt."""


_MOST_LISTED, _MOST_LISTED_OF_EACH = 1000, 10
_ROUNDING = 1e-9
_TUTORIAL = (
    "1. `list` shows the actions; type the name of one to apply it.",
    "2. `try` shows which would earn most now, `greedy 5` applies the best five times.",
    "3. `undo` takes the last one back, `history` shows all, `reset` begins again.",
    "4. `observe` lists what can be seen, `observe NAME` shows it; `reward NAME` chooses the goal.",
    "5. `simplify_stack` leaves out what earned nothing; `commandline` shows the compiler's "
    "command, `save FILE` keeps the program.",
)


class Explorer:
    """One episode that can go back."""

    def __init__(self, env: CompilerEnv, benchmark: Benchmark) -> None:
        self._env = env
        self._benchmark = benchmark
        self._tree = Tree(env, benchmark, _no_matter)
        self._shown: list[str] = []
        self._names: list[str] = list(action_names(env.action_space))

    def __str__(self) -> str:
        """The prompt."""
        program = str(self._benchmark.uri.path).rpartition("/")[2] or str(self._benchmark)
        return f"{program} [{self._at.depth}]"

    def start(self) -> None:
        """Begin on the program, with no states to go back to."""
        self.close()
        self._tree = Tree(self._env, self._benchmark, _no_matter)
        self._root = self._at = self._tree.start()

    def close(self) -> None:
        """End the processes that are kept; the environment stays the caller's."""
        for child in [*self._root.children.values()] if self._tree.ids else ():
            self._tree.remove(child)

    def words(self) -> list[str]:
        """Return what the Tab key completes."""
        return [*_COMMANDS, *self._names, *self._env.observation, *self._env.reward]

    def show_start(self, *, as_json: bool) -> None:
        """Print the program and the state that the episode starts with."""
        self._print(self._state(f"{self._benchmark}"), as_json=as_json)

    def obey(self, line: str, *, as_json: bool) -> bool:
        """Carry out one line; return False when it was the last."""
        words = line.split()
        if not words or words[0].startswith("#"):
            return True
        try:
            command = _COMMANDS.get(words[0])
            reply = command(self, words[1:]) if command else self.apply(words)
        except _Leave:
            return False
        except CompilerGymError as error:
            reply = Reply(f"error: {error}", {"error": type(error).__name__, "details": str(error)})
        self._print(reply, as_json=as_json)
        return True

    # -- commands ----------------------------------------------------------------------------

    def apply(self, words: list[str]) -> Reply:
        """NAME...: apply actions by name or number."""
        done: list[str] = []
        for action in [self._find(word) for word in words]:
            state = self._step(action)
            if state.error is not None:
                return Reply(
                    f"{state.name} failed and was reverted: {state.error.message}",
                    {"error": state.error.type, "details": state.error.message},
                )
            done.append(state.name if state.changed else f"{state.name} (changed nothing)")
        return self._state(f"applied {', '.join(done)}")

    def undo(self, words: list[str]) -> Reply:
        """undo [N]: take back the last action, or the last N; also: back."""
        count = self._number(words, 1)
        before = [self._root, *self._at.path]
        self._at = before[max(self._at.depth - count, 0)]
        gone = len(before) - 1 - self._at.depth
        return self._state(f"took back {gone} action{'s' * (gone != 1)}")

    def reset(self, words: list[str]) -> Reply:
        """reset: begin again."""
        self._at = self._root
        return self._state("back at the start")

    def try_all(self, words: list[str]) -> Reply:
        """try [N]: try every action once and show the N that earn most (default 10)."""
        best = [
            (self._names[action], reward)
            for reward, action in self._earnings()[: self._number(words, 10)]
        ]
        rows = table("Action", "Would earn", right=("Would earn",), typed=("Action",))
        for name, reward in best:
            rows.add_row(name, _number_text(reward))
        return Reply(rows, {"best": [{"action": n, "reward": r} for n, r in best]})

    def list_actions(self, words: list[str]) -> Reply:
        """list [LETTERS]: list the actions, or those that hold the letters in order."""
        space, letters = self._now.action_space, " ".join(words)
        found = close_names(self._names, letters) if words else self._names
        descriptions = dict(zip(self._names, action_descriptions(space), strict=False))
        all_parts = {part.name: part for part in action_parts(space)}
        parts = close_names(all_parts, letters) if words else list(all_parts)
        data = {"actions": found, "parts": [all_parts[name]._asdict() for name in parts]}
        if not found and not parts:
            return Reply("no such action", data)
        rows = table("#", "Action", "Description", right=("#",), typed=("Action",))
        for name in found:
            rows.add_row(str(self._names.index(name)), name, descriptions.get(name, ""))
        for name in parts:
            _, values, description = all_parts[name]
            rows.add_row("", name, ": ".join(filter(None, (values, description))))
        if not self._names:
            rows.caption = f"an action is JSON without blanks: {self._example()}"
        return Reply(rows, data)

    def _example(self) -> str:
        space: Any = self._now.action_space
        plain: Any = to_plain(getattr(space, "to_plain", to_plain)(space.sample()))
        if isinstance(plain, list):
            return f"a list of {len(cast('list[Any]', plain))} numbers, one for each row, from 0"
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
        """show: draw the program as it is now."""
        text = str(self._now.render("ansi"))
        return Reply(text, {"shown": text})

    def reward(self, words: list[str]) -> Reply:
        """reward [NAME]: show what was earned, or choose another reward and begin again."""
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
        return self._state(f"shows {', '.join(words) or 'no observation of your own'}")

    def set_benchmark(self, words: list[str]) -> Reply:
        """set_benchmark PROGRAM: begin on another program, a URI or a path."""
        if len(words) != 1:
            raise InvalidActionError("expected set_benchmark PROGRAM, a URI or a path")
        self._benchmark = find_program(self._env, words[0])
        self.start()
        return self._state(f"{self._benchmark}")

    def list_datasets(self, words: list[str]) -> Reply:
        """list_datasets: list the datasets."""
        found = {one.name: one.description for one in self._env.datasets.datasets()}
        rows = table("Dataset", "Description")
        for name, description in found.items():
            rows.add_row(name, description)
        return Reply(rows, {"datasets": list(found)})

    def list_benchmarks(self, words: list[str]) -> Reply:
        """list_benchmarks [DATASET]: list the first programs of a dataset, or of each."""
        datasets = self._env.datasets
        chosen = [datasets.dataset(name) for name in words] or list(datasets.datasets())
        most = _MOST_LISTED if words else _MOST_LISTED_OF_EACH
        found = [uri for one in chosen for uri in islice(_list_uris(one), most)]
        return Reply("\n".join(found), {"benchmarks": found})

    def list_rewards(self, words: list[str]) -> Reply:
        """list_rewards: list the rewards."""
        names = [*self._env.reward]
        return Reply("\n".join(names), {"rewards": names})

    def greedy(self, words: list[str]) -> Reply:
        """greedy [N]: apply the action that earns most, N times (1), as long as one earns."""
        done: list[str] = []
        for _ in range(self._number(words, 1)):
            reward, action = next(iter(self._earnings()), (0.0, 0))
            if reward <= 0:
                break
            done.append(self._step(action).name)
        return self._state(f"applied {', '.join(done) or 'nothing: no action earns'}")

    def hill_climb(self, words: list[str]) -> Reply:
        """hill_climb [N]: try a random action, N times (1), and keep each that earns."""
        done: list[str] = []
        for _ in range(self._number(words, 1)):
            action = self._now.action_space.sample()
            if self._would_earn(action) > 0:
                done.append(self._step(action).name)
        return self._state(f"applied {', '.join(done) or 'nothing: none that was drawn earns'}")

    def simplify(self, words: list[str]) -> Reply:
        """simplify_stack: leave out every action without which as much is earned."""
        from compiler_gym.search import minimize_trajectory_iteratively

        least = self._earned - _ROUNDING

        def earns_as_much(env: CompilerEnv) -> bool:
            return env.episode.has_program and (env.episode_reward or 0.0) >= least

        with self._tree.fork(self._at) as trial:
            for _ in minimize_trajectory_iteratively(trial, earns_as_much):
                pass
            kept = trial.actions
        self._go_to(kept)
        return self._state(f"{len(kept)} action{'s' * (len(kept) != 1)} left")

    def tutorial(self, words: list[str]) -> Reply:
        """tutorial: say how to begin."""
        text = "\n".join(_TUTORIAL)
        return Reply(text, {"tutorial": text})

    def history(self, words: list[str]) -> Reply:
        """history: show the actions so far and what each earned; also: stack."""
        rows = table("Step", "Action", "Earned", right=("Step", "Earned"), typed=("Action",))
        steps: list[dict[str, Any]] = [
            {"action": state.name, "reward": state.reward or 0.0} for state in self._at.path
        ]
        for i, step in enumerate(steps, 1):
            rows.add_row(str(i), step["action"], _number_text(step["reward"]))
        return Reply(rows if steps else "no actions yet", {"history": steps})

    def commandline(self, words: list[str]) -> Reply:
        """commandline: show the actions as the compiler's command."""
        text = self._now.commandline()
        console = output()
        lines = command_lines(text, console.width) if console.is_terminal else [text]
        return Reply("\n".join(lines), {"commandline": text})

    def save(self, words: list[str]) -> Reply:
        """save FILE: write the compiler's command, or the program where FILE ends like one."""
        if len(words) != 1:
            raise InvalidActionError("expected save FILE")
        path = Path(words[0]).expanduser()
        with writing(path, InvalidActionError):
            if writer := _writer(path):
                getattr(self._now, writer)(path)
            else:
                path.write_text(self._now.commandline() + "\n", encoding="utf-8")
        return Reply(f"wrote {path}", {"saved": str(path)})

    def help(self, words: list[str]) -> Reply:
        """help: show this."""
        shown = dict.fromkeys((Explorer.apply, *_COMMANDS.values()))
        lines = [command.__doc__ or "" for command in shown]
        rows = table("Type", "What it does", typed=("Type",))
        for line in lines:
            usage, _, what = line.partition(": ")
            rows.add_row(usage, what)
        return Reply(rows, {"help": lines})

    def leave(self, words: list[str]) -> Reply:
        """quit: leave; also: exit, Ctrl-D."""
        raise _Leave

    # -- helpers -----------------------------------------------------------------------------

    @property
    def _now(self) -> CompilerEnv:
        """The environment in the current state."""
        return self._tree.use(self._at, lambda env: env)

    @property
    def _earned(self) -> float:
        return self._at.total or 0.0

    def _step(self, action: Any) -> State:
        """Apply `action` and return its state, which becomes the current one unless it failed."""
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
        """Return the reward of each action that has an effect, the highest first."""
        earned = [(self._would_earn(action), action) for action in range(len(self._names))]
        known = [pair for pair in earned if pair[0] > -math.inf]
        return sorted(known, key=lambda pair: (-pair[0], pair[1]))

    def _go_to(self, actions: list[Any]) -> None:
        self._at = self._root
        for action in actions:
            self._step(action)

    def _state(self, what: str) -> Reply:
        reward = self._env.reward_space
        needed = reward.observation_spaces if reward else []
        names: dict[str, None] = dict.fromkeys([*needed, *self._shown])
        costs = {name: self._now.observation[name] for name in names}
        texts = {name: _on_its_own_lines(value) for name, value in costs.items()}
        parts = [f"{name} {text}" for name, text in texts.items()]
        if reward is not None:
            parts.append(f"{reward.name} reward {_number_text(self._earned)}")
        data = {
            "actions": [state.name for state in self._at.path],
            "observations": to_plain(costs),
            "reward": self._earned,
            "reward_space": reward.name if reward else None,
        }
        parts.sort(key=lambda part: "\n" in part)  # what has lines of its own comes last
        return Reply(f"{what}\n  {'   '.join(parts)}", data)

    def _find(self, word: str) -> Any:
        """Return the action called `word`, or the only one whose name begins so."""
        try:
            return find_action(self._now.action_space, word)
        except InvalidActionError:
            close = close_names(self._names, word)
            begun = [name for name in close if name.lower().startswith(word.lower())]
            if len(begun) == 1:
                return self._names.index(begun[0])
            if not did_you_mean(word, self._names) and (hint := did_you_mean(word, _COMMANDS)):
                raise InvalidActionError(f"no action or command {word!r}: {hint}") from None
            raise

    def _number(self, words: list[str], default: int) -> int:
        if not words:
            return default
        if not words[0].isdecimal():
            raise InvalidActionError(f"expected a number, found {words[0]!r}")
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


def _no_matter(node: int, error: Exception) -> None:
    """Ignore a lost worker: another has taken its place."""


def _list_uris(dataset: Dataset) -> Iterator[str]:
    """Yield the names of programs, of a dataset that is here: listing downloads nothing."""
    return iter(dataset.benchmark_uris() if dataset.installed else ())


def _writer(path: Path) -> str:
    """Return the environment's method that writes a program to such a file, or nothing."""
    return next((one.writer for one in program_formats() if path.suffix in one.suffixes), "")


def _on_its_own_lines(value: Any) -> str:
    """Return a value as text, which begins on a line of its own where it has several."""
    text = str(value)
    return f"\n{text}" if "\n" in text.strip() else text


def _readable(value: Any, names: Sequence[str] | None) -> str:
    """Return a value as text; a vector whose elements have names as those that are not 0."""
    if not names or len(names) != len(value):
        return _on_its_own_lines(value)
    pairs = zip(names, to_plain(value), strict=True)
    told = ", ".join(f"{name} {number(one)}" for name, one in pairs if one)
    width = output().width - 2
    return "\n" + textwrap.indent(textwrap.fill(told or "all 0", width), "  ")


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
