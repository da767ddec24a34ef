# SPDX-License-Identifier: MIT
"""Look for what makes a program fastest by the user's own command.

First a profile of a run, then what a small table of the optimiser's and the code generator's
choices adds to it, a few at a time: each is linked, the promising run more often, and what is
faster for certain in runs that did not choose it stays. What comes out is measured once more
against the fair rival.
"""

import hashlib
import math
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from compiler_gym.envs.llvm.toolchain.tools import require_tool
from compiler_gym.envs.llvm.tuning.linking import (
    FAST,
    FOLDING,
    Linker,
    late_flags,
    link_time_flags,
    run,
)
from compiler_gym.errors import ProjectError
from compiler_gym.timing import Comparison
from compiler_gym.tuning import BinaryPlan, Journal, Subject, Tried
from compiler_gym.tuning.comparing import compare_in_turns, instructions, race
from compiler_gym.tuning.measuring import RunCommand

__all__ = ["CHOICES", "Choice", "SpeedSearch", "build_plan", "plan_of", "profiles_in"]

_ROUNDS = 10
"""How often the result and the fair rival run in turns, at least."""
_MOST_ROUNDS = 60
_BATCH = 4
_FIRST, _AGAIN = (2, 4), (4, 8)
"""How often the choices of a batch run, and those more that look promising: at first, and where
time is left."""
_CONFIRMING = 10
_FEWER = 1.01
"""How many times as many instructions the rival must execute where the time cannot tell."""
_TRAINED = "profile"
_TRAININGS = ("training", "calls")
"""The folders of a profile, and of one that knows who called."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that may make programs faster, or slower."""

    flags: tuple[str, ...] = ()
    linker: tuple[str, ...] = ()


def _both(option: str) -> Choice:
    return Choice((f"-mllvm={option}",), (f"-Wl,-mllvm,{option}",))


def _late(*options: str) -> Choice:
    return Choice((), tuple(f"-Wl,-mllvm,{option}" for option in options))


CHOICES = (
    _both("-inline-threshold=500"),
    _late("-tail-dup-pred-size=64", "-tail-dup-succ-size=64"),
    _late("-enable-ext-tsp-block-placement"),
    _late("-x86-cmov-converter-force-all"),
    Choice(("-O2",)),
    _late("-align-loops=32"),
    _late("-vectorize-slp=false"),
    _both("-two-entry-phi-node-folding-threshold=1"),
    _both("-inline-threshold=1000"),
    _late("-x86-cmov-converter=false"),
    _late("-tail-dup-placement-threshold=6"),
    _late("-enable-dfa-jump-thread"),
    _late("-vectorize-loops=false"),
    _late("-unroll-threshold=600"),
    _late("-disable-lsr"),
    _late("-hot-callsite-threshold=6000"),
    _both("-enable-gvn-hoist"),
    _late("-enable-misched=false"),
    _both("-inline-threshold=100"),
    _late("-unroll-runtime=false"),
    _late("-align-all-nofallthru-blocks=5"),
    _both("-jump-threading-threshold=20"),
    _both("-enable-partial-inlining"),
)
"""In the order in which they are tried. None changes what machine the program needs."""


@dataclass
class SpeedSearch:
    """One search for one binary."""

    linker: Linker
    subject: Subject
    fair: Path
    """What is to be beaten."""
    journal: Journal
    notes: list[str] = field(default_factory=list[str])
    """What the user should be told."""
    count: int = 0
    """How many builds were made."""

    def run(self) -> tuple[BinaryPlan, Path, dict[str, float]]:
        """Return the plan, its binary and its speed against the fair rival, never slower."""
        self.subject.allowance.begin()
        none = BinaryPlan(self.subject.binary.name, FAST, linker=FOLDING)
        self._plan, self._path, self._gain = none, self.fair, 1.0
        began = time.monotonic()
        first = self._user.run(self.fair)
        self._wall = time.monotonic() - began
        if first.status:
            raise ProjectError(
                f"the run ended with status {first.status} when the program was built with "
                f"clang -O3 -flto: {self._user.text}\n{first.tail}"
            )
        self._seconds = max(first.seconds, 1e-3)
        self._seen: dict[str, tuple[str, ...]] = {_digest(self.fair): ()}
        self._resume()
        self._learn()
        self._choose()
        return self._judged(none)

    @property
    def _user(self) -> RunCommand:
        assert self.subject.run is not None
        return self.subject.run

    @property
    def _is_over(self) -> bool:
        allowance = self.subject.allowance
        # The last comparison is a part of the time that was given.
        kept = 2 * self._rounds * self._wall
        return allowance.is_over or allowance.seconds_left < kept

    @property
    def _rounds(self) -> int:
        return min(max(_ROUNDS, int(4 / self._seconds)), _MOST_ROUNDS)

    def _resume(self) -> None:
        """Begin with the fastest that an earlier search found, if it can still be built.

        It was faster for certain then; the comparison at the end tells whether it is.
        """
        known = sorted(self.journal.tried(), key=lambda tried: tried.cost)
        if not known or known[0].cost >= self._seconds:
            return
        plan = plan_of(known[0].actions, self._plan)
        if plan.profile and not Path(plan.profile).is_file():
            return
        for path in self._built({"": plan}).values():
            self._plan, self._path = plan, path
            self._gain = self._seconds / known[0].cost
        self._show("resumed")

    def _learn(self) -> None:
        """Add a profile of the user's run, and then one that knows who called.

        It stays unless it looks slower: alone it may win too little to be certain of.
        """
        if self._plan.profile:
            return
        by = self.subject.train or self._user
        profile = self._trained(by, (), "")
        if profile is None:
            return
        self.notes.append(f"the profile is of: {by.text}")
        for name in (_TRAINED, "profile of calls"):
            if self._is_over:
                return
            path = profile if name == _TRAINED else self._trained(by, (profile,), str(profile))
            if path is not None:
                self._learn_from(replace(self._plan, profile=str(path)), name)
            if not self._plan.profile:
                return

    def _learn_from(self, plan: BinaryPlan, stage: str) -> None:
        for path in self._built({"": plan}).values():
            found = self._measured(path)
            if found.speedup > 1:
                self._take(plan, path, found)
            self.journal.add(stage, Tried(_actions(plan), self._cost / min(found.speedup, 1.0)))
        self._show(stage)

    def _trained(self, by: RunCommand, before: Sequence[Path], used: str) -> Path | None:
        """Return a profile of the command `by`, together with those `before`."""
        name = _TRAININGS[bool(used)]
        output = Path(profiles_in(self.linker.folder)[bool(used)])
        folder, raw = output.parent, output.with_name("raw")
        shutil.rmtree(raw, ignore_errors=True)
        raw.mkdir(parents=True)
        flags = ["-O3", "-flto", "-fprofile-update=prefer-atomic"]
        flags += [f"-fprofile-use={used}"] if used else []
        flags.append(f"-f{'cs-' if used else ''}profile-generate={raw}")
        try:
            path = self.linker.link(name, self.linker.compile(f"{name}-o", flags), flags)
            ended = by.run(path)
            made = sorted(raw.glob("*.profraw"))
            if ended.status or not made:
                self.notes.append(
                    f"no {name} profile: {by.text} ended with status {ended.status} and left "
                    f"{len(made)} profiles"
                )
                return None
            merge = [_profdata(), "merge", *map(str, [*before, *made]), "-o", str(output)]
            run(merge, folder)
        except ProjectError as error:
            self.notes.append(f"no {name} profile: {str(error)[-300:]}")
            return None
        return output

    def _choose(self) -> None:
        """Try the table, and as long as there is time what looked faster, with more runs."""
        promising = self._try(CHOICES, _FIRST)
        while promising and not self._is_over:
            promising = self._try(promising, _AGAIN)

    def _try(self, choices: Sequence[Choice], rounds: tuple[int, int]) -> list[Choice]:
        """Try `choices`, a few at a time on top of the best; return what looked faster in vain."""
        waiting, promising = list(choices), list[Choice]()
        while waiting and not self._is_over:
            batch, waiting = waiting[:_BATCH], waiting[_BATCH:]
            plans = {str(number): _with(self._plan, each) for number, each in enumerate(batch)}
            if rounds == _FIRST:
                plans = {n: p for n, p in plans.items() if self.journal.cost(_actions(p)) is None}
            plans = {name: plans[name] for name in self.subject.allowance.take(list(plans))}
            faster, taken = self._raced(plans, rounds)
            promising += [batch[int(name)] for name in faster if name != taken]
        return promising

    def _raced(
        self, plans: dict[str, BinaryPlan], rounds: tuple[int, int]
    ) -> tuple[list[str], str]:
        """Take the best of `plans` that is faster for certain; return those that look faster, too.

        The best of a few looks better than it is, so it must win once more in runs of its own.
        """
        paths = self._built(plans)
        if not paths:
            return [], ""
        found = race(self._user, self._path, paths, rounds=rounds, is_over=lambda: self._is_over)
        taken = ""
        for name in [name for name, result in found.items() if result.low > 1][:2]:
            sure = self._measured(paths[name])
            if sure.low > 1:
                self._take(plans[name], paths[name], sure)
                taken = name
                break
        for name, result in found.items():
            cost = self._cost if name == taken else self._cost / min(result.speedup, 1.0)
            self.journal.add("choices", Tried(_actions(plans[name]), cost))
        self._show("choices")
        return [name for name, result in found.items() if result.speedup > 1], taken

    def _built(self, plans: dict[str, BinaryPlan]) -> dict[str, Path]:
        """Return the binaries of `plans` that link, and that no other before was equal to."""
        found = dict[str, Path]()
        each = self.linker if len(plans) == 1 else replace(self.linker, jobs=1)

        def build(plan: BinaryPlan) -> Path | None:
            return _built_or_none(each, plan)

        with ThreadPoolExecutor(self.subject.jobs) as pool:
            made = list(pool.map(build, plans.values()))
        for (name, plan), path in zip(plans.items(), made, strict=True):
            self.count += 1
            actions = _actions(plan)
            if path is not None and self._seen.setdefault(_digest(path), actions) == actions:
                found[name] = path
            else:
                self.journal.add("equal", Tried(actions, math.inf))
        return found

    def _measured(self, path: Path) -> Comparison:
        """Return how `path` compares with the best so far, in runs that chose nothing."""
        rounds = (_CONFIRMING, 0)
        return race(
            self._user, self._path, {"": path}, rounds=rounds, is_over=lambda: self._is_over
        )[""]

    def _take(self, plan: BinaryPlan, path: Path, found: Comparison) -> None:
        self._plan, self._path = plan, path
        self._gain *= found.speedup

    @property
    def _cost(self) -> float:
        return self._seconds / self._gain

    def _show(self, stage: str) -> None:
        self.subject.watch(stage, Tried(_actions(self._plan), self._cost))

    def _judged(self, none: BinaryPlan) -> tuple[BinaryPlan, Path, dict[str, float]]:
        if self._path == self.fair:
            self.notes.append("nothing was faster than the fair rival for certain: it stays")
            return none, self.fair, {"speedup": 1.0, "low": 1.0, "high": 1.0}
        result, seconds = compare_in_turns(self._user, self.fair, self._path, self._rounds)
        more = min(int(self.subject.allowance.seconds_left / (2 * self._wall)), _MOST_ROUNDS)
        if not result.is_significant and more > self._rounds:
            result, seconds = compare_in_turns(self._user, self.fair, self._path, more)
        speed = {"speedup": result.speedup, "low": result.low, "high": result.high}
        fewer = self._fewer_instructions(seconds)
        if fewer is not None:
            speed["instructions"] = fewer
        by_count = fewer is not None and fewer > _FEWER and result.speedup > 1
        if result.low > 1 or by_count:
            return self._plan, self._path, speed
        self.notes.append(
            f"the best was {result.speedup:.3f} times as fast as the fair rival, from "
            f"{result.low:.3f} to {result.high:.3f}: too little to be sure, so the rival stays"
        )
        return none, self.fair, {"speedup": 1.0, "low": 1.0, "high": 1.0}

    def _fewer_instructions(self, seconds: float) -> float | None:
        left = self.subject.allowance.seconds_left
        # Where time is short, an emulated run may not take as long as the whole search did.
        if seconds * 60 > max(left, 60.0):
            return None
        before = instructions(self._user, self.fair, seconds)
        after = instructions(self._user, self._path, seconds) if before else None
        return before / after if before and after else None


def profiles_in(folder: Path) -> list[str]:
    """Return where a search that writes to `folder` puts its profiles."""
    return [str(folder / name / "program.profdata") for name in _TRAININGS]


def build_plan(linker: Linker, plan: BinaryPlan) -> Path:
    """Return the stripped binary of a plan that clang's own way carries out.

    Objects are compiled again only for other flags. Raises `ProjectError` where it fails.
    """
    if plan.profile and not Path(plan.profile).is_file():
        raise ProjectError(
            f"{plan.profile} is missing, which {plan.name} is built with: keep the folder "
            "profiles beside the plan"
        )
    flags = link_time_flags(plan)
    made = linker.compile(f"fast-{_short(flags)}-o", flags)
    words = [*flags, *late_flags(plan)]
    return linker.link(f"fast-{_short(words)}", made, words)


def _built_or_none(linker: Linker, plan: BinaryPlan) -> Path | None:
    """Return the binary of `plan`, or None where it does not link."""
    try:
        return build_plan(linker, plan)
    except ProjectError:
        return None


def _with(plan: BinaryPlan, choice: Choice) -> BinaryPlan:
    """Return `plan` with `choice` instead of what says something else of the same option."""
    named = {_option(flag) for flag in (*choice.flags, *choice.linker)}

    def kept(words: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
        return (*(word for word in words if _option(word) not in named), *more)

    return replace(
        plan, flags=kept(plan.flags, choice.flags), linker=kept(plan.linker, choice.linker)
    )


def _option(flag: str) -> str:
    for prefix in ("-mllvm=", "-Wl,-mllvm,"):
        if flag.startswith(prefix):
            return flag.removeprefix(prefix).partition("=")[0]
    return flag


def _actions(plan: BinaryPlan) -> tuple[str, ...]:
    """Return what is written of `plan` in the journal."""
    profile = (f"profile {plan.profile}",) if plan.profile else ()
    return (*profile, *(name for name in plan.decisions() if name != "profile"))


def plan_of(actions: Sequence[str], plan: BinaryPlan) -> BinaryPlan:
    """Return `plan` with the decisions that `actions` are in the journal."""
    words = [action.partition(" ") for action in actions]
    return replace(
        plan,
        flags=tuple(value for kind, _, value in words if kind == "flag"),
        linker=tuple(value for kind, _, value in words if kind == "linker"),
        profile=next((value for kind, _, value in words if kind == "profile"), ""),
    )


def _profdata() -> str:
    return require_tool(
        "llvm-profdata", "to learn from a run", error=ProjectError, any_version=True
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _short(words: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]
