# SPDX-License-Identifier: MIT
"""Tune a binary with GCC: build rivals with its levels, search its options, build plans."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from compiler_gym.envs.gcc import GccSpec, get_spec
from compiler_gym.errors import PlanError, ProjectError
from compiler_gym.tools.tune import (
    JOURNAL,
    LAYOUT,
    NO_UNWINDING,
    BinaryPlan,
    Found,
    Journal,
    Meaning,
    Measure,
    SizeSearch,
    SourceFile,
    State,
    TuningSubject,
    choose_layout,
    choose_unwinding,
    list_sources,
    require_among,
    require_honoured,
    require_nothing_in,
    tune_by_runs,
)
from compiler_gym.tools.tune.builds import Binary, Unit
from compiler_gym.tools.tune.gcc.fast import FAST_RIVALS, GccFastDecisions, require_fast
from compiler_gym.tools.tune.gcc.flags import SECTIONS, choices, find_option, possible
from compiler_gym.tools.tune.gcc.making import (
    BASE,
    FASTEST,
    LEFT_OUT,
    SMALLEST,
    GccMaker,
    Tools,
    list_flags,
)
from compiler_gym.tools.tune.gcc.meanings import meaning
from compiler_gym.tools.tune.gcc.script import write_script
from compiler_gym.tools.tune.gcc.size import LINKER, Flags, order_flags, split_flags

__all__ = ["FAIR", "GccTuner"]

FAIR = "gcc -Os -flto, --gc-sections"
_RIVALS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "gcc -Os": ((BASE,), ()),
    "gcc -Os -flto": ((BASE, "-flto"), ()),
    FAIR: ((BASE, *order_flags(("-flto", *SECTIONS))), LINKER),
}
"""Compiler and linker flags of each rival, the fair rival last."""
_STATE = re.compile(r"^\s*(-f\S+)\s+\[(enabled|disabled)\]", re.MULTILINE)
_DROPPED = ("-flto", "-fno-lto", "-ffat-lto-objects", "-fuse-ld", "-fuse-linker")
"""Flags of the build to omit, because the plan decides them."""
_DECIDING = tuple(flag for flag in LEFT_OUT if flag not in _DROPPED)


class GccTuner:
    """Tunes one linked file at a time, with one installed GCC."""

    takes_program = True

    def __init__(self, gcc: str = "gcc") -> None:
        self._tools = Tools.of(gcc)

    @property
    def version(self) -> str:
        """The name of the compiler's executable, and the version it reports."""
        return f"{Path(self._tools.gcc).name} {self._spec.version.partition(' ')[2]}"

    @property
    def compilers(self) -> tuple[Sequence[str], Sequence[str]]:
        """The commands for C and for C++."""
        assert self._spec.version
        return [self._tools.gcc], [self._tools.gxx]

    def tune(self, subject: TuningSubject) -> Found:
        """Return the smallest or fastest binary among those of the search and the rivals."""
        binary = subject.binary
        require_honoured(binary, _list_refused)
        maker = GccMaker(self._tools, binary, subject.folder)
        is_by_size = subject.goal.counts_bytes
        if not is_by_size:
            subject.allowance.begin()
        decisions = GccFastDecisions(maker, find_decided(binary) - {find_option(BASE)})
        if subject.profile is not None:
            decisions.read_profile(subject.profile, [])
        rival_flags = _RIVALS if is_by_size else FAST_RIVALS
        rivals = _rivals(maker, rival_flags, subject.jobs)
        subject.watch_rivals(rivals)
        if is_by_size:
            result = self._small(subject, maker, rivals)
        else:
            result = tune_by_runs(decisions, subject, rivals)
        plain_flags, _ = next(iter(rival_flags.values()))
        return _with_functions(result, maker, plain_flags, subject)

    def _small(self, subject: TuningSubject, maker: GccMaker, rivals: Mapping[str, Path]) -> Found:
        binary = subject.binary
        moves, parameters = choices(self._spec.options, self._states(), find_decided(binary))
        sources = list_sources(binary, binary.units)
        search = SizeSearch(
            Flags(
                maker,
                moves,
                parameters,
                subject.measure,
                layout=_list_layout_flags(subject, self.compilers),
                seed=subject.seed,
                start=_start(subject),
            ),
            subject.allowance,
            Journal(
                subject.folder / JOURNAL,
                self._key(binary, sources, subject.measure),
                require_possible=lambda flags: self.require_possible(
                    BinaryPlan(
                        binary.name,
                        SMALLEST,
                        flags=split_flags(flags)[0],
                        linker=split_flags(flags)[1],
                    )
                ),
            ),
            subject.watch,
            subject.jobs,
        )
        best = search.run()
        name = min(_RIVALS, key=lambda rival: subject.measure.of(rivals[rival]))
        plan, path, gains = _plan_of_rival(name, binary, sources), rivals[name], dict[str, int]()
        if best.cost < subject.measure.of(path):
            flags, linker = split_flags(best.actions)
            plan = BinaryPlan(binary.name, SMALLEST, flags=flags, linker=linker, sources=sources)
            path = maker.make_plan("tuned", plan, jobs=subject.jobs)
            gains = dict(search.gains)
        return Found(
            plan, path, rivals, search.first, search.count, gains=gains,
            rival_plan=_plan_of_rival(FAIR, binary, sources),
        )  # fmt: skip

    def build(self, binary: Binary, plan: BinaryPlan, folder: Path, *, jobs: int) -> Path:
        """Return the stripped build of `binary` with `plan`; raise `PlanError` if it fails."""
        self.require_possible(plan)
        maker = GccMaker(self._tools, binary, folder)
        try:
            return maker.make_plan("built", plan, jobs=jobs)
        except ProjectError as error:
            raise PlanError(f"{self.version} cannot build {plan.name}: {error}") from error
        finally:
            maker.forget([])

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` for the first decision of `plan` that this tuner never makes."""
        _require_ours(plan)
        if plan.method == FASTEST:
            require_fast(plan)
            return
        require_nothing_in(plan, "scope", "profile", "after", "after_profile")
        require_among(plan, "flag", plan.flags, {*possible(), NO_UNWINDING})
        require_among(plan, "linker option", plan.linker, (*LINKER, *LAYOUT))

    def steps(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return an empty tuple: GCC's passes are chosen with flags."""
        return ()

    def with_steps(self, plan: BinaryPlan, steps: Sequence[str]) -> BinaryPlan:
        """Raise `PlanError`: there are no passes to choose."""
        raise PlanError(f"{self.version} has no passes to choose: {', '.join(steps)}; use flags")

    def actions(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return an empty tuple: an environment action sets all options at once."""
        return ()

    def meaning(self, decision: str) -> Meaning:
        """Return a description of `decision`, mostly from this GCC's help."""
        return meaning(self._tools.gcc, decision)

    def plain_words(self, plan: BinaryPlan) -> Sequence[str]:
        """Return GCC's command for `plan`."""
        self.require_possible(plan)
        if plan.profile:
            raise PlanError(
                f"the plan of {plan.name} has a profile, which matches only its own sources; use "
                "the reproduce.sh next to the plan"
            )
        return [self._tools.gcc, *list_flags(plan), *plan.linker, "-s"]

    def script(self, binary: Binary, plan: BinaryPlan) -> str:
        """Return a shell script that builds the same bytes with GCC's own commands."""
        self.require_possible(plan)
        return write_script(self._tools, binary, plan)

    @property
    def _spec(self) -> GccSpec:
        return get_spec(self._tools.gcc)

    def _states(self) -> dict[str, str]:
        """Return the state of each flag at the base level; repeating it would change nothing."""
        listing = self._spec.gcc("-Q", BASE, "--help=optimizers")
        return dict(_STATE.findall(listing))

    def _key(self, binary: Binary, sources: Sequence[SourceFile], measure: Measure) -> str:
        facts = [self._spec.identity, measure, repr(binary.command.words)]
        facts += [repr((unit.command.words, source)) for unit, source in
                  zip(binary.units, sources, strict=True)]  # fmt: skip
        return hashlib.sha256("\0".join(facts).encode()).hexdigest()


def _rivals(
    maker: GccMaker, rival_flags: Mapping[str, tuple[Sequence[str], Sequence[str]]], jobs: int
) -> dict[str, Path]:
    project_build = {"your flags": maker.strip_file("own", maker.folder / "original")}
    return project_build | {
        name: maker.make(f"rival-{number}", flags, linker, jobs=jobs)
        for number, (name, (flags, linker)) in enumerate(rival_flags.items())
    }


def _plan_of_rival(name: str, binary: Binary, sources: tuple[SourceFile, ...]) -> BinaryPlan:
    """Return the plan for a rival of a search for size."""
    (_, *flags), linker = _RIVALS[name]
    return BinaryPlan(
        binary.name, SMALLEST, flags=tuple(flags), linker=tuple(linker), sources=sources
    )


def _with_functions(
    result: Found, maker: GccMaker, plain_flags: Sequence[str], subject: TuningSubject
) -> Found:
    """Return `result` with the objects needed to report the size and source of each function.

    Deletes all objects except those compiled with `plain_flags`.
    """
    fair = list(result.rivals.values())[-1]
    assert result.rival_plan is not None
    plans = {fair: result.rival_plan, result.path: result.plan}
    if not subject.allowance.is_stopped():
        for path, plan in plans.items():
            maker.keep_symbols(path.parent.name, plan, jobs=subject.jobs)
    maker.forget([plain_flags])
    objects = maker.objects(plain_flags)
    return replace(
        result, objects={subject.binary.name_unit(unit): path for unit, path in objects.items()}
    )


def _list_layout_flags(
    subject: TuningSubject, compilers: tuple[Sequence[str], Sequence[str]]
) -> list[str]:
    binary = subject.binary
    compiler = compilers[binary.is_cxx]
    flags = choose_layout(binary, compiler=compiler, old_loaders=subject.old_loaders)
    return flags + choose_unwinding(binary, is_dispensable=subject.no_unwind_tables)


def _start(subject: TuningSubject) -> State | None:
    start = subject.start
    if start is None:
        return None
    linker = (flag for flag in start.linker if flag not in LINKER)
    return order_flags((*SECTIONS, *start.flags, *linker))


def find_decided(binary: Binary) -> set[str]:
    """Return the options that the project sets itself, and that tuning must not change."""
    return {find_option(flag) for unit in binary.units for flag in unit.command.flags}


def _list_refused(unit: Unit) -> list[str]:
    return [word for word in unit.command.words if word.startswith(_DECIDING)]


def _require_ours(plan: BinaryPlan) -> None:
    if plan.method not in (SMALLEST, FASTEST) or plan.passes or plan.options:
        raise PlanError(
            f"the plan of {plan.name} has the method {plan.method!r}, but GCC needs {SMALLEST!r} "
            f"or {FASTEST!r} with flags only; tune again with this compiler"
        )
