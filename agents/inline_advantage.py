# SPDX-License-Identifier: MIT
"""Inline where it saves bytes: learnt from what single decisions changed, with numpy alone.

    python agents/inline_advantage.py --train generator://csmith-v0 --test cbench-v1/gsm

LLVM's own choice is the policy to begin with. For each function that is called, a copy of the
episode answers its calls the other way and goes on as before: what that adds to the bytes of
machine code is an example. From examples come thresholds, beyond which the policy departs from
LLVM, one for each reason that LLVM has; none where departing does not save on programs that
had no part in choosing it. Boosted trees learn an order in which to try functions, for those
who can pay for several compilations of a program.
"""

import argparse
import dataclasses
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compiler_gym
from compiler_gym.errors import BenchmarkInitError
from compiler_gym_inline.llvm.observations import INLINE_FEATURES

Floats = NDArray[np.float64]

COST, BASELINE = "ObjectTextSizeBytes", "ObjectTextSizeOz"
"""What is saved, and how much of it -Oz leaves."""
SEEN = ["InlineFeatures", "CallSite"]
SITE = (
    *("arguments", "caller_blocks", "caller_instructions", "callee_blocks"),
    *("callee_instructions", "callee_calls", "is_callee_local", "is_in_loop"),
)
"""What of the call site is a feature."""
_COST, _BONUS, _USERS, _OWN = (
    INLINE_FEATURES.index(name)
    for name in ("cost_estimate", "last_call_to_static_bonus", "callee_users", "inlining_default")
)
LAST_CALL = 15_000.0
"""What LLVM takes off the cost of the only call of a function that is local."""
DEFAULT, INLINE, LEAVE = range(3)
"""The actions, in the environment's order."""


def option(default: Any, help: str) -> Any:
    """Return a field with its help."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is made of."""

    train: tuple[str, ...] = option(
        ("generator://csmith-v0",), "programs, datasets and folders of .bc files to learn on"
    )
    test: tuple[str, ...] = option((), "programs and datasets to report at the end")
    programs: int = option(150, "programs to try functions of")
    probes: int = option(40, "functions of a program to answer the other way for")
    examples: str = option("", "a file of examples: programs in it are not tried again")
    smallest: int = option(200, "bytes of machine code that -Oz leaves of a program, at least")
    largest: int = option(30_000, "and at most")
    trees: int = option(80, "trees in a model")
    depth: int = option(3, "questions in a tree")
    rate: float = option(0.1, "how much of what is left a tree learns")
    leaf: int = option(10, "examples that a leaf has at least")
    models: int = option(5, "parts of the programs; each is played by what the others taught")
    clip: float = option(10.0, "bytes that one decision counts for at most")
    added: float = option(200.0, "what LLVM leaves, not asked about where copies would add more")
    worst: float = option(0.01, "what departing may lose at most on a program learnt from")
    most: float = option(0.02, "what a threshold is credited with at most on a program")
    least: int = option(8, "programs on which a threshold makes a difference at least")
    share: float = option(0.8, "of the programs: those that a seed draws and learns from")
    compilations: int = option(1, "of a program in the test: more try what is promising")
    order: str = option("learnt", "what they try first: what is learnt, or at random")
    seeds: int = option(1, "policies to learn, from seeds one after the other")
    seed: int = option(0, "of everything that is random")


class Trees:
    """Boosted regression trees of one depth, evaluated all at once."""

    def __init__(self, columns: NDArray[np.int64], cuts: Floats, leaves: Floats) -> None:
        self.columns, self.cuts, self.leaves = columns, cuts, leaves

    def __call__(self, seen: Floats) -> float:
        """Return what the trees add up to for one row."""
        depth = self.leaves.shape[1].bit_length() - 1
        every, node = np.arange(len(self.leaves)), np.zeros(len(self.leaves), np.int64)
        for _ in range(depth):
            right = seen[self.columns[every, node]] > self.cuts[every, node]
            node = 2 * node + 1 + right
        return float(self.leaves[every, node - (2**depth - 1)].sum())


def fit(rows: Floats, targets: Floats, options: Options) -> Trees:
    """Return trees that tell `targets` from `rows`, by least squares."""
    cuts = [_cuts(column) for column in rows.T]
    places: list[NDArray[np.int64]] = [
        np.searchsorted(c, x) for c, x in zip(cuts, rows.T, strict=True)
    ]
    binned = np.stack(places, axis=1)
    inner, ends = 2**options.depth - 1, 2**options.depth
    columns = np.zeros((options.trees, inner), np.int64)
    limits = np.full((options.trees, inner), np.inf)
    leaves = np.zeros((options.trees, ends))
    left = targets.copy()
    for tree in range(options.trees):
        node = np.zeros(len(rows), np.int64)
        for number in range(inner):
            inside = np.flatnonzero(node == number)
            column, place = _split(binned[inside], left[inside], cuts, options.leaf)
            goes_right = np.zeros(len(inside), np.bool_)
            if place >= 0:
                columns[tree, number], limits[tree, number] = column, cuts[column][place]
                goes_right = binned[inside, column] > place
            node[inside] = 2 * number + 1 + goes_right
        for end in range(ends):
            inside = node == inner + end
            if inside.any():
                leaves[tree, end] = options.rate * left[inside].mean()
                left[inside] -= leaves[tree, end]
    return Trees(columns, limits, leaves)


def _cuts(column: Floats, most: int = 24) -> Floats:
    """Return values between which a column is cut: x <= cut goes left."""
    values = np.unique(column)
    if len(values) > most:
        values = np.unique(np.quantile(column, np.linspace(0, 1, most), method="lower"))
    return values[:-1]


def _split(
    binned: NDArray[np.int64], left: Floats, cuts: Sequence[Floats], least: int
) -> tuple[int, int]:
    """Return the column and the cut that explain most, and (0, -1) if nothing does."""
    best, found = 1e-9, (0, -1)
    total, count = left.sum(), len(left)
    for column, places in enumerate(cuts):
        if not len(places) or count < 2 * least:
            continue
        size = len(places) + 1
        sums = np.cumsum(np.bincount(binned[:, column], left, size))[:-1]
        counts = np.cumsum(np.bincount(binned[:, column], minlength=size))[:-1]
        legal = (counts >= least) & (count - counts >= least)
        if not legal.any():
            continue
        inside = np.maximum(counts, 1)
        gains = sums**2 / inside + (total - sums) ** 2 / np.maximum(count - counts, 1)
        gains = np.where(legal, gains - total**2 / count, 0.0)
        place = int(gains.argmax())
        if gains[place] > best:
            best, found = float(gains[place]), (column, place)
    return found


def row(features: NDArray[np.int64], site: Mapping[str, Any]) -> Floats:
    """Return what is known of a call: LLVM's features, ours, and what copies would add."""
    own = [float(site[name]) for name in SITE]
    return np.array([*features, *own, added(features, site), _disappears(features, site)])


def added(features: NDArray[np.int64], site: Mapping[str, Any]) -> float:
    """Return what inlining every call of the function would add by LLVM's estimate of this one.

    Five are an instruction. The function itself goes when nothing else names it.
    """
    cost = float(features[_COST])
    if features[_BONUS]:
        cost += LAST_CALL
    call = 25.0 + 5.0 * float(site["arguments"])
    return float(site["callee_calls"]) * cost - _disappears(features, site) * (cost + call)


def _disappears(features: NDArray[np.int64], site: Mapping[str, Any]) -> bool:
    return bool(site["is_callee_local"]) and features[_USERS] == site["callee_calls"]


def reach(seen: Floats) -> tuple[int, float]:
    """Return why LLVM decides as it does about a call, and how far it is from the other choice.

    0: it inlines one of several calls, 1: it inlines the only call of a function that is local,
    2: it does not inline, but the function would go if all its calls were inlined, 3: it does
    not inline. The second says in LLVM's units of cost, of which five are an instruction, how
    much inlining this call adds (0, 1), or how much inlining all of them saves (2).
    """
    if seen[_OWN]:
        return int(seen[_BONUS]), seen[_COST] + LAST_CALL * seen[_BONUS]
    return (2, -seen[-2]) if seen[-1] else (3, -math.inf)


REASONS = 3
"""Those of them that have thresholds."""
LLVM = (math.inf,) * REASONS
"""The thresholds that never depart."""


class Policy:
    """LLVM's choice for the calls of a function, or beyond a threshold the other one."""

    def __init__(self, thresholds: Sequence[float] = LLVM, models: Sequence[Trees] = ()) -> None:
        self.thresholds, self.models = tuple(thresholds), models

    def departs(self, seen: Floats) -> bool:
        """Return whether the other choice is taken."""
        reason, value = reach(seen)
        return reason < REASONS and value > self.thresholds[reason]

    def gain(self, seen: Floats) -> float:
        """Return the bytes that the trees believe the other choice to save."""
        return -sum(model(seen) for model in self.models) / len(self.models)


@dataclass(slots=True)
class Answers:
    """What is answered about the calls of each function: decided when one is first seen."""

    policy: Policy
    given: dict[str, int] = field(default_factory=dict[str, int])

    def of(self, features: NDArray[np.int64], site: Mapping[str, Any]) -> int:
        """Return the action for a call."""
        callee = str(site["callee"])
        if callee not in self.given:
            departs = self.policy.departs(row(features, site))
            self.given[callee] = other(features) if departs else DEFAULT
        return self.given[callee]


def other(features: NDArray[np.int64]) -> int:
    """Return what LLVM would not do."""
    return LEAVE if features[-1] else INLINE


Look = Callable[[Answers, NDArray[np.int64], Mapping[str, Any]], None]


def play(env: Any, answers: Answers, look: Look | None = None) -> int:
    """Answer all that is asked from here on; return the bytes that are left.

    `look` is called when a function is seen for the first time.
    """
    seen = env.observation[SEEN[0]], env.observation[SEEN[1]]
    while env.in_episode:
        features, site = seen
        if look is not None and site["callee"] and site["callee"] not in answers.given:
            look(answers, features, site)
        action = answers.of(features, site)
        seen, _, _, truncated, _ = env.step(action, observation_spaces=SEEN, reward_spaces=[])
        if truncated:
            raise BenchmarkInitError(f"{env.benchmark} cannot be compiled")
    return int(env.observation[COST])


@dataclass(frozen=True, slots=True)
class Tried:
    """A program of which the calls of some functions were answered the other way."""

    own: int
    """The bytes that LLVM's choices leave."""
    examples: list[tuple[Floats, int]]
    """What is known at a function's first call, and the bytes that the other answer adds."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """A policy, what it was learnt from, and how it did where it was not learnt."""

    policy: Policy
    tried: dict[str, Tried]
    ratios: list[float]
    """Of each program, what thresholds that the others taught leave over LLVM's choices."""


@dataclass(frozen=True, slots=True)
class Result:
    """Bytes that are left of a program."""

    baseline: int
    """By -Oz."""
    own: int
    """By LLVM's choices; -Oz too, unless the program is linked."""
    left: int
    """By the policy, in one compilation."""
    searched: int
    """By the best of several compilations."""


def train(options: Options, report: Callable[[str], None] = print) -> Learnt:
    """Return a policy learnt on a share of the programs of `options`.

    It departs from LLVM only if thresholds learnt on some programs save on the others.
    """
    with make_env() as env:
        tried = collect(env, _of_a_size(env, options), options)
        names = np.random.default_rng(options.seed).permutation(sorted(tried))
        tried = {name: tried[name] for name in names[: math.ceil(options.share * len(names))]}
        folds = _folds(list(tried), options)
        ratios: list[float] = []
        for fold in range(options.models):
            policy = Policy(thresholds(_part(tried, folds, fold, inside=False), options))
            for program, one in _part(tried, folds, fold, inside=True).items():
                ratios.append(play_program(env, program, Answers(policy)) / one.own)
    models = [_model(_part(tried, folds, n, inside=False), options) for n in range(options.models)]
    mean = geometric_mean(ratios)
    chosen = thresholds(tried, options) if mean < 1.0 else LLVM
    count, saving = _count(tried)
    report(
        f"{count} functions of {len(tried)} programs, {saving} save bytes; where they were not "
        f"learnt, thresholds leave {mean:.4f} of LLVM's, {max(ratios):.4f} at worst; chosen: "
        + ", ".join(f"{value:g}" for value in chosen)
    )
    return Learnt(Policy(chosen, models), tried, ratios)


def thresholds(tried: Mapping[str, Tried], options: Options) -> tuple[float, ...]:
    """Return for each reason the threshold that saves most of a program in the mean.

    It loses nowhere more than it may, and it makes a difference on some programs: infinity
    where there is no such threshold.
    """
    found: list[float] = []
    for reason in range(REASONS):
        reached = [reach(seen) for one in tried.values() for seen, _ in one.examples]
        candidates = sorted({float(value) - 0.5 for why, value in reached if why == reason})
        scored = [(_saved(tried, reason, value, options), value) for value in candidates]
        best = max(scored, default=(0.0, math.inf))
        found.append(best[1] if best[0] > 0.0 else math.inf)
    return tuple(found)


def _saved(tried: Mapping[str, Tried], reason: int, limit: float, options: Options) -> float:
    """Return the share of a program that a threshold saves in the mean; 0 if it is refused."""
    shares: list[float] = []
    for one in tried.values():
        beyond = [
            more for seen, more in one.examples if (r := reach(seen))[0] == reason and r[1] > limit
        ]
        if beyond:
            shares.append(-sum(beyond) / one.own)
    if sum(share != 0.0 for share in shares) < options.least or min(shares) < -options.worst:
        return 0.0
    kept = np.zeros(len(tried))
    kept[: len(shares)] = np.minimum(shares, options.most)
    return float(kept.mean() - kept.std() / math.sqrt(len(kept)))


def _count(tried: Mapping[str, Tried]) -> tuple[int, int]:
    added = [more for one in tried.values() for _, more in one.examples]
    return len(added), sum(more < 0 for more in added)


def collect(env: Any, programs: Sequence[str], options: Options) -> dict[str, Tried]:
    """Return what was tried on `programs`, and keep it in the file that `options` names."""
    file = Path(options.examples) if options.examples else None
    known: dict[str, Tried] = {}
    if file and file.exists():
        for line in file.read_text().splitlines():
            program, own, examples = json.loads(line)
            known[program] = Tried(own, [(np.array(seen), more) for seen, more in examples])
    for program in programs:
        if program not in known:
            known[program] = tried = probe(env, program, options)
            if file:
                plain = [(seen.tolist(), more) for seen, more in tried.examples]
                with file.open("a") as kept:
                    kept.write(json.dumps([program, tried.own, plain]) + "\n")
    return {program: known[program] for program in programs}


def make_env() -> Any:
    """Return an environment that asks and rewards nothing until it is over."""
    return compiler_gym.make("llvm-inline-v0", action_space="Inlining", reward_space=None)


def play_program(env: Any, program: str, answers: Answers, look: Look | None = None) -> int:
    """Return the bytes that an episode of `answers` leaves."""
    env.reset(benchmark=program)
    return play(env, answers, look)


def probe(env: Any, program: str, options: Options) -> Tried:
    """Answer for some functions of a program the other way, one at a time."""
    answers = Answers(Policy())
    tried = Tried(play_program(env, program, answers), [])
    names = np.random.default_rng(0).permutation(sorted(answers.given))
    chosen = set(names[: options.probes].tolist())

    def look(before: Answers, features: NDArray[np.int64], site: Mapping[str, Any]) -> None:
        if site["callee"] not in chosen:
            return
        if not features[-1] and added(features, site) > options.added:
            return
        after = before.given | {str(site["callee"]): other(features)}
        with env.fork() as fork:
            left = play(fork, Answers(Policy(), after))
        tried.examples.append((row(features, site), left - tried.own))

    play_program(env, program, Answers(Policy()), look)
    return tried


def improve(
    env: Any, program: str, gain: Callable[[Floats], float], compilations: int
) -> tuple[int, int]:
    """Return the bytes LLVM's choices leave, and the least that so many compilations find.

    The first is LLVM's own; each further one answers one more function the other way, that of
    the most `gain` first, and what leaves less is kept.
    """
    promising: list[tuple[float, str, int]] = []

    def look(before: Answers, features: NDArray[np.int64], site: Mapping[str, Any]) -> None:
        seen = row(features, site)
        promising.append((gain(seen), str(site["callee"]), other(features)))

    own = least = play_program(env, program, Answers(Policy()), look)
    kept: dict[str, int] = {}
    for _, callee, action in sorted(promising, reverse=True)[: compilations - 1]:
        left = play_program(env, program, Answers(Policy(), kept | {callee: action}))
        if left < least:
            least, kept = left, kept | {callee: action}
    return own, least


def evaluate(policy: Policy, options: Options) -> dict[str, Result]:
    """Return what became of each program of the test."""
    found: dict[str, Result] = {}
    random = np.random.default_rng(options.seed)
    gain: Callable[[Floats], float] = (
        policy.gain if options.order == "learnt" else lambda _: float(random.random())
    )
    with make_env() as env:
        for program in _uris(env, options.test):
            own, searched = improve(env, program, gain, options.compilations)
            baseline = int(env.observation[BASELINE])
            departs = policy.thresholds != LLVM
            left = play_program(env, program, Answers(policy)) if departs else own
            found[program] = Result(baseline, own, left, searched)
    return found


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def _part(
    tried: Mapping[str, Tried], folds: Mapping[str, int], fold: int, *, inside: bool
) -> dict[str, Tried]:
    return {name: one for name, one in tried.items() if (folds[name] == fold) is inside}


def _model(tried: Mapping[str, Tried], options: Options) -> Trees:
    """Return trees that tell what the other answer adds where it changes anything."""
    examples = [(seen, more) for one in tried.values() for seen, more in one.examples if more]
    targets = np.clip([float(more) for _, more in examples], -options.clip, options.clip)
    return fit(np.stack([seen for seen, _ in examples]), targets, options)


def _folds(programs: Sequence[str], options: Options) -> dict[str, int]:
    """Return by chance, but in equal numbers, which model does without which family."""
    families = sorted({_family(program, options) for program in programs})
    order = np.random.default_rng(options.seed).permutation(len(families))
    folds = {name: int(n) % options.models for name, n in zip(families, order, strict=True)}
    return {program: folds[_family(program, options)] for program in programs}


def _family(program: str, options: Options) -> str:
    """Return what programs that share code have in common: a folder's folder."""
    file = Path(program.removeprefix("file://"))
    for name in options.train:
        folder = Path(name).absolute()
        if folder.is_dir() and file.is_relative_to(folder):
            return file.relative_to(folder).parts[0]
    return program


def _of_a_size(env: Any, options: Options) -> list[str]:
    """Return the first programs of which -Oz leaves neither too little nor too much."""
    found: list[str] = []
    for program in _uris(env, options.train):
        with suppress(BenchmarkInitError):
            env.reset(benchmark=program)
            if options.smallest <= env.observation[BASELINE] <= options.largest:
                found.append(program)
        if len(found) == options.programs:
            break
    return found


def _uris(env: Any, names: Sequence[str]) -> Iterator[str]:
    """Yield programs, one of each name in turn: of a dataset, of a folder, or one itself."""
    each = [_of(env, name) for name in names]
    for several in itertools.zip_longest(*each):
        yield from (uri for uri in several if uri is not None)


def _of(env: Any, name: str) -> Iterator[str]:
    if Path(name).is_dir():
        return (f"file://{file.absolute()}" for file in sorted(Path(name).rglob("*.bc")))
    known = {dataset.name: dataset for dataset in env.datasets.datasets()}
    full, mark, parameters = (name if "://" in name else f"benchmark://{name}").partition("?")
    if full not in known:
        return iter([name])
    return (f"{uri}{mark}{parameters}" for uri in known[full].benchmark_uris())


def show(several: Sequence[Mapping[str, Result]], compilations: int) -> str:
    """Return a table: bytes by program, and what each policy leaves."""
    lines = [
        f"| program | -Oz | LLVM's choices | agent | best of {compilations} |",
        "| --- | --: | --: | --: | --: |",
    ]
    for program in several[0]:
        name = program.rpartition("://")[2].removeprefix("cbench-v1/")
        rows = [found[program] for found in several]
        lefts, bests = (
            ", ".join(map(str, c)) for c in zip(*((r.left, r.searched) for r in rows), strict=True)
        )
        lines.append(f"| {name} | {rows[0].baseline} | {rows[0].own} | {lefts} | {bests} |")
    for found in several:
        ratios = [one.left / one.own for one in found.values()]
        smaller, larger = sum(ratio < 1 for ratio in ratios), sum(ratio > 1 for ratio in ratios)
        guarded = geometric_mean([min(ratio, 1.0) for ratio in ratios])
        searched = geometric_mean([one.searched / one.own for one in found.values()])
        lines.append(
            f"\n{geometric_mean(ratios):.4f} of LLVM's choices in geometric mean, "
            f"{max(ratios):.4f} at worst; smaller on {smaller}, "
            f"larger on {larger} of {len(ratios)}. "
            f"The smaller of the two (two compilations): {guarded:.4f}. "
            f"Best of {compilations}: {searched:.4f}."
        )
    return "\n".join(lines)


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Return the options that a command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for item in dataclasses.fields(Options):
        default: Any = item.default
        several = isinstance(default, tuple)
        parser.add_argument(
            f"--{item.name}",
            type=str if several else item.type,
            nargs="*" if several else None,
            default=default,
            help=item.metadata["help"],
        )
    values = vars(parser.parse_args(arguments))
    lists: dict[str, Any] = {
        item.name: tuple(values[item.name])
        for item in dataclasses.fields(Options)
        if isinstance(item.default, tuple)
    }
    return Options(**values | lists)


def main(options: Options) -> None:
    """Learn, and play the programs of the test."""
    several: list[dict[str, Result]] = []
    for seed in range(options.seed, options.seed + options.seeds):
        policy = train(dataclasses.replace(options, seed=seed)).policy
        several.append(evaluate(policy, options))
    if options.test:
        print(show(several, options.compilations))


if __name__ == "__main__":
    main(parse())
