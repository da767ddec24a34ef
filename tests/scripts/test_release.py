# SPDX-License-Identifier: MIT
"""A release: its changelog, what lies in its wheels, and what pages make a newcomer run."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from compiler_gym.version import __version__
from scripts.release import __main__ as release
from scripts.release import changelog, pythons, trying
from scripts.release.places import Place
from scripts.release.trying import blocks, same_but_numbers
from scripts.release.wheels import JIT, LICENSES, MAIN, complaints, metadata_complaints

ROOT = Path(__file__).parents[2]
PAGE = """Text.

```sh
make wheel
```

```console
compiler-gym envs
```

<!-- output: the first 2 lines -->
```text
one 12
two
...
```

To use your own C code, install `clang`.

```python
print(1)
```
"""


def test_fragments_become_a_part_of_the_changelog_and_are_gone(tmp_path: Path) -> None:
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    (folder / "README.md").write_text("how")
    (folder / "b.fixed.md").write_text("It is mended.\n")
    (folder / "a.added.md").write_text("It is new.\n")
    new = changelog.release(tmp_path, "1.2.3", "2026-01-02")
    assert new.splitlines()[0] == "## 1.2.3 (2026-01-02)"
    assert new.index("- It is new.") < new.index("- It is mended.")
    assert [path.name for path in folder.iterdir()] == ["README.md"]
    (folder / "c.changed.md").write_text("It is another.")
    with pytest.raises(ValueError, match=r"has 1\.2\.3 already"):
        changelog.release(tmp_path, "1.2.3")
    changelog.release(tmp_path, "1.3.0")
    page = (tmp_path / "CHANGELOG.md").read_text()
    assert page.startswith(changelog.HEAD)
    assert page.count(changelog.HEAD) == 1
    assert page.index("## 1.3.0") < page.index("## 1.2.3")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.better.md", "Yes."),
        ("added.md", "Yes."),
        ("a.added.md", "One\ntwo."),
        ("a.fixed.md", "No"),
    ],
)
def test_a_fragment_that_is_not_a_sentence_of_a_kind_is_refused(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match="expected"):
        changelog.fragments(tmp_path)


def test_the_fragments_of_this_checkout_can_be_joined() -> None:
    changelog.fragments(ROOT / "changelog.d")


def test_a_wheel_with_a_developers_file_and_without_licences_is_seen(tmp_path: Path) -> None:
    name = f"compiler_gym_next-{__version__}-cp312-abi3-manylinux_2_34_x86_64.whl"
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr("compiler_gym/tests/test_core.py", "")
        archive.writestr("compiler_gym/programs/qsort/cases.py", "")
        archive.writestr("compiler_gym/_jit.abi3.so", "")
        archive.writestr("compiler_gym/_llvm.abi3.so", "")
        archive.writestr("compiler_gym/_shared/_llvm.abi3.so", "")
    found = complaints(tmp_path / name)
    assert "compiler_gym/tests/test_core.py is a developer's file" in found
    assert "compiler_gym/_jit.abi3.so is no part of this wheel" in found
    assert "no licence LLVM.txt" in found
    assert "no compiler_gym/_service.abi3.so" in found
    assert not any("_llvm.abi3.so" in line or "cases.py" in line for line in found)
    other = (tmp_path / name).rename(tmp_path / "compiler_gym-0.1-py3-none-any.whl")
    assert "manylinux" in "".join(complaints(other))


_PROGRAMS = (
    "compiler_gym/_box",
    *(
        f"compiler_gym_next-{__version__}.data/scripts/compiler-gym-{name}"
        for name in ("cc", "cxx")
    ),
)


def _whole(folder: Path, *, without: str = "", also: str = "", version: str = __version__) -> Path:
    """Write a wheel of empty files that has all that a release wants, or all but one."""
    wheel = folder / f"compiler_gym_next-{version}-cp312-abi3-manylinux_2_34_x86_64.whl"
    info = f"compiler_gym_next-{version}.dist-info/licenses/"
    names = [*(f"{info}{name}" for name in LICENSES), also]
    names += [f"compiler_gym/{name}.abi3.so" for name in MAIN.modules]
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names:
            if name and not (without and name.endswith(without)):
                archive.writestr(name, "")
        for name in _PROGRAMS:
            program = zipfile.ZipInfo(name)
            program.external_attr = 0o755 << 16
            if not (without and name.endswith(without)):
                archive.writestr(program, "")
    return wheel


def test_a_whole_wheel_has_nothing_wrong(tmp_path: Path) -> None:
    assert complaints(_whole(tmp_path)) == []


@pytest.mark.parametrize(
    "name",
    [
        *sorted(LICENSES),
        *(f"_{part}.abi3.so" for part in ("columns", "elf", "service")),
        "_shared/_llvm.abi3.so",
        "_box",
        "-cc",
        "-cxx",
    ],
)
def test_one_thing_that_is_missing_is_one_complaint(tmp_path: Path, name: str) -> None:
    (found,) = complaints(_whole(tmp_path, without=name))
    assert name in found


@pytest.mark.parametrize(
    "name",
    [
        *("compiler_gym/core/test_env.py", "tests/conftest.py", "scripts/release/wheels.py"),
        *("compiler_gym/native/main.cpp", "compiler_gym/__pycache__/x.pyc", "docs/start.md"),
        *("compiler_gym/programs/build.py", "compiler_gym/_jit.abi3.so", "Makefile"),
    ],
)
def test_one_file_too_many_is_one_complaint(tmp_path: Path, name: str) -> None:
    (found,) = complaints(_whole(tmp_path, also=name))
    assert name in found


@pytest.mark.parametrize(
    "name",
    [
        "compiler_gym/linker/encodings/rules.h",
        "compiler_gym/service/sdk/include/compiler_gym/session.h",
        "compiler_gym_inline/rules/llvm/inputs.h",
    ],
)
def test_sources_that_users_compile_belong_to_a_wheel(tmp_path: Path, name: str) -> None:
    assert complaints(_whole(tmp_path, also=name)) == []


def test_a_wheel_for_newer_systems_than_promised_is_seen(tmp_path: Path) -> None:
    wheel = _whole(tmp_path)
    newer = wheel.rename(tmp_path / wheel.name.replace("manylinux_2_34", "manylinux_2_36"))
    (found,) = complaints(newer)
    assert found.startswith("expected a tag of cp311 or abi3 and manylinux_2_34 or older, found")


def test_another_version_a_large_and_a_broken_wheel_are_seen(tmp_path: Path) -> None:
    (found,) = complaints(_whole(tmp_path, version="0.2.5"))
    assert found.startswith(f"expected compiler-gym-next {__version__}, found")
    wheel = _whole(tmp_path)
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("compiler_gym/large.txt", b" " * (MAIN.limit + 1))
    (found,) = complaints(wheel)
    assert found.startswith(f"expected at most {MAIN.limit:,} bytes, found 30,")
    wheel.write_bytes(wheel.read_bytes().replace(b" " * 64, b"!" * 64, 1))
    assert "compiler_gym/large.txt does not match its checksum" in complaints(wheel)


def test_a_page_that_the_index_cannot_show_is_one_complaint(tmp_path: Path) -> None:
    pytest.importorskip("twine")
    wheel = tmp_path / "a-1-py3-none-any.whl"
    head = "Metadata-Version: 2.1\nName: a\nVersion: 1\nDescription-Content-Type: text/"
    for kind, count in (("markdown", 0), ("x-rst", 1)):
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("a-1.dist-info/METADATA", f"{head}{kind}\n\n.. code:: a\n\n  `b\n`c_")
            archive.writestr("a-1.dist-info/WHEEL", "Wheel-Version: 1.0\n")
            archive.writestr("a-1.dist-info/RECORD", "")
        found = metadata_complaints([wheel])
        assert len(found) == count, found
    assert "syntax errors in markup" in found[0]


def test_a_release_without_its_changelog_or_version_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "changelog.d").mkdir()
    (found,) = release.of_version(tmp_path)
    assert found.startswith(f"CHANGELOG.md says nothing of {__version__}")
    (tmp_path / "CHANGELOG.md").write_text(f"## {__version__} (not released yet)\n")
    (found,) = release.of_version(tmp_path)
    assert found.startswith(f"CHANGELOG.md says nothing of {__version__}")
    (tmp_path / "CHANGELOG.md").write_text(f"## {__version__} (2026-01-02)\n")
    assert list(release.of_version(tmp_path)) == []
    (tmp_path / "changelog.d" / "a.added.md").write_text("It is new.\n")
    (found,) = release.of_version(tmp_path)
    assert "sentences of no release" in found
    (tmp_path / "changelog.d" / "a.added.md").rename(tmp_path / "changelog.d" / "a.better.md")
    (found,) = release.of_version(tmp_path)
    assert "expected WHAT.KIND.md" in found
    (tmp_path / "changelog.d" / "a.better.md").unlink()
    for version, is_release in (("1.0.0", True), ("1.0.0rc1", True), ("1.0.0.dev0", False)):
        monkeypatch.setattr(release, "__version__", version)
        first = next(iter(release.of_version(tmp_path)), "")
        assert ("expected a version such as 1.2.3" not in first) == is_release


def test_a_wheel_of_the_other_name_has_its_one_module_and_no_program(tmp_path: Path) -> None:
    wheel = tmp_path / f"compiler_gym_next_jit-{__version__}-cp311-cp311-manylinux_2_34_x86_64.whl"
    info = f"compiler_gym_next_jit-{__version__}.dist-info/licenses/"
    names = [f"{info}{name}" for name in LICENSES]
    module = "compiler_gym/_jit.cpython-311-x86_64-linux-gnu.so"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in [*names, module]:
            archive.writestr(name, "")
    assert complaints(wheel, JIT) == []
    assert JIT.is_of(wheel)
    assert JIT.is_of(wheel, is_stable=False)
    assert not JIT.is_of(wheel, is_stable=True)
    assert not MAIN.is_of(wheel)
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("compiler_gym/_box", "")
    assert complaints(wheel, JIT) == ["compiler_gym/_box is no part of this wheel"]


class Fake(Place):
    """A place where commands end as a test says."""

    @property
    def version(self) -> tuple[int, int]:
        return 3, 13

    def __init__(self, folder: Path, answers: dict[str, tuple[int, str]], is_full: bool = False):
        super().__init__("python", folder)
        self.answers = answers
        self.is_full = is_full
        self.asked: list[tuple[str, ...]] = []

    def install(self, *wheels: Path) -> None:
        if self.is_full:
            raise subprocess.CalledProcessError(1, "pip")

    def run(self, *words: str, clang: bool = False) -> subprocess.CompletedProcess[str]:
        self.asked.append(words)
        status, printed = self.answers.get(words[-1], (0, "define "))
        return subprocess.CompletedProcess(words, status, printed, "why")


def test_each_kind_of_failing_place_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "PAGES", ("page.md",))
    well = {"compiler-gym envs\n": (0, "one 1\ntwo\nthree\n")}
    place = Fake(tmp_path, well)
    assert list(release.of_place(place, Path("a.whl"), Path("b.whl"))) == []
    assert [words[-1] for words in place.asked] == [
        *(trying.SNIPPET, "compiler-gym envs\n", "print(1)\n", trying.LOOPS)
    ]
    (found,) = release.of_place(Fake(tmp_path, well, is_full=True), Path("a.whl"))
    assert found.startswith("the wheels cannot be installed: ")
    for code, answer, complaint in [
        (trying.SNIPPET, (1, "define "), "the snippet fails: why"),
        (trying.SNIPPET, (0, ""), "the snippet fails"),
        (trying.LOOPS, (1, ""), "loop nests fail: why"),
        ("print(1)\n", (1, ""), "page.md: `print(1)` left with status 1: why"),
        ("compiler-gym envs\n", (0, "one 1\nthree\n"), "printed something else than the page"),
    ]:
        place = Fake(tmp_path, {**well, code: answer})
        (found,) = release.of_place(place, Path("a.whl"), Path("b.whl"))
        assert complaint in found


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt-get")
def test_an_unsigned_source_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = tmp_path / "mirror" / "dists" / "trixie" / "main" / "source"
    listed.mkdir(parents=True)
    archive = tmp_path / "mirror" / "a_1.orig.tar.xz"
    archive.write_bytes(b"what somebody on the way put there")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    size = archive.stat().st_size
    (listed / "Sources").write_text(
        "Package: a\nBinary: a\nVersion: 1\nFormat: 1.0\nDirectory: .\nChecksums-Sha256:\n"
        f" {digest} {size} {archive.name}\n"
    )
    held = hashlib.sha256((listed / "Sources").read_bytes()).hexdigest()
    (listed.parents[1] / "Release").write_text(
        "Suite: trixie\nComponents: main\nSHA256:\n"
        f" {held} {(listed / 'Sources').stat().st_size} main/source/Sources\n"
    )
    monkeypatch.setattr(pythons, "MIRROR", f"file://{tmp_path}/mirror")
    with pytest.raises(SystemExit, match="not signed"):
        pythons.source_archive("a", "trixie", tmp_path / "into")
    assert list((tmp_path / "into" / "downloads").iterdir()) == []


def test_blocks_are_found_with_their_output() -> None:
    first, second = blocks(PAGE)
    assert (first.code, first.output, first.is_cut) == (
        "compiler-gym envs\n",
        "one 12\ntwo\n",
        True,
    )
    assert (second.language, second.output, second.needs_clang) == ("python", None, True)
    assert not first.needs_clang


def test_outputs_agree_up_to_their_numbers() -> None:
    assert same_but_numbers("a  1,234  -5.0%\n", "\na 7 2%\n")
    assert same_but_numbers("a b\n1 2\n", "a b\n ─────\n1 23\n")
    assert not same_but_numbers("a 1\n", "a 1\nb\n")
    assert same_but_numbers("a 1\n", "a 1\nb\n", is_cut=True)
    assert not same_but_numbers("a 1\n", "b 1\n", is_cut=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_newcomers_first_five_minutes(tmp_path: Path) -> None:
    """A wheel is built and installed where nothing else is; snippets and commands run there."""
    if not shutil.which("auditwheel", path=str(Path(sys.executable).parent)):
        pytest.skip("needs `make release-check` to have installed auditwheel")
    command = [sys.executable, "-m", "scripts.release", "check", "--python", sys.executable]
    command += ["--no-root", "--wheels-only", "--into", str(tmp_path)]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    complained = [line for line in done.stderr.splitlines() if line.startswith("NOT READY /")]
    assert complained == [], done.stderr
    assert ".whl" in done.stdout
