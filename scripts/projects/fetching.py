# SPDX-License-Identifier: MIT
"""Get sources through the registries' own clients, into a folder of their own.

Debian's come by ``apt-get source`` under a configuration kept in that folder, so that the
machine's list of sources stays as it is; PyPI's by ``pip download``. A file that is not the one
the table names by its hash is refused.
"""

import hashlib
import json
import lzma
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from compiler_gym.errors import DatasetInitError, DownloadFailed
from compiler_gym_corpus.packages import PrivateApt
from scripts.projects.building import run, write_scripts
from scripts.projects.table import HERE, Project, projects

__all__ = ["fetch", "make_inputs"]

CORPUS = "sqlite3"
"""The project whose sources, as one file, are what benchmarks read."""
CORPUS_BYTES = 64 << 20
_MIRROR = "http://deb.debian.org/debian bookworm main"


def fetch(project: Project, into: Path) -> Path:
    """Return the folder with `project`'s prepared sources below `into`, made if it is not there."""
    source = into / project.name / "source"
    if not source.exists():
        unpacked = into / project.name / "unpacking"
        shutil.rmtree(unpacked, ignore_errors=True)
        _unpack(_downloaded(project, into), project.inner, unpacked)
        if project.prepare:
            run(project.prepare, unpacked, into, log=into / project.name / "prepare.log")
        unpacked.rename(source)
    write_scripts(project, into)
    return source


def make_inputs(into: Path) -> Path:
    """Return the folder of what benchmarks read, filled: our files and a corpus of sources."""
    inputs = into / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    for file in (HERE / "inputs").iterdir():
        shutil.copyfile(file, inputs / file.name)
    corpus, lines = inputs / "corpus", inputs / "lines.json"
    if not (corpus.exists() and lines.exists()):
        archive = _downloaded(next(row for row in projects() if row.name == CORPUS), into)
        with lzma.open(archive) as packed:
            corpus.write_bytes(packed.read(CORPUS_BYTES))
        lines.write_text("".join(_records(archive)))
    return inputs


def _records(archive: Path) -> list[str]:
    """Return a line of JSON for each file of `archive`, ten times over with other names."""
    records: list[dict[str, object]] = []
    with tarfile.open(archive) as sources:
        for member in sources:
            held = sources.extractfile(member) if member.isfile() else None
            text = held.read().decode("latin-1").splitlines() if held else []
            if not text:
                continue
            words: dict[str, int] = {}
            for word in " ".join(text[:40]).split()[:60]:
                words[word] = words.get(word, 0) + 1
            path = member.name.partition("/")[2]
            records.append(
                {
                    "path": path,
                    "kind": Path(path).suffix,
                    "lines": len(text),
                    "longest": max(map(len, text)),
                    "words": words,
                }
            )
    return [
        json.dumps(record | {"path": f"{'abcdefghij'[again]}/{record['path']}"}) + "\n"
        for again in range(10)
        for record in records
    ]


def _downloaded(project: Project, into: Path) -> Path:
    """Return the file with `project`'s sources, fetched if it is not there yet."""
    folder = into / "downloads"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / project.archive
    if not archive.exists():
        if project.debian:
            try:
                PrivateApt(into / "apt", [_MIRROR]).prepare().fetch_archive(project.debian, folder)
            except (DatasetInitError, DownloadFailed) as error:
                raise SystemExit(str(error)) from error
        else:
            name = project.pypi.partition("==")[0]
            _client([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary",
                     name, project.pypi], folder)  # fmt: skip
    if not archive.exists():
        raise SystemExit(f"{project.name}: the registry gave no {archive.name}; see {folder}")
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != project.sha256:
        archive.unlink()
        raise SystemExit(
            f"{archive.name}: expected sha256 {project.sha256}, found {found}; it was removed"
        )
    return archive


def _client(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed:\n{done.stderr.strip()[-1000:]}")


def _extract(archive: Path, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "-xf", archive, "-C", into], check=True)


def _unpack(archive: Path, inner: str, into: Path) -> None:
    """Unpack `archive`, or the one `inner` to it, and lift its only folder to `into`."""
    parts = into.with_name(f"{into.name}.parts")
    shutil.rmtree(parts, ignore_errors=True)
    _extract(archive, parts)
    if inner:
        (found,) = parts.glob(f"*/{inner}")
        _extract(found, parts / "inner")
        parts_of = parts / "inner"
    else:
        parts_of = parts
    (folder,) = parts_of.iterdir()
    folder.rename(into)
    shutil.rmtree(parts)
