# SPDX-License-Identifier: MIT
"""One sequence for every program: what saves most in the mean over those learnt from.

    python agents/mean_greedy.py --train generator://csmith-v0 --test cbench-v1/crc32
    compiler-gym leaderboard run llvm-ic-unseen agents/mean_greedy.py

It begins with the compiler's own level that earns most in the mean, and adds the action
that earns most after it, again and again, until none adds anything. There is nothing to
tune and no network: what learns from the same programs should do better than this. On a
program it takes the sequence as far as it earned most there.
"""

import argparse
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.errors import BenchmarkInitError
from compiler_gym.search import level_sequences

__all__ = ["MeanGreedy", "Options", "parse", "policy"]


def option(default: Any, help: str) -> Any:
    """Return a field with its help."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is made of."""

    env: str = option("llvm-ic-v0", "the environment")
    train: tuple[str, ...] = option(("generator://csmith-v0",), "programs and datasets to learn on")
    test: tuple[str, ...] = option(("cbench-v1/crc32",), "programs to play after that")
    programs: int = option(16, "programs to learn from")
    length: int = option(8, "actions in the sequence")
    least: float = option(1e-4, "what another action has to earn in the mean")
    largest: int = option(200, "actions to offer at most; the first ones")


class MeanGreedy:
    """A policy for `compiler_gym.tools.learn.leaderboard` that learns before it is judged."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self.sequence: list[str] = []
        """The names of the actions."""

    def train(self, make_env: Callable[[], Any], programs: Sequence[str], seconds: float) -> None:
        """Choose the sequence; what was chosen when the time is up is kept."""
        with ExitStack() as stack:
            envs = self._begun(make_env, programs, stack)
            names = list(envs[0].action_space.names)[: self.options.largest]
            levels = [names[number] for (number,) in level_sequences(names)]
            while len(self.sequence) < self.options.length:
                offered = names if self.sequence else levels or names
                name, gain = _best(envs, offered)
                if gain < self.options.least:
                    return
                for env in envs:
                    env.step(env.action_space[name])
                self.sequence.append(name)

    def __call__(self, env: Any) -> None:
        """Take the sequence, and go back to where it had earned most."""
        program = env.benchmark
        env.reset(benchmark=program, action_space=_space(env))
        actions = [env.action_space[name] for name in self.sequence]
        earned = [0.0]
        for action in actions:
            _, reward, _, truncated, _ = env.step(action)
            if truncated:
                break
            earned.append(earned[-1] + reward)
        best = max(range(len(earned)), key=earned.__getitem__)
        if best < len(actions):
            env.reset(benchmark=program)
            env.multistep(actions[:best])

    def _begun(
        self, make_env: Callable[[], Any], programs: Sequence[str], stack: ExitStack
    ) -> list[Any]:
        """Return an environment at the start of an episode of each program that builds."""
        begun: list[Any] = []
        env = stack.enter_context(make_env())
        for uri in _programs(env, programs):
            try:
                env.reset(benchmark=uri, action_space=_space(env))
            except BenchmarkInitError:
                continue
            begun.append(env)
            if len(begun) == self.options.programs:
                break
            env = stack.enter_context(make_env())
        return begun


def _best(envs: Sequence[Any], names: Sequence[str]) -> tuple[str, float]:
    """Return the action that earns most in the mean, and what."""
    totals = dict.fromkeys(names, 0.0)
    for env in envs:
        for name in names:
            with env.fork() as fork:
                _, reward, _, truncated, _ = fork.step(fork.action_space[name])
            totals[name] += -1.0 if truncated else reward
    best = max(names, key=totals.__getitem__)
    return best, totals[best] / len(envs)


def _programs(env: Any, names: Sequence[str]) -> Iterator[str]:
    """Yield programs, one of each dataset in turn; an address of a program is itself."""
    known = {dataset.name: dataset for dataset in env.datasets.datasets()}
    each = [known[name].benchmark_uris() if name in known else iter([name]) for name in names]
    for row in itertools.zip_longest(*each):
        yield from (str(uri) for uri in row if uri is not None)


def _space(env: Any) -> Any:
    """Return the action space that has most of the compiler's own levels and passes."""
    named = [space for space in env.action_spaces if level_sequences(getattr(space, "names", ()))]
    return max(named, key=lambda space: len(space.names), default=env.action_space)


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Return the options that a command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for item in dataclasses.fields(Options):
        several = isinstance(item.default, tuple)
        parser.add_argument(
            f"--{item.name}",
            type=str if several else item.type,
            nargs="*" if several else None,
            default=item.default,
            help=item.metadata["help"],
        )
    return Options(**vars(parser.parse_args(arguments)))


def main(options: Options) -> None:
    """Learn, and play some programs."""
    import compiler_gym

    learner = MeanGreedy(options)
    learner.train(lambda: compiler_gym.make(options.env), options.train, float("inf"))
    print(" ".join(learner.sequence))
    with compiler_gym.make(options.env) as env:
        for program in options.test:
            env.reset(benchmark=program)
            learner(env)
            print(f"{program}: {env.episode_reward:.4f}")


policy = MeanGreedy
"""What the leaderboard runs."""

if __name__ == "__main__":
    main(parse())
