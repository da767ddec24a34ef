# SPDX-License-Identifier: MIT
"""``compiler-gym tails`` as a shell sees it."""

from pathlib import Path

import pytest

from compiler_gym import _llvm
from tests.command_line import Run

from ..conftest import PROGRAMS


def test_a_corpus_is_learned_and_the_model_applied(cli: Run, corpus: Path, tmp_path: Path):
    pytest.importorskip("lightgbm", reason="needs LightGBM")
    folder = tmp_path / "run"
    words = (
        "tails",
        "learn",
        str(corpus),
        "--output",
        str(folder),
        "--mined",
        "300",
        "--tails",
        "4",
    )
    ran = cli(*words)
    assert ran.status == 0, ran.errors
    assert "mine: zlib" in ran.errors
    assert "nearest neighbour" in ran.output
    rows = cli(*words, "--judge", "--json").json
    assert {row["way"] for row in rows} > {"constant", "model"}
    assert (folder / "judgement-test.json").is_file()
    ran = cli("tails", "table", *words[2:])
    assert ran.status == 0, ran.errors
    assert "functions.parquet" in ran.output
    assert "make_base" not in ran.errors
    assert (folder / "table/README.md").is_file()
    assert cli(*words, "--goal", "bytes", "--json").json[0]["way"] == "constant"
    assert (folder / "bytes/judgement-validation.json").is_file()
    source, target = PROGRAMS / "qsort/qsort.bc", tmp_path / "out.bc"
    model = str(folder / "model.json.xz")
    ran = cli("tails", "apply", str(source), "-o", str(target), "--model", model, "--json")
    assert ran.status == 0, ran.errors
    counts = ran.json
    assert counts["after"] <= counts["before"]
    assert _llvm.Module(target.read_bytes()).instruction_count() == counts["after"]
    model = str(folder / "bytes/model.json.xz")
    ran = cli("tails", "apply", str(source), "-o", str(target), "--model", model)
    assert " bytes after clang -Oz, " in ran.output


def test_tails_for_bytes_need_no_model_of_functions(cli: Run, tmp_path: Path):
    ran = cli("tails", "apply", "cbench-v1/qsort", "-o", "out.bc", "--goal", "bytes", "--json")
    assert ran.status == 0, ran.errors
    assert ran.json["after"] < ran.json["before"]
    assert (tmp_path / "out.bc").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("text.bc", "-o", "out.bc"), "text.bc:1:1: error: expected top-level entity"),
        (("missing.c", "-o", "out.bc"), "no such file: missing.c"),
        (("main.bc", "-o", "folder"), "cannot write folder"),
        (("main.bc", "-o", "out.bc", "--model", "missing"), "from missing"),
        (("main.bc", "-o", "out.bc", "--model", "text.bc"), "from text.bc"),
    ],
)
def test_files_of_another_kind_are_refused(
    cli: Run, tmp_path: Path, words: tuple[str, ...], message: str
):
    pytest.importorskip("lightgbm", reason="needs LightGBM")
    (tmp_path / "text.bc").write_text("no module")
    (tmp_path / "folder").mkdir()
    (tmp_path / "main.bc").write_bytes((PROGRAMS / "qsort/qsort.bc").read_bytes())
    ran = cli("tails", "apply", *words)
    assert ran.status > 0
    assert ran.errors.startswith("error: ")
    assert "Traceback" not in ran.errors
    assert message in ran.errors
    assert not (tmp_path / "out.bc").exists()


def test_a_source_file_is_compiled_first(cli: Run, tmp_path: Path):
    pytest.importorskip("lightgbm", reason="needs LightGBM")
    (tmp_path / "half.c").write_text("int half(int n) { return n / 2; }\n")
    ran = cli("tails", "apply", "half.c", "-o", "half.bc")
    assert "half.c: 2 instructions after clang -Oz, 2 with tails" in ran.output
    assert _llvm.Module((tmp_path / "half.bc").read_bytes()).instruction_count() == 2


def test_a_run_without_a_corpus_leaves_no_folder(cli: Run, tmp_path: Path):
    ran = cli("tails", "learn", "missing", "--output", "run")
    assert "missing contains no modules" in ran.errors
    assert not (tmp_path / "run").exists()
