# SPDX-License-Identifier: MIT
"""A compiler as tools: over every compiler, bounded, and never broken by what an agent sends."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.errors import InvalidParameterError, UnknownNameError
from compiler_gym.registration import compilers
from compiler_gym.testing import FakeEnv
from compiler_gym_agents import Toolbox
from tests.effort import examples


@pytest.fixture(scope="module")
def made() -> Iterator[Toolbox]:
    with Toolbox("llvm-v0", benchmark="cbench-v1/crc32", action_space="Marks") as toolbox:
        yield toolbox


@pytest.fixture
def toolbox(made: Toolbox) -> Toolbox:
    told(made, "reset")
    return made


@pytest.fixture
def fake() -> Iterator[Toolbox]:
    with Toolbox(FakeEnv(action_space="Behaviours", reward_space="number")) as toolbox:
        yield toolbox


def told(toolbox: Toolbox, tool: str, **arguments: Any) -> dict[str, Any]:
    text, is_error = toolbox.answer(tool, arguments)
    assert not is_error, text
    return json.loads(text)


def shown(toolbox: Toolbox, tool: str, **arguments: Any) -> str:
    text, is_error = toolbox.answer(tool, arguments)
    assert not is_error, text
    return text


def refused(toolbox: Toolbox, tool: str, arguments: Any) -> str:
    text, is_error = toolbox.answer(tool, arguments)
    assert is_error, text
    assert text.startswith("error (")
    assert "\nnext: " in text
    return text


def test_an_agent_optimises_a_program_with_tools_alone(toolbox: Toolbox) -> None:
    assert [tool.name for tool in toolbox.tools()] == [
        "describe", "actions", "decisions", "apply", "try_actions", "functions", "show",
        "explain", "measure", "undo", "reset", "submit",
    ]  # fmt: skip
    described = told(toolbox, "describe")
    assert described["program"] == "benchmark://cbench-v1/crc32"
    before = described["costs"]["IrInstructionCount"]
    tried = told(toolbox, "try_actions", actions=["sroa", "simplifycfg"])
    assert told(toolbox, "describe")["costs"]["IrInstructionCount"] == before
    applied = told(toolbox, "apply", actions=["sroa", "simplifycfg"])
    assert applied["costs"] == tried["costs"]
    assert applied["episode_reward"] == tried["reward"] > 0
    assert applied["before"] == {"IrInstructionCount": before}
    assert told(toolbox, "measure")["costs"]["IrInstructionCount"]["-Oz"] > 0
    assert told(toolbox, "undo")["applied"] == []
    assert "call:0=never" in shown(toolbox, "decisions", search="main -> usage")
    inlined = told(toolbox, "apply", actions=["call:4=inline", "-Oz"])
    assert inlined["applied"] == ["call:4=inline", "-Oz"]
    submitted = told(toolbox, "submit")
    assert submitted["commandline"].endswith("call:4=inline -Oz")
    assert toolbox.submitted == ""
    assert "was submitted" in refused(toolbox, "apply", {"actions": ["dce"]})
    assert told(toolbox, "reset")["applied"] == []
    assert toolbox.submitted is None


def test_code_is_shown_by_function_and_by_what_changed(toolbox: Toolbox) -> None:
    assert shown(toolbox, "functions").startswith("10 functions\nmain: ")
    assert "define internal i32 @update(" in shown(toolbox, "show", function="update")
    assert "update:" in shown(toolbox, "show", view="assembly", function="update")
    assert "did you mean update" in refused(toolbox, "show", {"function": "updat"})
    told(toolbox, "apply", actions=["sroa"])
    told(toolbox, "apply", actions=["call:11=inline", "always-inline"])
    since_start = shown(toolbox, "show", function="sum_stream", compare="start")
    assert "program sum_stream compared with start" in since_start
    assert "\n-" in since_start
    explained = shown(toolbox, "explain")
    assert "IrInstructionCount: " in explained
    assert "remark: passed by inline in sum_stream: 'update'" in explained
    told(toolbox, "apply", actions=["globaldce"])
    assert "update: removed" in shown(toolbox, "explain")
    assert "-define internal i32 @update(" in shown(
        toolbox, "show", function="update", compare="last"
    )
    assert "no function" in refused(toolbox, "show", {"function": "f", "compare": "last"})
    assert "did you mean last" in refused(toolbox, "show", {"compare": "lasst"})


def test_every_answer_is_bounded_and_says_how_to_see_more() -> None:
    with Toolbox("llvm-v0", benchmark="cbench-v1/crc32", longest_answer=1000) as toolbox:
        answer = toolbox.call("actions")
        assert "page=2" in answer
        second = toolbox.call("actions", {"page": 2})
        assert second.split("\n")[1:] != answer.split("\n")[1:]
        long = ["show", "describe", "measure", "explain", "functions"]
        answers = [toolbox.call(name) for name in long]
        for name in ("Programl", "ProgramlJson", "LexedIr", "Ir", "Bitcode", "Nonsense"):
            answers.append(toolbox.call("measure", {"names": [name]}))
            assert "IrInstructionCount" in answers[-1]
        answers.append(toolbox.call("apply", {"actions": ["no-such-pass" * 4_000]}))
        answers.append(toolbox.call("measure", {"names": ["Ir"] * 300}))
        answers.append(toolbox.call("apply", {"actions": ["sroa"] * 300}))
        assert all(len(text) < 1_100 for text in [answer, second, *answers])


@pytest.mark.parametrize(
    "sent",
    [
        ("no_such_tool", {}),
        ("close", {}),
        ("_state", {}),
        (None, {}),
        ("x" * 10_000_000, None),
        ("apply", "x" * 10_000_000),
        ("apply", {"actions": ["x" * 10_000_000]}),
        ("apply", {"actions": list(range(1_000_000))}),
        ("apply", "nonsense"),
        ("apply", "[" * 10_000),
        ("apply", {}),
        ("apply", {"actions": []}),
        ("apply", {"actions": ["no-such-pass"]}),
        ("apply", {"actions": ["sroa"], "session_id": "somebody-else"}),
        ("show", {"page": 10**6}),
        ("show", {"view": "../../etc/passwd"}),
        ("reset", {"benchmark": "file:///etc/passwd"}),
        ("reset", {"benchmark": "cbench-v1/qsort"}),
        ("undo", {"steps": -1}),
        ("explain", {}),
        ("measure", {"names": [{"a": 1}]}),
    ],
    ids=lambda call: str(call)[:60],  # it becomes a variable of the environment, which has a limit
)
def test_nonsense_is_an_answer_and_the_episode_goes_on(
    toolbox: Toolbox, sent: tuple[Any, Any]
) -> None:
    assert len(refused(toolbox, *sent)) < 2_000
    assert told(toolbox, "apply", actions=["sroa"])["applied"] == ["sroa"]


def test_a_crash_is_reported_and_taken_back(fake: Toolbox) -> None:
    told(fake, "apply", actions=["double"])
    for action, error in (("segfault", "WorkerCrashedError"), ("fatal", "CompilerFatalError")):
        assert error in told(fake, "try_actions", actions=[action])["failed"]
        crashed = told(fake, "apply", actions=["add", action])
        assert error in crashed["failed"]
        assert "reverted" in crashed["next"]
        assert crashed["applied"] == ["double"]
    assert told(fake, "measure", names=["number"]) == {"number": 14}


def test_the_end_of_the_compiler_can_be_undone(fake: Toolbox) -> None:
    assert "submit or undo" in told(fake, "apply", actions=["end"])["ended"]
    assert "has finished this episode" in refused(fake, "apply", {"actions": ["double"]})
    assert told(fake, "undo")["applied"] == []


def test_calls_of_several_threads_are_answered_one_after_another(toolbox: Toolbox) -> None:
    answers: list[tuple[str, bool]] = []
    passes = ["sroa", "dce", "adce", "gvn", "licm", "sccp"]

    def call(action: str) -> None:
        answers.append(toolbox.answer("apply", {"actions": [action]}))

    threads = [threading.Thread(target=call, args=(one,)) for one in passes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(is_error for _, is_error in answers)
    assert sorted(told(toolbox, "describe")["applied"]) == sorted(passes)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["describe", "actions", "apply", "try_actions", "show", "explain", "measure", "undo", "reset"]
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["actions", "page", "search", "view", "names", "steps", "compare"]),
    JSON | st.lists(st.sampled_from(["add", "double", "0", "number", "raise", "exit"])),
)


@given(sent=st.lists(st.tuples(NAMES, ARGUMENTS | JSON | st.text()), max_size=6))
@settings(max_examples=examples(60))
def test_any_request_leaves_the_episode_usable(
    fake: Toolbox, sent: list[tuple[str, object]]
) -> None:
    for name, arguments in sent:
        text, is_error = fake.answer(name, arguments)
        assert len(text) < 8_100
        assert is_error == text.startswith("error (")
        assert "defect" not in text
    assert told(fake, "reset")["applied"] == []
    assert told(fake, "apply", actions=["double"])["costs"] == {"number": 14}


def test_sessions_run_side_by_side() -> None:
    found: dict[str, list[str]] = {}

    def play(program: str) -> None:
        with Toolbox("llvm-v0", benchmark=f"cbench-v1/{program}") as toolbox:
            for action in ("sroa", "gvn"):
                told(toolbox, "apply", actions=[action])
            found[program] = [told(toolbox, "describe")["program"], toolbox.env.commandline()]

    names = ["crc32", "sha", "bitcount", "qsort"]
    threads = [threading.Thread(target=play, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: program for name, (program, _) in found.items()} == {
        name: f"benchmark://cbench-v1/{name}" for name in names
    }
    assert all(line.count("sroa") == line.count("gvn") == 1 for _, line in found.values())


def test_sessions_do_not_see_each_other() -> None:
    with (
        Toolbox("llvm-v0", benchmark="cbench-v1/crc32") as one,
        Toolbox("llvm-v0", benchmark="cbench-v1/crc32") as other,
    ):
        told(one, "apply", actions=["sroa"])
        assert told(other, "describe")["applied"] == []
        one.close()
        assert told(other, "apply", actions=["sroa"])["applied"] == ["sroa"]


def test_an_agent_chooses_among_datasets_if_no_program_was_given() -> None:
    with Toolbox("llvm-ic-v0") as toolbox:
        assert "benchmark://cbench-v1" in told(toolbox, "describe")["datasets"]
        chosen = told(toolbox, "reset", benchmark="cbench-v1/sha")
        assert chosen["program"] == "benchmark://cbench-v1/sha"
        for address in ("file:///etc/passwd", "/etc/passwd", "cbench-v1/no-such-program"):
            refused(toolbox, "reset", {"benchmark": address})
        assert told(toolbox, "describe")["program"] == "benchmark://cbench-v1/sha"


def test_an_unserviceable_request_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="at least 1000"):
        Toolbox("llvm-v0", longest_answer=10)
    with pytest.raises(UnknownNameError, match="no-such"):
        Toolbox("llvm-v0", benchmark="cbench-v1/no-such")


def test_actions_without_names_are_given_as_json() -> None:
    with (
        Toolbox("llvm-v0", benchmark="cbench-v1/crc32", action_space="Codegen") as one,
        Toolbox("llvm-v0", benchmark="cbench-v1/crc32", action_space="Codegen") as other,
    ):
        listed = shown(one, "actions")
        assert listed == shown(other, "actions")
        assert "an action is JSON, such as [" in listed
        assert "enable-machine-outliner" in listed
        assert "InvalidActionError" in refused(one, "apply", {"actions": [[7] * 3]})
        size = one.env.action_space.shape[0]
        applied = told(one, "apply", actions=[[0] * size])
        assert len(applied["applied"]) == 1


IDS = [one.environments[0].id for one in compilers().values()]


@pytest.mark.parametrize("id", IDS)
def test_every_compiler_has_its_tools(id: str) -> None:
    with Toolbox(id) as toolbox:
        described = told(toolbox, "describe")
        names = [tool.name for tool in toolbox.tools()]
        assert described["tools"] == names
        assert 8 <= len(names) <= 12
        listed = shown(toolbox, "actions")
        action = listed.split("\n")[1].partition(" (")[0].partition(": ")[0]
        tried = told(toolbox, "try_actions", actions=[action])
        applied = told(toolbox, "apply", actions=[action])
        assert applied["costs"] == tried["costs"]
        assert shown(toolbox, "show")
        assert "compared with start" in shown(toolbox, "show", compare="start")
        assert "changes" in shown(toolbox, "explain")
        assert "episode_reward" in told(toolbox, "measure")
        assert told(toolbox, "undo")["applied"] == []
        assert told(toolbox, "submit", answer="42")["submitted"]
        assert toolbox.submitted == "42"


def test_a_repeated_name_is_measured_once_and_many_names_are_refused(toolbox: Toolbox) -> None:
    looks: list[str] = []
    look = toolbox._bench.look  # pyright: ignore[reportPrivateUsage]

    def count(name: str) -> Any:
        looks.append(name)
        return look(name)

    toolbox._bench.look = count  # pyright: ignore[reportPrivateUsage]
    assert list(told(toolbox, "measure", names=["IrInstructionCount"] * 1_000)) == [
        "IrInstructionCount"
    ]
    assert looks == ["IrInstructionCount"]
    many, is_error = toolbox.answer("measure", {"names": [f"no{i}" for i in range(21)]})
    assert is_error
    assert "name at most 20" in many


def test_no_name_of_a_local_file_is_measured(toolbox: Toolbox) -> None:
    text, is_error = toolbox.answer("measure", {"names": ["BitcodeFile"]})
    assert is_error
    assert "/" not in text
    assert "file on this machine" in text
