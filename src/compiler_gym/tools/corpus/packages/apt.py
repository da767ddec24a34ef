# SPDX-License-Identifier: MIT
"""Fetch packages with an apt of its own: the lists, settings and packages of the system stay.

All it knows lies in one folder, and it believes nothing that the distribution has not signed.
What it installs is only downloaded; nothing of a package is run here.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from compiler_gym.errors import DatasetInitError, DownloadFailed
from compiler_gym.files import hash_file, lock_path, write_whole
from compiler_gym.tools.corpus.packages.copyright import paragraphs

__all__ = ["Fetched", "PrivateApt"]

SIGNED = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
"""Whose signature the archive has to have."""
_URI = re.compile(r"'([^']+)' (\S+) (\d+) SHA256:([0-9a-f]{64})")
_KEPT_SETTING = re.compile(r"Acquire::(http|https|ftp)(::\S+)?::Proxy|Acquire::(http|https)::Proxy")
_FETCH_SECONDS, _ASK_SECONDS = 3600.0, 300.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """One file of the archive, as apt names it."""

    name: str
    """The name of the file."""
    size: int
    sha256: str

    @property
    def package(self) -> tuple[str, str]:
        """The package and the version of a ``.deb``."""
        name, version, _ = self.name.removesuffix(".deb").split("_")
        return name, unquote(version)


class PrivateApt:
    """An apt whose state lies in `folder`, and which knows the lines `mirrors` of an archive.

    A line is ``URL SUITE COMPONENT``. `versions` are packages that are had in one version only.
    Raises `DatasetInitError` where there is no apt, and `DownloadFailed` for what it cannot fetch.
    """

    def __init__(
        self, folder: Path, mirrors: Sequence[str], versions: Mapping[str, str] | None = None
    ) -> None:
        self._home = folder.absolute()
        self.mirrors = tuple(mirrors)
        self._versions = dict(versions or {})

    @property
    def variables(self) -> dict[str, str]:
        """What the environment of a command of apt holds, so that it is this one's."""
        return {"APT_CONFIG": str(self._home / "apt.conf"), "LC_ALL": "C.UTF-8"}

    @property
    def downloads(self) -> Path:
        """Where fetched packages lie."""
        return self._home / "downloads"

    def prepare(self) -> "PrivateApt":
        """Write its settings, and read the lists of the mirrors where that was not done yet."""
        if shutil.which("apt-get") is None:
            raise DatasetInitError(
                "expected apt-get on PATH to fetch packages with: build on Debian or Ubuntu, or "
                "in a container of one"
            )
        # Apt names only what it has not: its own folder of archives stays empty.
        for part in ("lists/partial", "cache/archives/partial", "state", "downloads"):
            (self._home / part).mkdir(parents=True, exist_ok=True)
        with lock_path(self._home / "lists"):
            listed = self._home / "lists.done"
            lines = [
                f"{kind} {SIGNED}{mirror}\n"
                for mirror in self.mirrors
                for kind in ("deb", "deb-src")
            ]
            (self._home / "state" / "status").touch()
            write_whole(self._home / "sources.list", "".join(lines).encode())
            write_whole(self._home / "preferences", self._pins().encode())
            write_whole(self._home / "apt.conf", self._settings().encode())
            if not listed.exists() or listed.read_text() != "".join(lines):
                self.ask(["apt-get", "update", "-qq"], seconds=_FETCH_SECONDS)
                write_whole(listed, "".join(lines).encode())
        return self

    def source(self, package: str, version: str, into: Path) -> Path:
        """Fetch the source of `package` in `version` into the folder, and return its ``.dsc``."""
        asked = f"{package}={version}" if version else package
        words = ["apt-get", "source", "--download-only", "--only-source", "-qq", asked]
        into.mkdir(parents=True, exist_ok=True)
        self.ask(words, cwd=into, seconds=_FETCH_SECONDS)
        found = sorted(into.glob("*.dsc"))
        if len(found) != 1:
            raise DownloadFailed(f"expected one .dsc of {asked}, found {len(found)}")
        return found[0]

    def fetch_archive(self, package: str, into: Path) -> None:
        """Fetch only the original archive of a source package into the folder."""
        words = ["apt-get", "source", "--download-only", "--tar-only", "-qq", package]
        self.ask(words, cwd=into, seconds=_FETCH_SECONDS)

    def describe_source(self, package: str) -> dict[str, str]:
        """Return what the archive says of the newest source of `package`."""
        words = ["apt-get", "source", "--print-uris", "--only-source", "-qq", package]
        files = {file.name: file for file in _files_in(self.ask(words))}
        name = next((name for name in files if name.endswith(".dsc")), "")
        for fields in paragraphs(self.ask(["apt-cache", "showsrc", "--only-source", package])):
            if name and f" {name}" in fields.get("Checksums-sha256", ""):
                return {**fields, "Dsc-sha256": files[name].sha256}
        raise DownloadFailed(f"Unable to find a source package for {package}")

    def sources(self) -> Iterator[dict[str, str]]:
        """Yield what the archive says of each source package that it has."""
        asked = ["apt-get", "indextargets", "--format", "$(FILENAME)", "Created-By: Sources"]
        for name in self.ask(asked).split():
            yield from paragraphs(self.ask(["/usr/lib/apt/apt-helper", "cat-file", name]))

    def resolve_needed(self, names: Sequence[str]) -> list[Fetched]:
        """Return every package that must be there for the packages `names`, themselves among them.

        ``?essential`` stands for what every system has.
        """
        return _files_in(self.ask(["apt-get", "install", "-y", "-qq", "--print-uris", *names]))

    def build_depends(self, package: str, version: str = "") -> list[Fetched]:
        """Return every package that must be there to build the source `package`."""
        asked = f"{package}={version}" if version else package
        return _files_in(self.ask(["apt-get", "build-dep", "-y", "-qq", "--print-uris", asked]))

    def fetch(self, files: Sequence[Fetched]) -> list[Path]:
        """Return the packages `files`, downloaded where they are not there yet."""
        missing = [file for file in files if not (self.downloads / file.name).is_file()]
        if missing:
            asked = ["=".join(file.package) for file in missing]
            with lock_path(self.downloads):
                self.ask(["apt-get", "download", "-qq", *asked], cwd=self.downloads,
                         seconds=_FETCH_SECONDS)  # fmt: skip
        for file in missing:
            path = self.downloads / file.name
            found = hash_file(path) if path.is_file() else "nothing"
            if found != file.sha256:
                path.unlink(missing_ok=True)
                raise DownloadFailed(f"{file.name}: expected sha256 {file.sha256}, found {found}")
        return [self.downloads / file.name for file in files]

    def ask(
        self, words: Sequence[str], *, cwd: Path | None = None, seconds: float = _ASK_SECONDS
    ) -> str:
        """Return what a command of apt prints; raise `DownloadFailed` with its own words."""
        try:
            done = subprocess.run(
                words, cwd=cwd or self._home, env=os.environ | self.variables,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                timeout=seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise DownloadFailed(f"`{' '.join(words)}` took longer than {seconds:g} s") from None
        if done.returncode:
            said = "\n".join(line for line in done.stderr.splitlines() if line.startswith("E:"))
            raise DownloadFailed(f"`{' '.join(words)}` failed: {said or done.stderr.strip()}")
        return done.stdout

    def _pins(self) -> str:
        return "\n".join(
            f"Package: {name}\nPin: version {version}\nPin-Priority: 1001\n"
            for name, version in sorted(self._versions.items())
        )

    def _settings(self) -> str:
        home = self._home
        settings = {
            # The machine's own settings name commands that are run after an update.
            "Dir::Etc::Main": "/dev/null",
            "Dir::Etc::Parts": "/dev/null",
            "Dir::Etc::SourceList": home / "sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": home / "preferences",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::State": home / "state",
            "Dir::State::Lists": home / "lists",
            "Dir::State::status": home / "state" / "status",
            "Dir::Cache": home / "cache",
            "Acquire::AllowInsecureRepositories": "false",
            "Acquire::ForceHash": "SHA256",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
            "APT::Get::AllowUnauthenticated": "false",
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "root" if os.geteuid() == 0 else "",
        }
        written = [f'{name} "{value}";\n' for name, value in settings.items()]
        return "".join([*written, *_proxies()])


def _proxies() -> list[str]:
    """Return how this machine reaches others, as its own apt says it."""
    done = subprocess.run(
        ["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=False
    )
    return [
        f"{line}\n" for line in done.stdout.splitlines() if _KEPT_SETTING.match(line.split(" ")[0])
    ]


def _files_in(printed: str) -> list[Fetched]:
    return [Fetched(name, int(size), digest) for _, name, size, digest in _URI.findall(printed)]
