"""Tiny source packages, a system to build them in and a front end, without any archive."""

import shutil
import subprocess
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from compiler_gym.errors import DownloadFailed
from compiler_gym.options import PackageLimits
from compiler_gym.tools.tune.builds import Unit
from compiler_gym_corpus.packages import LockedPackage, PackageResult, Root, build_package

missing = [
    name for name in ("bwrap", "dpkg-source", "gcc", "make", "python3") if not shutil.which(name)
]
needs_tools = pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)} on PATH")

RULES = "#!/usr/bin/make -f\nbuild-arch:\n\t{}\n"
LIMITS = PackageLimits(seconds=60, test_seconds=20)


def make_source(folder: Path, name: str, files: Mapping[str, str], build: str) -> Path:
    """Write the source package `name`, whose rules run the command `build`; return its .dsc."""
    tree = folder / f"{name}-1"
    written = {
        "debian/rules": RULES.format(build),
        "debian/control": f"Source: {name}\nMaintainer: A <a@b.c>\nStandards-Version: 4.6\n\n"
        f"Package: {name}\nArchitecture: any\nDescription: x\n",
        "debian/changelog": f"{name} (1) x; urgency=low\n\n  * x\n\n"
        " -- A <a@b.c>  Thu, 01 Jan 2015 00:00:00 +0000\n",
        "debian/copyright": "Files: *\nLicense: Zlib\n\nFiles: lib/*\nLicense: MIT\n",
        "debian/source/format": "3.0 (native)\n",
        **files,
    }
    for path, text in written.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    subprocess.run(
        ["dpkg-source", "-Zgzip", "-b", tree.name], cwd=folder, check=True, capture_output=True
    )
    shutil.rmtree(tree)
    return folder / f"{name}_1.dsc"


@dataclass
class FolderSupplier:
    """Gives sources out of a folder, and this machine's own system."""

    folder: Path
    without: Collection[str] = ()
    """Packages that are built against something that is not to be had."""
    fetched: list[str] = field(default_factory=list[str])

    def source(self, package: LockedPackage, into: Path) -> Path:
        self.fetched.append(package.name)
        found = list(self.folder.glob(f"{package.name}_*"))
        if not found:
            raise DownloadFailed(f"E: Unable to find a source package for {package.name}")
        for path in found:
            shutil.copy(path, into)
        return next(into.glob("*.dsc"))

    @contextmanager
    def root(self, package: LockedPackage) -> Generator[Root]:
        if package.name in self.without:
            raise DownloadFailed("E: Unable to locate package libnothing-dev")
        yield Root(Path("/"), ("libc6=1",))


class AssemblyCompiler:
    """A front end whose modules are assembly, which every machine with gcc has."""

    packages: Sequence[str] = ("gcc",)
    level = "-Oz"
    suffix = ".s"

    def version_command(self) -> Sequence[str]:
        return ["/usr/bin/gcc", "--version"]

    def command(self, unit: Unit, output: str, left_out: Collection[str]) -> Sequence[str]:
        command = unit.command.without_flags(set(left_out))
        words = [*command.arguments(unit.source)]
        return ["/usr/bin/gcc", *words, "-S", "-O0", "-g0", "-o", output]

    def unknown_flags(self, said: str, unit: Unit) -> set[str]:
        return {flag for flag in unit.command.flags if flag in said}

    def counts(self, modules: Sequence[bytes]) -> list[tuple[int, int] | None]:
        return [(len(one.splitlines()), one.count(b"@function")) for one in modules]

    def link_modules(
        self, modules: Sequence[bytes], archives: Sequence[Sequence[bytes]], *, is_shared: bool
    ) -> bytes:
        return b"".join([*modules, *(member for archive in archives for member in archive)])


def built(
    folder: Path, files: Mapping[str, str], build: str, limits: PackageLimits = LIMITS
) -> tuple[PackageResult, Path]:
    """Return how a package of `files` ended, and the folder with what it gave."""
    sources, output = folder / "sources", folder / "output"
    sources.mkdir()
    output.mkdir()
    make_source(sources, "tiny", files, build)
    result = build_package(
        LockedPackage("tiny", "1"),
        output,
        supplier=FolderSupplier(sources),
        compiler=AssemblyCompiler(),
        limits=limits,
    )
    return result, output
