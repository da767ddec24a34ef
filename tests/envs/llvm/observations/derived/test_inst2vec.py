# SPDX-License-Identifier: MIT
"""Statements of inst2vec, and vectors where there is a vocabulary."""

import json
import pickle
import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.observations.derived.inst2vec import VARIABLE, read_vocabulary
from compiler_gym.errors import ObservationError

MakeEnv = Callable[..., LlvmEnv]

# What clang printed for the same program when pointers had types, names and numbers left out.
TYPED = {
    "%3 = alloca i32, align 4": "<%ID> = alloca i32, align 4",
    "%4 = alloca ptr, align 8": "<%ID> = alloca { i32, i8* }*, align 8",
    "store i32 %0, ptr %3, align 4": "store i32 <%ID>, i32* <%ID>, align 4",
    "store ptr %1, ptr %4, align 8": "store { i32, i8* }* <%ID>, { i32, i8* }** <%ID>, align 8",
    "%5 = load i32, ptr %3, align 4": "<%ID> = load i32, i32* <%ID>, align 4",
    "%6 = srem i32 %5, 15": "<%ID> = srem i32 <%ID>, <INT>",
    "%7 = add nsw i32 %6, -1": "<%ID> = add nsw i32 <%ID>, <INT>",
    "%8 = icmp eq i32 %7, 0": "<%ID> = icmp eq i32 <%ID>, <INT>",
    "%9 = call i32 @puts(ptr @.s)": "<%ID> = call i32 <@ID>(i8* getelementptr inbounds "
    "([4 x i8], [4 x i8]* <@ID>, i32 <INT>, i32 <INT>))",
    "%10 = call i32 (ptr, ...) @printf(ptr @.s, i32 %7)": "<%ID> = call i32 (i8*, ...) <@ID>(i8* "
    "getelementptr inbounds ([4 x i8], [4 x i8]* <@ID>, i32 <INT>, i32 <INT>), i32 <%ID>)",
    "%11 = load ptr, ptr %4, align 8": "<%ID> = load { i32, i8* }*, { i32, i8* }** <%ID>, align 8",
    "%12 = getelementptr inbounds %struct.n, ptr %11, i32 0, i32 1": "<%ID> = getelementptr "
    "inbounds { i32, i8* }, { i32, i8* }* <%ID>, i32 <INT>, i32 <INT>",
    "%13 = load ptr, ptr %12, align 8": "<%ID> = load i32*, i32** <%ID>, align 8",
    "%14 = load i32, ptr %13, align 4": "<%ID> = load i32, i32* <%ID>, align 4",
    "%15 = sitofp i32 %14 to double": "<%ID> = sitofp i32 <%ID> to double",
    "%16 = fmul double %15, 2.5": "<%ID> = fmul double <%ID>, <FLOAT>",
    "%17 = fptosi double %16 to i32": "<%ID> = fptosi double <%ID> to i32",
    "br i1 %8, label %18, label %19": "br i1 <%ID>, label <%ID>, label <%ID>",
    "18:": "; <label>:<LABEL>: ; preds = <LABEL>",
    "br label %19": "br label <%ID>",
    "19:": "; <label>:<LABEL>: ; preds = <LABEL>, <LABEL>",
    "%20 = phi i32 [ 7, %18 ], [ %17, %2 ]": "<%ID> = phi i32 [ 7, <%ID> ], [ <%ID>, <%ID> ]",
    "%21 = zext i1 %8 to i32": "<%ID> = zext i1 <%ID> to i32",
    "ret i32 %20": "ret i32 <%ID>",
}


def test_statements_are_those_of_the_vocabulary_s_time() -> None:
    ir = (
        '@.s = private unnamed_addr constant [4 x i8] c"Fiz\\00", align 1\n'
        "%struct.n = type { i32, ptr }\n"
        "declare i32 @puts(ptr)\ndeclare i32 @printf(ptr, ...)\n"
        "define i32 @f(i32 %0, ptr %1) {\n" + "\n".join(TYPED) + "\n}\n"
    )
    found = _llvm.inst2vec_statements(_llvm.Module(ir.encode()))
    head = ["<@ID> = private unnamed_addr constant [4 x i8] <STRING>, align 1"]
    assert found == [*head, "define i32 <@ID>(i32, { i32, i8* }*)", *TYPED.values()]


def test_a_list_that_contains_itself_ends() -> None:
    ir = (
        "%list = type { ptr, i32 }\n"
        "define ptr @next(ptr %0) {\n  br label %2\n2:\n"
        "  %3 = phi ptr [ %0, %1 ], [ %4, %2 ]\n  %4 = load ptr, ptr %3, align 8\n"
        "  %5 = icmp eq ptr %4, null\n  br i1 %5, label %6, label %2\n6:\n  ret ptr %3\n}\n"
    )
    found = _llvm.inst2vec_statements(_llvm.Module(ir.encode()))
    assert len(found) == 9
    assert "ptr" not in " ".join(found)


@pytest.mark.parametrize("program", ["crc32", "sha", "susan", "jpeg-c"])
def test_statements_are_as_many_as_the_program_has(make_env: MakeEnv, program: str) -> None:
    env = make_env(benchmark=f"cbench-v1/{program}")
    env.reset()
    statements = env.observation["Inst2vecPreprocessedText"]
    ir = env.ir
    globals_ = len(re.findall(r"^@[^\n]* = ", ir, re.M))
    defined = len(re.findall(r"^define ", ir, re.M))
    blocks = int(env.observation["InstCount"][1])
    expected = env.observation["IrInstructionCount"] + globals_ + blocks
    assert len(statements) == expected, "the first block of a function has no label"
    assert sum(s.startswith("define ") for s in statements) == defined
    assert not any(re.search(r"\bptr\b|(?<!<)[%@]\w", s) for s in statements)


def test_every_element_of_a_structure_is_set_off() -> None:
    ir = (
        "%pair = type { i32, i32, ptr, i32, <{ i8, i8 }> }\n"
        "define ptr @f(ptr %0) {\n"
        "  %2 = getelementptr inbounds %pair, ptr %0, i32 0, i32 1\n  ret ptr %2\n}\n"
    )
    found = _llvm.inst2vec_statements(_llvm.Module(ir.encode()))
    pair = "{ i32, i32, i8*, i32, <{ i8, i8 }> }"
    assert found[1] == f"<%ID> = getelementptr inbounds {pair}, {pair}* <%ID>, i32 <INT>, i32 <INT>"


def test_memory_is_filled_and_copied_with_an_alignment_as_it_was() -> None:
    ir = (
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
        "define void @f(ptr %0, ptr %1) {\n"
        "  call void @llvm.memset.p0.i64(ptr align 4 %0, i8 0, i64 8, i1 false)\n"
        "  call void @llvm.memcpy.p0.p0.i64(ptr %0, ptr nonnull %1, i64 8, i1 true)\n"
        "  ret void\n}\n"
    )
    found = _llvm.inst2vec_statements(_llvm.Module(ir.encode()))
    assert found[1:3] == [
        "call void <@ID>(i8* <%ID>, i8 <INT>, i64 <INT>, i32 <INT>, i1 false)",
        "call void <@ID>(i8* <%ID>, i8* nonnull <%ID>, i64 <INT>, i32 <INT>, i1 true)",
    ]


def test_an_exception_is_caught_by_the_address_of_its_type() -> None:
    ir = (
        "@info = external constant { ptr, ptr }\ndeclare void @g()\ndeclare i32 @p(...)\n"
        "define void @f() personality ptr @p {\n"
        "  invoke void @g() to label %1 unwind label %2\n1:\n  ret void\n2:\n"
        "  %3 = landingpad { ptr, i32 } cleanup catch ptr @info catch ptr null\n"
        "  resume { ptr, i32 } %3\n}\n"
    )
    found = _llvm.inst2vec_statements(_llvm.Module(ir.encode()))
    clauses = "\n cleanup\n catch i8* bitcast ({ i8*, i8* }* <@ID> to i8*)\n catch i8* null"
    assert f"<%ID> = landingpad {{ i8*, i32 }}{clauses}" in found


def write_vocabulary(folder: Path, statements: list[str], form: str) -> None:
    dictionary = {statement: i for i, statement in enumerate(["!UNK", *statements])}
    vectors = np.arange(len(dictionary) * 200, dtype=np.float32).reshape(-1, 200)
    if form == "pickle":
        (folder / "dictionary.pickle").write_bytes(pickle.dumps(dictionary))
        (folder / "embeddings.pickle").write_bytes(pickle.dumps(vectors))
    else:
        (folder / "dictionary.json").write_text(json.dumps(dictionary))
        np.save(folder / "embeddings.npy", vectors)


@pytest.mark.parametrize("form", ["pickle", "plain"])
def test_known_statements_have_the_vectors_of_the_users_vocabulary(
    make_env: MakeEnv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    known = ["<%ID> = alloca i32, align 4", "br label <%ID>"]
    write_vocabulary(tmp_path, known, form)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    env = make_env(benchmark="cbench-v1/crc32")
    env.reset()
    statements = env.observation["Inst2vecPreprocessedText"]
    indices = env.observation["Inst2vecEmbeddingIndices"]
    assert [known.index(s) + 1 if s in known else 0 for s in statements] == indices.tolist()
    vectors = env.observation["Inst2vec"]
    assert vectors.shape == (len(statements), 200)
    assert vectors[:, 0].tolist() == [200.0 * i for i in indices]
    share = env.observation["Inst2vecUnknownShare"]
    is_statement = np.array([not s.startswith("; <label>") for s in statements])
    assert 0.5 < is_statement.mean() < 1
    assert share == pytest.approx((indices == 0)[is_statement].mean())
    for name in ("Inst2vecEmbeddingIndices", "Inst2vec", "Inst2vecUnknownShare"):
        spec = env.observation.spaces[name]
        assert env.observation[name] in spec.space
        assert spec.default_value in spec.space


def test_the_wheel_that_the_vocabulary_came_with_is_read(tmp_path: Path) -> None:
    write_vocabulary(tmp_path, ["ret void", "<@ID> = constant [2 x i8]  <STRING>"], "pickle")
    wheel = tmp_path / "compiler_gym-0.2.5.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("dictionary.pickle", "embeddings.pickle"):
            inside = f"compiler_gym-0.2.5.data/purelib/compiler_gym/third_party/inst2vec/{name}"
            archive.write(tmp_path / name, inside)
    vocabulary = read_vocabulary(wheel)
    written = ["ret void", "<@ID> = constant [2 x i8] <STRING>", "ret i7 <%ID>"]
    assert vocabulary.indices(written).tolist() == [1, 2, 0]
    assert vocabulary.unknown_share([*written, "; <label>:<LABEL>:"]) == pytest.approx(1 / 3)


def test_a_file_that_is_not_such_a_wheel_is_named(tmp_path: Path) -> None:
    other = tmp_path / "other.whl"
    other.write_bytes(b"no archive")
    with pytest.raises(ObservationError, match=r"other\.whl: File is not a zip file"):
        read_vocabulary(other)
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("compiler_gym/__init__.py", "")
    with pytest.raises(ObservationError, match=r"no third_party/inst2vec/dictionary\.pickle"):
        read_vocabulary(other)


def test_without_a_vocabulary_the_error_says_where_to_put_one(
    make_env: MakeEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    env = make_env(benchmark="cbench-v1/crc32")
    env.reset()
    with pytest.raises(ObservationError, match=VARIABLE):
        _ = env.observation["Inst2vec"]
    _, _, _, truncated, info = env.step(0, observation_spaces="Inst2vec")
    assert (truncated, info["error_type"]) == (True, "ObservationError")


def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self):
            return subprocess.call, (["touch", str(tmp_path / "ran")],)

    (tmp_path / "dictionary.pickle").write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(ObservationError, match="not allowed in a pickle"):
        read_vocabulary(tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("dictionary", "rows", "message"),
    [
        ({"a": 0}, 1, "including '!UNK'"),
        ({"!UNK": 3}, 2, "at least 4 rows"),
        ({"!UNK": 0, "a": "b"}, 1, "must map statements"),
        ({"!UNK": 0, "a": -1}, 1, "must map statements"),
        ([1], 1, "must map statements"),
    ],
)
def test_a_vocabulary_that_does_not_fit_is_named(
    tmp_path: Path, dictionary: object, rows: int, message: str
) -> None:
    (tmp_path / "dictionary.json").write_text(json.dumps(dictionary))
    np.save(tmp_path / "embeddings.npy", np.zeros((rows, 200), dtype=np.float32))
    with pytest.raises(ObservationError, match=message):
        read_vocabulary(tmp_path)
