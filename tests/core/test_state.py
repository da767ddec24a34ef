# SPDX-License-Identifier: MIT
"""States, and files of states."""

import csv
import functools
import http.server
import io
import json
import pickle
import sys
import threading
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym import CompilerEnvState, CompilerEnvStateReader, CompilerEnvStateWriter
from compiler_gym.errors import DownloadFailed, StateFileError

STATES = [
    CompilerEnvState("cbench-v1/qsort", "opt -passes='a,b' input.bc -o output.bc", 1.5, 0.25),
    CompilerEnvState(
        "generator://csmith-v0/3?goal=speed", 'say "hi",\nthere', 0.0, None, "Passes", "Cost",
        "llvm-v0", "speed", "1.0", "22.1.8", "ab" * 16,
    ),
]  # fmt: skip
HEAD = "benchmark,reward,walltime,commandline\n"


def written(states: list[CompilerEnvState], **options: object) -> str:
    file = io.StringIO()
    writer = CompilerEnvStateWriter(file, **options)  # type: ignore[arg-type]  # varied by the tests
    for state in states:
        writer.write_state(state)
    return file.getvalue()


def read(text: str) -> list[CompilerEnvState]:
    return list(CompilerEnvStateReader(io.StringIO(text)))


def test_csv_has_the_columns_of_0_2_5() -> None:
    assert written(STATES[:1]) == (
        HEAD + "benchmark://cbench-v1/qsort,0.25,1.5,\"opt -passes='a,b' input.bc -o output.bc\"\n"
    )
    assert written(STATES[:1], header=False).startswith("benchmark://cbench-v1/qsort,")


def test_csv_comes_back_with_what_csv_holds() -> None:
    assert read(written(STATES)) == STATES
    assert read(written(STATES, header=False)) == STATES
    assert read(written(STATES))[1].walltime == 0.0


def test_json_lines_come_back_whole() -> None:
    back = read(written(STATES, format="jsonl"))
    for field in fields(CompilerEnvState):
        assert [getattr(s, field.name) for s in back] == [getattr(s, field.name) for s in STATES]


def test_the_name_of_the_file_chooses_the_format(tmp_path: Path) -> None:
    for name, first in (("a.csv", "b"), ("a.jsonl", "{")):
        with CompilerEnvStateWriter((tmp_path / name).open("w", encoding="utf-8")) as writer:
            writer.write_state(STATES[0], flush=True)
            assert (tmp_path / name).read_text().startswith(first)
        assert writer.f.closed


def test_columns_are_known_by_their_names() -> None:
    text = "commandline,extra,benchmark\nopt input.bc,7,cbench-v1/sha\n"
    (state,) = read(text)
    assert (state.benchmark, state.commandline, state.reward) == (
        "benchmark://cbench-v1/sha", "opt input.bc", None,
    )  # fmt: skip


def test_windows_line_ends_and_marks_are_read() -> None:
    assert read("\ufeff" + HEAD.strip() + "\r\ncbench-v1/sha,None,2,\r\n")[0].reward is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + "cbench-v1/sha,1,2\n",
            "line 2 is damaged or cut short: it has 3 columns instead of 4",
        ),
        (HEAD + 'cbench-v1/sha,1,2,"opt -pass', "line 2 is damaged or cut short: unexpected end"),
        (HEAD + "cbench-v1/sha,1,2,x\ncbench-v1/s", "line 3 is damaged or cut short"),
        (HEAD + "cbench-v1/sha,one,2,x\n", "line 2 is not a state: could not convert"),
        (HEAD + "cbench-v1/sha,1,-2,x\n", r"line 2 is not a state: walltime must be .* \(got -2"),
        (HEAD + "cbench-v1/sha,1,nan,x\n", r"line 2 is not a state: walltime must be .* \(got nan"),
        (HEAD + ",1,2,x\n", "line 2 is not a state"),
        ("benchmark,reward\n", "line 1 has no column commandline"),
        ("a,b,c\n1,2,3\n", "line 1 is not a file of states: its columns must be benchmark"),
        ('{"benchmark": "cbench-v1/sha", "comm', "line 1 is damaged or cut short"),
        ('{"commandline": "x"}\n', "line 1 is not a state"),
        (
            '{"benchmark": "cbench-v1/sha", "goal": 7}\n',
            "line 1 is not a state: goal must be text \\(got 7",
        ),
        (
            '{"benchmark": "cbench-v1/sha"}\n[1]\n',
            "line 2 is not a state: it must be a JSON object",
        ),
        ('{"benchmark": "cbench-v1/sha", "reward": %s}\n' % ("9" * 5000), "line 1 is damaged"),
        ('{"benchmark": "cbench-v1/sha", "reward": %s.5}\n' % ("9" * 5000), "is too large"),
        ('{"benchmark": "cbench-v1/sha", "reward": %s}\n' % ("9" * 400), "reward is too large"),
        (HEAD + f"cbench-v1/sha,{'9' * 5000},2,x\n", "line 2 is not a state: reward is too large"),
        (HEAD + "cbench-v1/sha,1,inf,x\n", "line 2 is not a state: walltime must be .* \\(got inf"),
        ('{"benchmark": "cbench-v1/sha", "reward": true}\n', "reward must be a number"),
        ('{"benchmark": "cbench-v1/sha", "reward": [1]}\n', "reward must be a number"),
        ('{"benchmark": ["a"]}\n', "benchmark must be text"),
        ('{"benchmark": "a/b", "commandline": "\\ud800"}\n', "line 1 is not a state"),
        ('{"benchmark": ' * 100_000, "line 1 is damaged or cut short"),
        ('{"benchmark": ' + "[" * 100_000, "line 1 is damaged or cut short"),
        ("benchmark,benchmark,commandline\na/b,c/d,x\n", "line 1 has a column twice"),
    ],
)
def test_a_damaged_file_says_where(text: str, message: str) -> None:
    with pytest.raises(StateFileError, match=message):
        read(text)


FOUND: dict[str, Any] = {
    "env": "llvm-v0",
    "algorithm": "local",
    "results": [
        {"benchmark": "cbench-v1/sha", "commandline": "opt -O1", "reward": 0.5, "seconds": 9.0,
         "action_space": "Passes", "reward_space": "Cost", "actions": [1], "action_names": ["a"]},
        {"benchmark": "cbench-v1/qsort", "commandline": "", "reward": 0.0},
    ],
}  # fmt: skip


def test_the_output_of_a_search_is_read_as_its_states() -> None:
    assert read(json.dumps(FOUND, indent=2)) == [
        CompilerEnvState("cbench-v1/sha", "opt -O1", 0.0, 0.5, "Passes", "Cost", "llvm-v0"),
        CompilerEnvState("cbench-v1/qsort", "", 0.0, 0.0, environment="llvm-v0"),
    ]
    (first, _) = read(json.dumps(FOUND, indent=2))
    assert (first.action_space, first.reward_space, first.environment) == (
        "Passes", "Cost", "llvm-v0",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {**FOUND, "results": {}},
            r"not a file of states.*search --output.*env, algorithm, results",
        ),
        ({**FOUND, "results": [1]}, "result 1 is not a state: it must be a JSON object"),
        ({**FOUND, "results": [{"reward": 1.0}]}, "result 1 is not a state: .*needs a benchmark"),
        ({"a": 1}, r"not a file of states.*got a JSON object with a\)$"),
    ],
)
def test_a_document_that_holds_no_results_says_what_is_read(
    document: dict[str, Any], message: str
) -> None:
    with pytest.raises(StateFileError, match=message):
        read(json.dumps(document, indent=2))


def test_a_document_that_was_cut_says_where() -> None:
    with pytest.raises(StateFileError, match="line 5 is damaged or cut short"):
        read("\n".join(json.dumps(FOUND, indent=2).splitlines()[:5]))


def test_rows_before_the_damage_are_returned() -> None:
    states = iter(CompilerEnvStateReader(io.StringIO(written(STATES) + "cut,sho")))
    assert [next(states), next(states)] == STATES
    with pytest.raises(StateFileError, match="line 5"):
        next(states)


def test_an_empty_file_holds_no_states() -> None:
    assert read("") == read(HEAD) == []


def test_a_file_that_is_not_a_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x80")
    with pytest.raises(StateFileError, match=r"a\.csv is not text"):
        list(CompilerEnvStateReader.read_paths([tmp_path / "a.csv"]))
    with pytest.raises(StateFileError, match=r"cannot read .*b\.csv: No such file"):
        list(CompilerEnvStateReader.read_paths([tmp_path / "b.csv"]))


def test_names_that_no_file_can_have_are_refused(tmp_path: Path) -> None:
    for path in ("a\0b", "~no-such-user-here/a.csv", "", tmp_path, "x" * 10_000):
        with pytest.raises(StateFileError, match=r"cannot read"):
            list(CompilerEnvStateReader.read_paths([path]))


def test_a_closed_standard_input_and_files_of_bytes_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(StateFileError, match="returns bytes"):
        list(CompilerEnvStateReader(io.BytesIO(HEAD.encode())))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(StateFileError, match="standard input"):
        list(CompilerEnvStateReader.read_paths(["-"]))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "cp037"])
@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_another_encoding_is_refused(
    tmp_path: Path, encoding: str, name: Literal["csv", "jsonl"]
) -> None:
    path = tmp_path / f"a.{name}"
    path.write_bytes(written(STATES, format=name).encode(encoding))
    with pytest.raises(StateFileError):
        list(CompilerEnvStateReader.read_paths([path]))


def test_a_long_command_line_comes_back() -> None:
    long = CompilerEnvState("a/b", "sroa," * 100_000)
    limit = csv.field_size_limit()
    assert read(written([long])) == read(written([long], format="jsonl")) == [long]
    assert csv.field_size_limit() == limit


def test_a_line_separator_of_unicode_ends_no_line_of_json() -> None:
    text = '{"benchmark": "a/b", "commandline": "x\u2028y\x85z"}\n'
    assert [state.commandline for state in read(text)] == ["x\u2028y\x85z"]


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
_NAMES = st.sampled_from([field.name for field in fields(CompilerEnvState)]) | st.text()


def states_or_error(data: bytes, path: Path) -> list[CompilerEnvState]:
    path.write_bytes(data)
    try:
        return list(CompilerEnvStateReader.read_paths([path]))
    except StateFileError:
        return []


@given(st.dictionaries(_NAMES, _PLAIN | st.just("cbench-v1/sha")))
def test_any_object_is_a_state_or_an_error(tmp_path: Path, values: dict[str, Any]) -> None:
    line = json.dumps({"benchmark": "cbench-v1/sha", **values}).encode()
    for state in states_or_error(line, tmp_path / "a.jsonl"):
        assert read(written([state], format="jsonl"))[0].commandline == state.commandline


@given(st.binary(), st.sampled_from(["csv", "jsonl"]), st.integers(0, 400), st.integers(0, 50))
def test_any_damage_gives_states_or_an_error(
    tmp_path: Path, junk: bytes, kind: Literal["csv", "jsonl"], at: int, cut: int
) -> None:
    whole = written(STATES, format=kind).encode()
    states_or_error(whole[:at] + junk + whole[at + cut :], tmp_path / "a")
    states_or_error(junk, tmp_path / "b")


def test_paths_and_standard_input_are_read_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text(written(STATES[:1]))
    monkeypatch.setattr(sys, "stdin", io.StringIO(written(STATES[1:], format="jsonl")))
    assert list(CompilerEnvStateReader.read_paths([tmp_path / "a.csv", "-"])) == STATES


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Serve `tmp_path` and return its address."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    handler.log_message = lambda *args: None  # type: ignore[attr-defined]  # a partial takes it
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_addresses_are_read(address: str, tmp_path: Path) -> None:
    (tmp_path / "states.csv").write_text(written(STATES))
    assert list(CompilerEnvStateReader.read_paths([f"{address}/states.csv"])) == STATES
    with pytest.raises(DownloadFailed):
        list(CompilerEnvStateReader.read_paths([f"{address}/none.csv"]))


def test_states_are_one_if_they_are_the_same_point_of_the_search() -> None:
    state = STATES[0]
    assert state == replace(state, walltime=9.0, version="2") == replace(state, reward=0.250004)
    assert len({state, replace(state, walltime=9.0)}) == 1
    for other in ({"reward": 0.2501}, {"commandline": ""}, {"benchmark": "a/b"}):
        assert state != replace(state, **other)
    assert state != 5
    assert CompilerEnvState(**json.loads(STATES[1].json())).dict() == STATES[1].dict()


def test_a_state_without_a_program_is_none() -> None:
    with pytest.raises(ValueError, match="needs a benchmark: its URI is empty"):
        CompilerEnvState(benchmark="")


@pytest.mark.parametrize(
    "fields", [{"benchmark": 3}, {"commandline": 3}, {"walltime": "x"}, {"reward": "0.5"}]
)
def test_a_field_of_another_kind_is_not_a_state(fields: dict[str, Any]) -> None:
    (name,) = fields
    state_of: Any = CompilerEnvState
    with pytest.raises(ValueError, match=f"{name} must be "):
        state_of(**{"benchmark": "a/b", **fields})


@pytest.mark.parametrize("walltime", [-1.0, float("nan"), float("-inf"), float("inf")])
def test_time_does_not_run_backwards(walltime: float) -> None:
    with pytest.raises(ValueError, match=r"walltime must be a finite number >= 0"):
        CompilerEnvState(benchmark="a/b", walltime=walltime)


def test_a_reward_was_recorded_or_not() -> None:
    assert CompilerEnvState("a/b", reward=0.0).has_reward
    assert not CompilerEnvState("a/b").has_reward


def test_an_infinite_reward_is_itself() -> None:
    infinite = CompilerEnvState("a/b", reward=float("inf"))
    assert infinite == CompilerEnvState("a/b", reward=float("inf"))
    assert infinite != CompilerEnvState("a/b", reward=float("-inf"))
    assert infinite != CompilerEnvState("a/b", reward=1.0)


@settings(deadline=None)
@given(st.sampled_from(STATES), st.sampled_from(["pickle", "json"]))
def test_a_state_that_was_sent_is_whole(state: CompilerEnvState, way: str) -> None:
    back = (
        pickle.loads(pickle.dumps(state))
        if way == "pickle"
        else CompilerEnvState(**json.loads(state.json()))
    )
    assert back.dict() == state.dict()
    assert hash(back) == hash(state)


def test_a_reward_counts_where_both_states_have_one() -> None:
    known, other = CompilerEnvState("a/b", reward=1.0), CompilerEnvState("a/b", reward=2.0)
    unknown = CompilerEnvState("a/b")
    assert known == unknown
    assert unknown == known
    assert hash(known) == hash(unknown)
    assert known != other
    assert unknown != CompilerEnvState("a/c")


def test_a_state_of_nothing_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="a state needs a benchmark"):
        CompilerEnvState()
