# SPDX-License-Identifier: MIT
"""A stranger's function decides, and whatever it does otherwise is a typed error."""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import (
    PolicyAnswerError,
    PolicyCrashedError,
    PolicyLoadError,
    PolicyTimeoutError,
)
from compiler_gym.sandbox import use_sandbox
from compiler_gym_inline.llvm.observations import INLINE_FEATURES
from compiler_gym_inline.llvm.policies import heuristic_policy, heuristics, interface_text

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")

CALL = np.arange(len(INLINE_FEATURES), dtype=np.int64)
BEGIN = '#include "inline_call.h"\nint should_inline(const struct inline_call* call) '


@pytest.fixture
def env() -> Iterator[CompilerEnv]:
    with compiler_gym.make("llvm-inline-v0", benchmark="cbench-v1/bitcount") as made:
        made.reset()
        yield made


def written(folder: Path, body: str, begin: str = BEGIN) -> Path:
    path = folder / "rule.c"
    path.write_text(begin + body)
    return path


def decided(path: Path) -> bool:
    with heuristic_policy(path).compilation() as decide:
        return decide(CALL)


def test_llvms_own_choice_in_c_is_llvms(env: CompilerEnv, tmp_path: Path) -> None:
    policy = heuristic_policy(written(tmp_path, "{ return call->inlining_default; }"))
    policy(env)
    assert env.observation["ObjectTextSizeBytes"] == env.observation["ObjectTextSizeOz"]
    assert policy.asked == policy.agreed == len(env.actions) > 0
    assert not [thread for thread in threading.enumerate() if thread.name == "heuristic"]


def test_every_feature_has_its_name_and_place(tmp_path: Path) -> None:
    tests = " && ".join(f"call->{name} == {at}" for at, name in enumerate(INLINE_FEATURES))
    assert decided(written(tmp_path, f"{{ return {tests}; }}"))
    assert interface_text().count("int64_t ") == len(INLINE_FEATURES) == 39


@pytest.mark.parametrize("sandbox", [None, "limits"])
@pytest.mark.parametrize("flags", [[], ["-Wl,-soname,another.so.1"]], ids=["plain", "soname"])
def test_a_shared_object_is_a_heuristic_too(
    tmp_path: Path, flags: list[str], sandbox: str | None
) -> None:
    source = "int should_inline(const long* call) { return call[1] == 1; }"
    (tmp_path / "any.c").write_text(source)
    command = ["clang-22", "-shared", "-fPIC", "any.c", "-o", "rule.so", *flags]
    subprocess.run(command, cwd=tmp_path, check=True)
    with use_sandbox(sandbox):
        assert decided(tmp_path / "rule.so")


def test_a_shared_object_without_the_function_is_refused(tmp_path: Path) -> None:
    (tmp_path / "any.c").write_text("int another;")
    command = ["clang-22", "-shared", "-fPIC", "any.c", "-o", "rule.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    with pytest.raises(PolicyLoadError, match="undefined symbol: should_inline"):
        heuristic_policy(tmp_path / "rule.so")
    (tmp_path / "rule.so").write_text("not one")
    with pytest.raises(PolicyLoadError, match=r"invalid ELF header|file too short"):
        heuristic_policy(tmp_path / "rule.so")


def test_macros_are_constants_to_search_for(tmp_path: Path) -> None:
    path = written(tmp_path, "{ return call->sroa_losses < LIMIT; }")
    for limit in (1, 2):
        with heuristic_policy(path, {"LIMIT": str(limit)}).compilation() as decide:
            assert decide(CALL) == (limit == 2)


def test_memory_of_a_heuristic_ends_with_the_compilation(tmp_path: Path) -> None:
    path = written(tmp_path, "{ static int before; return before++ > 0; }")
    policy = heuristic_policy(path)
    for _ in range(2):
        with policy.compilation() as decide:
            assert [decide(CALL), decide(CALL)] == [False, True]


def test_output_of_a_heuristic_is_not_an_answer(tmp_path: Path) -> None:
    body = '{ puts("11111111222222223333333"); fflush(stdout); return 1; }'
    assert decided(written(tmp_path, body, "#include <stdio.h>\n" + BEGIN))


@pytest.mark.parametrize(
    ("body", "begin", "error", "words"),
    [
        ("{ return *(volatile int*)0; }", BEGIN, PolicyCrashedError, "by signal SIGSEGV"),
        (
            '{ fprintf(stderr, "I give up"); exit(3); }',
            "#include <stdio.h>\n#include <stdlib.h>\n" + BEGIN,
            PolicyCrashedError,
            "ended with status 3: I give up",
        ),
        ("{ for (;;) { } }", BEGIN, PolicyTimeoutError, "more than 1 s for one decision"),
        ("{ return 7; }", BEGIN, PolicyAnswerError, "answered 7; return 1 to inline"),
        (
            "{ return 0; }",
            '#include "inline_call.h"\nint should_inlin(const struct inline_call* call) ',
            PolicyLoadError,
            "undefined reference to `should_inline'",
        ),
        ("{ exit(0); }", "#include <stdlib.h>\n" + BEGIN, PolicyCrashedError, "with status 0"),
        (
            "{ return 0; }",
            '#include "inline_call.h"\nvoid should_inline(long cost) ',
            PolicyLoadError,
            "conflicting types for 'should_inline'",
        ),
        ("{ return call->colour; }", BEGIN, PolicyLoadError, "no member named 'colour'"),
    ],
    ids=["crash", "exit", "loop", "answer", "symbol", "leaves", "type", "feature"],
)
def test_an_error_of_a_heuristic_is_a_typed_error(
    tmp_path: Path, body: str, begin: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        decided(written(tmp_path, body, begin))
    assert not [thread for thread in threading.enumerate() if thread.name == "heuristic"]


def test_one_that_refuses_to_be_interrupted_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heuristics, "_SLACK", 0.5)
    path = written(
        tmp_path, "{ signal(SIGALRM, SIG_IGN); for (;;) { } }", "#include <signal.h>\n" + BEGIN
    )
    with pytest.raises(PolicyTimeoutError, match="more than 1 s"):
        decided(path)
    assert not [thread for thread in threading.enumerate() if thread.name == "heuristic"]


def test_it_sees_no_file_of_the_users(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    body = f'{{ return fopen("{secret}", "r") != 0; }}'
    assert not decided(written(tmp_path, body, "#include <stdio.h>\n" + BEGIN))


def test_a_file_that_is_not_a_heuristic_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyLoadError, match="No such file"):
        heuristic_policy(tmp_path / "rule.c")
    with pytest.raises(PolicyLoadError, match=r"its name must end with \.c or \.so"):
        heuristic_policy(tmp_path / "rule.txt")
