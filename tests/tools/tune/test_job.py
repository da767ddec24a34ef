# SPDX-License-Identifier: MIT
"""A tuning from the build to what is handed over, with a compiler's part of a few lines."""

import gc
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError, PlanError, ProjectError
from compiler_gym.options import list_options
from compiler_gym.runs import FolderLock
from compiler_gym.tools.tune import (
    BinaryPlan,
    BuildPlan,
    Found,
    Request,
    TuningJob,
    TuningSubject,
    TuningWatcher,
    read_plan,
    runs,
    write_plan,
)
from compiler_gym.tools.tune.builds import tree as tree_module
from compiler_gym.tools.tune.runs import put
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner

WRONG = """
#include <stdio.h>
#ifndef ADDED
#define ADDED 0
#endif
int twice(int n) { return n * 2 + ADDED; }
"""


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    project = write_project(tmp_path / "project")
    (project / "twice.c").write_text(WRONG)
    return Request(("make",), project, tmp_path / "out", seconds=100.0)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_result_can_be_reproduced(request_: Request) -> None:
    before = everything(request_.project)
    (result,) = TuningJob(request_, SimpleTuner("-O1")).run()
    out = request_.output
    assert everything(request_.project) == before
    assert (out / "bin" / "program").read_bytes() == result.found.path.read_bytes()
    plan = read_plan(out / "tuned.toml")
    assert plan.binaries[0].flags == ("-O1",)
    assert set(plan.binaries[0].sizes) == {"cc", "tuned"}
    made = ["sh", out / "reproduce.sh", out / "work" / "tree", out / "again"]
    subprocess.run(made, check=True)
    assert (out / "again" / "program").read_bytes() == (out / "bin" / "program").read_bytes()


@pytest.mark.parametrize("way", ["check", "run"])
def test_the_decision_that_breaks_a_program_is_taken_back(request_: Request, way: str) -> None:
    command = {"check": 'test "$(./program)" = 2', "run": "./program"}[way]
    tuner = SimpleTuner("-O1", "-DADDED=1", "-fno-inline")
    (result,) = TuningJob(replace(request_, **{way: command}), tuner).run()
    assert result.taken_back == ("flag -DADDED=1",)
    assert result.found.plan.flags == ("-O1", "-fno-inline")
    answer = subprocess.run([request_.output / "bin" / "program"], capture_output=True, check=True)
    assert answer.stdout == b"2\n"


def test_several_decisions_that_break_it_are_all_taken_back(request_: Request) -> None:
    tuner = SimpleTuner("-DADDED=1", "-O1", "-DADDED=2")
    (result,) = TuningJob(replace(request_, run="./program"), tuner).run()
    assert result.found.plan.flags in ((), ("-O1",))


def test_tests_that_fail_before_are_the_projects_own(request_: Request) -> None:
    with pytest.raises(
        ProjectError, match=r"(?s)failed with status 1 on the original build.*oh no"
    ):
        TuningJob(replace(request_, check="echo oh no; false"), SimpleTuner()).run()


@pytest.mark.parametrize("way", ["run", "confirm"])
def test_a_program_whose_right_status_is_not_zero_is_tuned(request_: Request, way: str) -> None:
    text = "./program >/dev/null; exit $((40 + $(./program)))"
    tuner = SimpleTuner("-O1", "-DADDED=1")
    (result,) = TuningJob(replace(request_, **{way: text}), tuner).run()
    assert result.taken_back == (("flag -DADDED=1",) if way == "run" else ())
    assert any("exits with status 42 on the project's own" in note for note in result.found.notes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("./no-such-program", "status 127 on the untuned build, because the shell cannot"),
        ("./main.c", "status 126 on the untuned build, because the shell cannot"),
        ("kill -SEGV $$", "because a signal stopped it"),
        ("sh -c 'kill -ABRT $$'; exit $?", "status 134 on .* because a signal stopped it"),
        ("test -e there || { touch there; exit 5; }", "status 5 and then, on .*, with 0: use"),
    ],
)
def test_a_run_that_crashes_or_ends_in_two_ways_is_refused(
    request_: Request, text: str, reason: str
) -> None:
    with pytest.raises(ProjectError, match=reason):
        TuningJob(replace(request_, run=text), SimpleTuner()).run()


def test_a_run_that_never_prints_the_same_is_judged_by_its_status(request_: Request) -> None:
    request = replace(request_, run="./program; date +%N")
    (result,) = TuningJob(request, SimpleTuner("-O1")).run()
    assert result.taken_back == ()

    assert any("prints different output each time" in note for note in result.found.notes)


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
@pytest.mark.parametrize("place", ["build", "."])
def test_a_project_that_is_configured_is_configured_again_in_the_copy(
    request_: Request, place: str
) -> None:
    project = request_.project
    (project / "Makefile").unlink()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p C)\n"
        "add_executable(program main.c twice.c)\n"
    )
    for words in (["-B", place], ["--build", place]):
        subprocess.run(["cmake", *words], cwd=project, check=True, capture_output=True)
    before = everything(project)
    build = ("cmake", "--build", place)
    (result,) = TuningJob(replace(request_, build=build), SimpleTuner("-O1")).run()
    assert result.binary.name == str(Path(place, "program"))
    assert [result.binary.name_unit(unit) for unit in result.binary.units] == ["main.c", "twice.c"]
    assert everything(project) == before


def test_cmakes_test_programs_are_not_listed(request_: Request) -> None:
    text = "make && mkdir -p b/CMakeFiles/3 && $CC -O0 main.c twice.c -o b/CMakeFiles/3/a.out"
    job = TuningJob(
        replace(request_, build=("sh", "-ec", text), binaries=("program",)), SimpleTuner()
    )
    job.run()
    assert job.others == []


def test_a_tuning_goes_on_where_it_was(request_: Request) -> None:
    TuningJob(request_, SimpleTuner("-O1")).run()
    journal = request_.output / "work" / "record" / "commands.jsonl"
    before = journal.stat().st_mtime_ns
    with pytest.raises(ProjectError, match="--resume"):
        TuningJob(request_, SimpleTuner("-O1")).run()
    TuningJob(replace(request_, resume=True), SimpleTuner("-O1")).run()
    assert journal.stat().st_mtime_ns == before
    with pytest.raises(ProjectError, match="other options"):
        TuningJob(replace(request_, resume=True, seed=7), SimpleTuner("-O1")).run()


class _Killed(SimpleTuner):
    """Is ended while another binary lies in the place of the project's own."""

    def tune(self, subject: TuningSubject) -> Found:
        put(Path("/bin/true"), subject.binary.path)
        raise KeyboardInterrupt


def test_a_tuning_that_was_ended_in_mid_run_goes_on(request_: Request) -> None:
    with pytest.raises(KeyboardInterrupt):
        TuningJob(request_, _Killed()).run()
    (result,) = TuningJob(replace(request_, resume=True, run="./program"), SimpleTuner("-O1")).run()
    assert result.found.plan.flags == ("-O1",)


def test_after_a_build_that_fails_the_same_folder_is_good_enough(request_: Request) -> None:
    with pytest.raises(ProjectError, match="status 7"):
        TuningJob(replace(request_, build=("sh", "-c", "exit 7")), SimpleTuner()).run()
    (result,) = TuningJob(request_, SimpleTuner("-O1")).run()
    assert result.found.plan.flags == ("-O1",)


def test_folders_that_do_not_fit_are_refused(request_: Request, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="nothing to resume"):
        TuningJob(replace(request_, resume=True), SimpleTuner()).run()
    with pytest.raises(ProjectError, match="contains other files"):
        TuningJob(replace(request_, output=request_.project), SimpleTuner()).run()
    with pytest.raises(ProjectError, match="is not a folder"):
        TuningJob(replace(request_, project=tmp_path / "missing"), SimpleTuner()).run()


def test_two_at_a_time_are_refused(request_: Request) -> None:
    TuningJob(request_, SimpleTuner()).run()
    lock = FolderLock.take(request_.output)
    with pytest.raises(CacheError, match="is in use by"):
        TuningJob(replace(request_, resume=True), SimpleTuner()).run()
    lock.release()


def test_binaries_are_chosen_by_name_or_size(request_: Request) -> None:
    text = "make && $CC -O0 main.c twice.c -o other && $CC -shared -fPIC twice.c -o lib.so"
    request = replace(request_, build=("sh", "-ec", text))
    job = TuningJob(request, SimpleTuner())
    (result,) = job.run()
    assert sorted([result.binary.name, *job.others]) == ["lib.so", "other", "program"]
    named = replace(request, resume=True, binaries=("other", "program"))
    assert [r.binary.name for r in TuningJob(named, SimpleTuner()).run()] == ["other", "program"]
    with pytest.raises(ProjectError, match=r"does not link 'absent'.*choose one of"):
        TuningJob(replace(named, binaries=("absent",)), SimpleTuner()).run()


def test_a_build_that_makes_nothing_gives_the_fix(request_: Request) -> None:
    with pytest.raises(ProjectError, match="built already, clean it"):
        TuningJob(replace(request_, build=("true",)), SimpleTuner()).run()


def answer(folder: Path, name: str) -> bytes:
    return subprocess.run([folder / "bin" / name], capture_output=True, check=True).stdout


def test_nothing_of_the_builds_words_is_run_by_the_script(
    request_: Request, tmp_path: Path
) -> None:
    victim = tmp_path / "caller" / "victim"
    victim.parent.mkdir()
    victim.touch()
    text = (
        "make\nrm -rf victim\r\n: \"$(touch sub)\" `touch tick` 'a\u2028\x1b[2J'\n#'\nrm -f victim"
    )
    request = replace(request_, build=("sh", "-c", text), output=tmp_path / "o p")
    TuningJob(request, SimpleTuner("-O1")).run()
    made = ["sh", "../o p/reproduce.sh", request.output / "work" / "tree", "-again"]
    subprocess.run(made, cwd=victim.parent, check=True, env={**os.environ, "CDPATH": "/"})
    assert {path.name for path in victim.parent.iterdir()} == {"victim", "-again"}
    assert (victim.parent / "-again" / "program").is_file()


def test_a_project_that_was_edited_is_copied_and_built_again(request_: Request) -> None:
    TuningJob(request_, SimpleTuner("-O1")).run()
    assert answer(request_.output, "program") == b"2\n"
    source = request_.project / "twice.c"
    before = source.stat()
    source.write_text(WRONG.replace("n * 2", "n * 9"))  # as long, and as old
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    (result,) = TuningJob(replace(request_, resume=True), SimpleTuner("-O1")).run()
    assert answer(request_.output, "program") == b"9\n"
    assert any("twice.c changed since the project was copied" in n for n in result.found.notes)
    (request_.project / "more.c").write_text("int more;\n")
    job = TuningJob(replace(request_, resume=True), SimpleTuner("-O1"))
    assert any("more.c changed since" in note for note in job.run()[0].found.notes)


@pytest.mark.parametrize("is_boxed", [True, False])
def test_a_build_that_names_the_project_by_its_whole_path_is_refused_or_told(
    request_: Request, monkeypatch: pytest.MonkeyPatch, is_boxed: bool
) -> None:
    if not is_boxed:
        monkeypatch.setattr(tree_module, "_tool", lambda: None)
    elif tree_module._tool() is None:  # pyright: ignore[reportPrivateUsage]
        pytest.skip("needs bubblewrap that can make a folder unwritable")
    before = everything(request_.project)
    text = f"make && cp program {request_.project}/program"
    job = TuningJob(replace(request_, build=("sh", "-ec", text)), SimpleTuner())
    if is_boxed:
        with pytest.raises(ProjectError, match="use relative paths"):
            job.run()
        assert everything(request_.project) == before
        return
    (result,) = job.run()
    assert any(note.startswith("program in ") and "itself changed" in note
               for note in result.found.notes)  # fmt: skip


def test_a_test_that_writes_to_the_project_is_reported(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_module, "_tool", lambda: None)
    told: list[str] = []

    class Told(TuningWatcher):
        def says(self, text: str) -> None:
            told.append(text)

    check = f"touch {request_.project}/left"
    TuningJob(replace(request_, check=check), SimpleTuner("-O1"), Told()).run()
    assert any(text.startswith("left in ") and "itself changed" in text for text in told)


def test_binaries_outside_the_project_are_not_tuned(request_: Request, tmp_path: Path) -> None:
    text = f"make && $CC -O0 main.c twice.c -o {tmp_path}/elsewhere"
    (result,) = TuningJob(replace(request_, build=("sh", "-ec", text)), SimpleTuner()).run()
    assert result.binary.name == "program"
    assert any("elsewhere is linked outside" in note for note in result.found.notes)


def test_binaries_of_like_names_do_not_meet(request_: Request) -> None:
    text = "mkdir -p a a_b && $CC main.c twice.c -o a/b_c && $CC -DADDED=5 main.c twice.c -o a_b/c"
    request = replace(request_, build=("sh", "-ec", text), binaries=("a/b_c", "a_b/c"))
    results = TuningJob(request, SimpleTuner("-O1")).run()
    assert len({result.found.path for result in results}) == 2
    assert [answer(request_.output, name) for name in ("a/b_c", "a_b/c")] == [b"2\n", b"2\n"]
    originals = sorted(path.read_bytes() for path in request_.output.rglob("original"))
    assert len(originals) == 2
    assert originals[0] != originals[1]
    assert [r.binary.name for r in TuningJob(replace(request, resume=True), SimpleTuner()).run()]


@pytest.mark.parametrize("damage", [b"{", b"", b"[" * 100_000, b"\xff", b"[1]"])
def test_a_damaged_folder_is_refused(request_: Request, damage: bytes) -> None:
    TuningJob(request_, SimpleTuner()).run()
    (request_.output / "tuning.json").write_bytes(damage)
    gc.collect()  # what other tests left must not end deep in the nested file: its end would fail
    with pytest.raises(ProjectError, match=r"is damaged|other options"):
        TuningJob(replace(request_, resume=True), SimpleTuner()).run()


def test_a_damaged_recording_is_refused(request_: Request) -> None:
    TuningJob(request_, SimpleTuner()).run()
    journal = request_.output / "work" / "record" / "commands.jsonl"
    for damage in (b'{"words": 3}\n', b'{"words": ["cc"\n', b"[]\n"):
        journal.write_bytes(damage)
        with pytest.raises(ProjectError, match="is damaged"):
            TuningJob(replace(request_, resume=True), SimpleTuner()).run()


def test_links_without_end_are_part_of_the_project(request_: Request) -> None:
    (request_.project / "loop").symlink_to("loop")
    (request_.project / "here").symlink_to(".")
    (result,) = TuningJob(request_, SimpleTuner("-O1")).run()
    assert result.binary.name == "program"


class _Missing(SimpleTuner):
    @property
    def compilers(self) -> tuple[Sequence[str], Sequence[str]]:
        raise ProjectError("no compiler here")


def test_a_failure_before_the_build_leaves_nothing(request_: Request) -> None:
    with pytest.raises(ProjectError, match="no compiler"):
        TuningJob(request_, _Missing()).run()
    assert not request_.output.exists()
    if os.geteuid():
        (request_.project / "secret").touch(mode=0)
        with pytest.raises(ProjectError, match="cannot copy"):
            TuningJob(request_, SimpleTuner()).run()
        assert not request_.output.exists()


def test_the_date_of_a_build_is_always_the_same(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    (request_.project / "twice.c").write_text(
        '#include <stdio.h>\nint twice(int n) { puts(__DATE__ " " __TIME__); return n * 2; }\n'
    )
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    TuningJob(request_, SimpleTuner("-O1")).run()
    assert answer(request_.output, "program").startswith(b"Jan  1 1980 00:00:00")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    other = replace(request_, output=request_.output.with_name("other"))
    TuningJob(other, SimpleTuner("-O1")).run()
    assert answer(other.output, "program").startswith(b"Jan  2 1970")
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    made = ["sh", other.output / "reproduce.sh", other.output / "work" / "tree", other.output / "x"]
    subprocess.run(made, check=True)
    assert (other.output / "x" / "program").read_bytes() == (
        other.output / "bin" / "program"
    ).read_bytes()


def test_an_option_that_decides_is_never_forgotten(request_: Request) -> None:
    kept = {"build", "project", "goal", "seed", "measure", "old_loaders", "no_unwind_tables"}
    assert set(request_.decides()) == kept
    for one in fields(Request):
        assert one.name in kept or list_options(Request)[one.name].may_change


def test_a_stop_ends_what_runs_before_anything_is_found(request_: Request) -> None:
    request = replace(request_, check="sleep 500")
    with pytest.raises(KeyboardInterrupt):
        TuningJob(request, SimpleTuner(), is_interrupted=lambda: True).run()


@pytest.mark.parametrize("name", ["a\nb.c", "a\x1b[2J.c", "a\udcff.c"])
def test_a_name_that_no_plan_can_hold_is_refused(request_: Request, name: str) -> None:
    (request_.project / "twice.c").rename(request_.project / name)
    text = "$CC main.c a*.c -o program"
    with pytest.raises(ProjectError, match="cannot be stored in a plan"):
        TuningJob(replace(request_, build=("sh", "-ec", text)), SimpleTuner()).run()


def test_names_with_spaces_quotes_and_accents_are_made_again(request_: Request) -> None:
    (request_.project / "twice.c").rename(request_.project / "é $(touch x) '\".c")
    text = "$CC main.c é*.c -o 'prö gram'"
    TuningJob(replace(request_, build=("sh", "-ec", text)), SimpleTuner("-O1")).run()
    assert answer(request_.output, "prö gram") == b"2\n"
    assert read_plan(request_.output / "tuned.toml").binaries[0].name == "prö gram"


def test_an_older_plan_is_where_a_tuning_starts(request_: Request) -> None:
    TuningJob(request_, SimpleTuner("-O1", "-fno-inline")).run()
    tuner = SimpleTuner("-O1")
    later = replace(request_, output=request_.output.with_name("later"), start=request_.output)
    (result,) = TuningJob(later, tuner).run()
    assert tuner.start is not None
    assert tuner.start.flags == ("-O1", "-fno-inline")
    said = "kept 1 of 2 decisions of the older plan; dropped: flag -fno-inline"
    assert said in result.found.notes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"compiler": "other 7"}, r"is a plan of other 7 for size, but this run uses simple 1"),
        ({"goal": "speed"}, r"for speed, but this run uses simple 1 for size"),
    ],
)
def test_a_plan_of_another_kind_is_not_a_start(
    request_: Request, changes: dict[str, str], said: str
) -> None:
    plan = BuildPlan("simple 1", "size", "1.0", (BinaryPlan("program", "simple"),))
    path = request_.project.with_name("old.toml")
    write_plan(path, replace(plan, **changes))  # type: ignore[arg-type]
    with pytest.raises(ProjectError, match=said):
        TuningJob(replace(request_, start=path), SimpleTuner("-O1")).run()
    assert not request_.output.exists()


def test_a_start_that_is_missing_or_for_another_file_is_named(request_: Request) -> None:
    path = request_.project.with_name("old.toml")
    with pytest.raises(PlanError, match=r"cannot read .*old\.toml"):
        TuningJob(replace(request_, start=path), SimpleTuner("-O1")).run()
    write_plan(path, BuildPlan("simple 1", "size", "1.0", (BinaryPlan("else", "simple"),)))
    with pytest.raises(ProjectError, match=r"has no plan for program, only for else"):
        TuningJob(replace(request_, start=path), SimpleTuner("-O1")).run()


@pytest.mark.parametrize("command", ["sleep 1000", "yes"])
def test_tests_that_do_not_end_fail(
    request_: Request, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_MOST_PRINTED", 1 << 20)
    seconds = 0.5 if command == "sleep 1000" else None
    with pytest.raises(ProjectError, match=r"status 124.*\n.*(within 0.5 s|than 1 MiB)"):
        TuningJob(replace(request_, check=command, check_seconds=seconds), SimpleTuner()).run()


def test_tests_that_remove_the_tuning_are_reported(request_: Request) -> None:
    with pytest.raises(ProjectError, match=r"rm -rf .* removed files from the output"):
        TuningJob(replace(request_, check="rm -rf ../../*"), SimpleTuner()).run()


@pytest.mark.parametrize(
    "name",
    ["tuning.json", "work/check.log", "work/copied.json", "work/binaries", "bin", "tuned.toml",
     "report.html", "work/record/new"],
)  # fmt: skip
def test_nothing_is_written_through_a_link_in_the_output_folder(
    request_: Request, tmp_path: Path, name: str
) -> None:
    request = replace(request_, check="true")
    TuningJob(request, SimpleTuner()).run()
    outside = tmp_path / "outside"
    place = request.output / name
    if place.is_dir():
        place.rename(outside)
    elif place.exists():
        outside.write_bytes(place.read_bytes())
        place.unlink()
    else:
        outside.write_text("mine")
    before = everything(outside) if outside.is_dir() else outside.read_bytes()
    place.symlink_to(outside)
    with pytest.raises(ProjectError, match=r"is a symlink to .* outside the output folder"):
        TuningJob(replace(request, resume=True), SimpleTuner()).run()
    assert before == (everything(outside) if outside.is_dir() else outside.read_bytes())


def test_a_place_outside_the_copy_is_refused(request_: Request, tmp_path: Path) -> None:
    TuningJob(request_, SimpleTuner()).run()
    (place,) = (request_.output / "work" / "binaries").glob("*/place")
    place.write_text("../../../victim")
    with pytest.raises(ProjectError, match="names a file outside"):
        TuningJob(replace(request_, resume=True), SimpleTuner()).run()
    assert not (tmp_path / "victim").exists()


def test_a_project_with_links_to_other_places_is_tuned_again(request_: Request) -> None:
    (request_.project / "link").symlink_to("/usr/include")
    TuningJob(request_, SimpleTuner()).run()
    TuningJob(replace(request_, resume=True), SimpleTuner()).run()
