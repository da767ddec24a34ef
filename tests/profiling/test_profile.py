# SPDX-License-Identifier: MIT
import json

from compiler_gym.profiling import Layer, Profile, ProfileRow, Span


def test_every_nanosecond_is_in_one_layer(known: Profile) -> None:
    assert known.layers() == {
        Layer.PYTHON: 10 + 35,
        Layer.TRANSPORT: 15,
        Layer.WORKER: 5,
        Layer.ACTIONS: 15,
        Layer.PASSES: 5 + 15,
        Layer.ANALYSES: 15,
        Layer.OBSERVATIONS: 20 + 5,
    }
    assert sum(known.layers().values()) + known.other_nanoseconds == known.nanoseconds
    assert known.other_nanoseconds == 10


def test_a_row_has_what_is_within_it_but_for_its_own_kind(known: Profile) -> None:
    assert known.rows(Layer.PASSES) == [ProfileRow("fold;all", 2, 30), ProfileRow("manager", 1, 5)]
    assert known.rows(Layer.ANALYSES) == [ProfileRow("dominators", 3, 15)]
    assert known.rows(Layer.OBSERVATIONS) == [ProfileRow("size", 2, 25)]
    assert known.rows(Layer.ACTIONS) == [ProfileRow("fold", 1, 50)]
    assert known.rows(Layer.PROCESSES) == []
    assert known.rows(Layer.ANALYSES)[0].mean_nanoseconds == 5


def test_rows_of_a_layer_count_nothing_twice() -> None:
    inner = Span(Layer.PASSES, "a", 30)
    between = Span(Layer.ANALYSES, "asks", 40, parts=(inner,))
    outer = Span(Layer.PASSES, "a", 100, parts=(between,))
    assert Profile("", (), 100, (outer,)).rows(Layer.PASSES) == [ProfileRow("a", 2, 100)]


def test_no_pass_counts_with_telling_what_it_changed() -> None:
    asks = Span(Layer.ANALYSES, "asks", 20, parts=(Span(Layer.DETECTION, "compare", 5),))
    fold = Span(Layer.PASSES, "fold", 100, parts=(asks, Span(Layer.DETECTION, "compare", 10)))
    whole = Profile("", (), 100, (Span(Layer.ACTIONS, "fold", 100, parts=(fold,)),))
    assert whole.rows(Layer.PASSES) == [ProfileRow("fold", 1, 85)]
    assert whole.rows(Layer.ANALYSES) == [ProfileRow("asks", 1, 15)]
    assert whole.rows(Layer.DETECTION) == [ProfileRow("compare", 2, 15)]
    assert whole.rows(Layer.ACTIONS) == [ProfileRow("fold", 1, 100)]


def test_parts_that_seem_longer_than_the_whole_leave_nothing_and_not_less() -> None:
    assert (
        Span(Layer.WORKER, "worker", 10, parts=(Span(Layer.PASSES, "a", 12),)).own_nanoseconds == 0
    )


def test_as_json_it_has_the_same_numbers(known: Profile) -> None:
    plain = json.loads(json.dumps(known.to_json()))
    assert plain["nanoseconds"] == 150
    assert sum(plain["layers"].values()) == 150
    assert plain["rows"]["passes"][0] == {"name": "fold;all", "calls": 2, "nanoseconds": 30}
    assert plain["error"] is None
    assert plain["spans"][1]["parts"][0]["name"] == "request"
