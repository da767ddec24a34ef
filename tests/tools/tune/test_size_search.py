# SPDX-License-Identifier: MIT
"""The search for size, with decisions whose bytes are a sum."""

import math
import random
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.tune import Allowance, Journal, SizeSearch, State, Tried, Work

BYTES = {"start": 0, "good": -10, "better": -20, "bad": 5, "idle": 0, "broken": math.inf}


MOVES = tuple("abcdefgh")


class Words:
    """Every word changes the bytes by what it is worth; `good` does nothing beside `better`."""

    def __init__(self, *moves: str) -> None:
        self.moves = moves
        self.measured: list[State] = []

    def measuring(self) -> AbstractContextManager[object]:
        return nullcontext()

    def stages(self) -> Iterable[tuple[str, Work]]:
        yield "start", partial(SizeSearch.try_all, states=[("start",)])
        yield "moves", partial(SizeSearch.try_moves, moves=self.moves, apply=_added)
        yield "dropping", SizeSearch.drop

    def cost(self, state: State) -> float:
        self.measured.append(state)
        return _bytes(state)

    def forget(self, keep: Collection[State]) -> None:
        self.kept = tuple(keep)

    def without(self, state: State) -> Mapping[str, State]:
        return {
            word: tuple(other for other in state if other != word)
            for word in state
            if word != "start"
        }

    def rank(self, tried: Tried) -> tuple[float, ...]:
        return tried.cost, len(tried.actions)


def _added(state: State, word: str) -> State:
    return tuple(sorted({*state, word}))


def _bytes(state: State) -> float:
    return 100 + sum(BYTES[word] for word in state if word != "good" or "better" not in state)


def search(folder: Path, words: Words, compilations: int = 100, jobs: int = 1) -> SizeSearch:
    journal = Journal(folder / "tried.jsonl", "key")
    return SizeSearch(words, Allowance(compilations=compilations), journal, jobs=jobs)


def test_only_helpful_decisions_are_kept(tmp_path: Path) -> None:
    found = search(tmp_path, Words("bad", "idle", "better", "broken"))
    assert found.run() == Tried(("better", "start"), 80)
    assert found.first == 100


def test_a_decision_that_saves_nothing_any_more_is_dropped(tmp_path: Path) -> None:
    words = Words("good", "bad", "bad", "bad", "better")
    assert search(tmp_path, words).run().actions == ("better", "start")
    assert ("better", "good", "start") in words.measured


def test_decisions_that_helped_a_worse_state_are_retried_from_the_best(tmp_path: Path) -> None:
    words = Words("good", "better")
    search(tmp_path, words).run()
    assert ("better", "good", "start") in words.measured


def test_nothing_is_measured_twice_or_without_allowance(tmp_path: Path) -> None:
    first = Words("bad", "good", "better", "idle")
    best = search(tmp_path, first, compilations=5).run()
    assert len(first.measured) == len(set(first.measured)) <= 5
    later = Words("bad", "good", "better", "idle")
    assert search(tmp_path, later, compilations=0).run() == best
    assert not later.measured


def test_an_interrupt_keeps_the_best(tmp_path: Path) -> None:
    found = search(tmp_path, Words("good", "bad", "idle", "broken", "better"))
    found.allowance = Allowance(compilations=100, is_stopped=lambda: found.count >= 2)
    assert found.run() == Tried(("good", "start"), 90)


def test_the_result_of_another_search_is_measured_once(tmp_path: Path) -> None:
    words = Words()
    found = search(tmp_path, words)
    for _ in range(2):
        found.keep("elsewhere", ("better",))
    assert (found.best, words.measured) == (Tried(("better",), 80), [("better",)])


def test_it_reports_each_decisions_gain_and_keeps_no_harmful_one(tmp_path: Path) -> None:
    words = Words()
    found = search(tmp_path, words)
    found.best = Tried(("bad", "better", "good", "start"), 85)
    found.journal.add("before", found.best)
    found.allowance = Allowance(compilations=100)
    assert found.run() == Tried(("better", "start"), 80)
    assert found.gains == {"better": 20}


def test_any_number_of_threads_tries_the_same(tmp_path: Path) -> None:
    moves = ("bad", "good", "better", "idle", "broken")
    tried: list[list[Tried]] = []
    for jobs in (1, 3):
        (tmp_path / str(jobs)).mkdir()
        found = search(tmp_path / str(jobs), Words(*moves), compilations=12, jobs=jobs)
        found.run()
        tried.append(list(found.journal.iterate_tried()))
    assert tried[0] == tried[1]


def test_pending_candidates_are_not_lost(tmp_path: Path) -> None:
    words = Words("bad", "good", "better", "idle", "broken")
    search(tmp_path, words).run()
    assert ("better", "start") in words.kept


class Odd(Words):
    """The bytes of a state follow from nothing: words help, harm and fail together."""

    def stages(self) -> Iterable[tuple[str, Work]]:
        yield from super().stages()
        for _ in range(3):
            yield "moves again", partial(SizeSearch.try_moves, moves=self.moves, apply=_toggled)
            yield "dropping", SizeSearch.drop

    def cost(self, state: State) -> float:
        self.measured.append(state)
        number = random.Random(f"{self.moves} {state}").randrange(100)
        return math.inf if number > 90 else float(number // 5)


def _toggled(state: State, word: str) -> State:
    return tuple(sorted({*state} ^ {word}))


@given(st.permutations(MOVES), st.integers(1, 40), st.integers(0, 40), st.sampled_from([1, 3]))
def test_a_larger_budget_goes_on_where_a_smaller_one_ends_and_is_never_worse(
    moves: list[str], budget: int, more: int, jobs: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, longer = (
            search(Path(folder) / name, Odd(*moves), count, jobs)
            for name, count in (("first", budget), ("longer", budget + more))
        )
        best, better = first.run(), longer.run()
    tried, also_tried = list(first.journal.iterate_tried()), list(longer.journal.iterate_tried())
    assert also_tried[: len(tried)] == tried
    assert better.cost <= best.cost == min(each.cost for each in tried)


@given(st.permutations(MOVES), st.integers(1, 40), st.integers(1, 40))
def test_a_stopped_search_is_never_better_than_a_longer_one(
    moves: list[str], after: int, more: int
) -> None:
    costs: list[float] = []
    for end in (after, after + more):
        words = Odd(*moves)
        with tempfile.TemporaryDirectory() as folder:
            journal = Journal(Path(folder) / "tried.jsonl", "key")
            allowance = Allowance(
                seconds=1000, is_stopped=lambda words=words, end=end: len(words.measured) >= end
            )
            costs.append(SizeSearch(words, allowance, journal).run().cost)
    assert costs[1] <= costs[0]


@given(st.integers(0, 100), st.lists(st.integers(0, 60), min_size=1, max_size=5))
def test_no_more_is_taken_than_there_is(total: int, wishes: list[int]) -> None:
    allowance = Allowance(compilations=total)
    taken = 0
    for wish in wishes:
        taken += len(allowance.take([None] * wish))
        assert allowance.compilations_left == total - taken
    assert taken <= total
    assert allowance.is_over == (taken == total)


def test_time_runs_from_the_beginning_of_the_work() -> None:
    allowance = Allowance(seconds=0.05)
    time.sleep(0.06)
    assert not allowance.is_over
    allowance.begin()
    time.sleep(0.06)
    assert allowance.is_over
    assert allowance.seconds_left == 0


def test_the_caller_can_stop_it() -> None:
    stopped = False
    allowance = Allowance(seconds=100, is_stopped=lambda: stopped)
    assert not allowance.is_over
    stopped = True
    assert allowance.is_over


@pytest.mark.parametrize("bounds", [{}, {"seconds": -1}, {"compilations": -1}])
def test_bounds_without_sense_are_refused(bounds: dict[str, int]) -> None:
    with pytest.raises(InvalidParameterError, match=r"needs a limit|at least 0"):
        Allowance(seconds=bounds.get("seconds"), compilations=bounds.get("compilations"))


def test_tried_candidates_are_read_back(tmp_path: Path) -> None:
    first = Journal(tmp_path / "tried.jsonl", "key")
    first.add("stage", Tried(("a", "b"), 12.0))
    first.add("stage", Tried((), math.inf))
    again = Journal(tmp_path / "tried.jsonl", "key")
    assert list(again.iterate_tried()) == [Tried(("a", "b"), 12.0), Tried((), math.inf)]
    assert again.cost(("a", "b")) == 12.0
    assert again.cost(("b",)) is None


def test_another_program_has_its_own_journal(tmp_path: Path) -> None:
    Journal(tmp_path / "tried.jsonl", "one").add("stage", Tried(("a",), 1.0))
    assert list(Journal(tmp_path / "tried.jsonl", "two").iterate_tried()) == []


def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "tried.jsonl"
    journal = Journal(path, "key")
    journal.add("stage", Tried(("a",), 1.0))
    journal.add("stage", Tried(("b",), 2.0))
    path.write_bytes(path.read_bytes()[:-5])
    again = Journal(path, "key")
    assert list(again.iterate_tried()) == [Tried(("a",), 1.0)]
    again.add("stage", Tried(("c",), 3.0))
    assert len(list(Journal(path, "key").iterate_tried())) == 2
