# SPDX-License-Identifier: MIT
"""Download packages with a private apt: the system's lists, settings and packages are not changed.

All state is in one folder, and only data signed by the distribution is accepted. Packages are
downloaded but not installed, and none of their scripts is run.
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
from compiler_gym_corpus.packages.copyright import paragraphs

__all__ = ["Fetched", "PrivateApt"]

SIGNED = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
"""The option of a source line that selects the archive's signing key."""
_URI = re.compile(r"'([^']+)' (\S+) (\d+) SHA256:([0-9a-f]{64})")
_KEPT_SETTING = re.compile(r"Acquire::(http|https|ftp)(::\S+)?::Proxy|Acquire::(http|https)::Proxy")
_FETCH_SECONDS, _ASK_SECONDS = 3600.0, 300.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """One file in the archive."""

    name: str
    """The file name."""
    size: int
    sha256: str

    @property
    def package(self) -> tuple[str, str]:
        """The package and the version of a ``.deb``."""
        name, version, _ = self.name.removesuffix(".deb").split("_")
        return name, unquote(version)


class PrivateApt:
    """An apt whose state is in `folder` and whose sources are the lines `mirrors`.

    A line is ``URL SUITE COMPONENT``. `versions` pins packages to versions. Raises
    `DatasetInitError` if apt is not installed, and `DownloadFailed` if a download fails.
    """

    def __init__(
        self, folder: Path, mirrors: Sequence[str], versions: Mapping[str, str] | None = None
    ) -> None:
        self._home = folder.absolute()
        self.mirrors = tuple(mirrors)
        self._versions = dict(versions or {})

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that make apt's commands use this instance."""
        return {"APT_CONFIG": str(self._home / "apt.conf"), "LC_ALL": "C.UTF-8"}

    @property
    def downloads(self) -> Path:
        """The folder of downloaded packages."""
        return self._home / "downloads"

    def prepare(self) -> "PrivateApt":
        """Write the settings, and download the package lists unless that was done."""
        if shutil.which("apt-get") is None:
            raise DatasetInitError(
                "apt-get not found on PATH; build packages on Debian or Ubuntu, or in a container "
                "with one of them"
            )
        # apt lists only files that are not in its archive folder, so that folder stays empty.
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
        """Download the source of `package` in `version` to `into` and return its ``.dsc``."""
        name = f"{package}={version}" if version else package
        command = ["apt-get", "source", "--download-only", "--only-source", "-qq", name]
        into.mkdir(parents=True, exist_ok=True)
        self.ask(command, cwd=into, seconds=_FETCH_SECONDS)
        descriptions = sorted(into.glob("*.dsc"))
        if len(descriptions) != 1:
            raise DownloadFailed(f"{name} has {len(descriptions)} .dsc files instead of one")
        return descriptions[0]

    def fetch_archive(self, package: str, into: Path) -> None:
        """Download only the original archive of a source package to `into`."""
        command = ["apt-get", "source", "--download-only", "--tar-only", "-qq", package]
        self.ask(command, cwd=into, seconds=_FETCH_SECONDS)

    def describe_source(self, package: str) -> dict[str, str]:
        """Return the control fields of the newest source of `package`."""
        command = ["apt-get", "source", "--print-uris", "--only-source", "-qq", package]
        files = {file.name: file for file in _files_in(self.ask(command))}
        name = next((name for name in files if name.endswith(".dsc")), "")
        for fields in paragraphs(self.ask(["apt-cache", "showsrc", "--only-source", package])):
            if name and f" {name}" in fields.get("Checksums-sha256", ""):
                return {**fields, "Dsc-sha256": files[name].sha256}
        raise DownloadFailed(f"Unable to find a source package for {package}")

    def sources(self) -> Iterator[dict[str, str]]:
        """Yield the control fields of each source package in the archive."""
        command = ["apt-get", "indextargets", "--format", "$(FILENAME)", "Created-By: Sources"]
        for name in self.ask(command).split():
            yield from paragraphs(self.ask(["/usr/lib/apt/apt-helper", "cat-file", name]))

    def resolve_needed(self, names: Sequence[str]) -> list[Fetched]:
        """Return the packages `names` and everything they depend on.

        ``?essential`` stands for the essential packages of the distribution.
        """
        return _files_in(self.ask(["apt-get", "install", "-y", "-qq", "--print-uris", *names]))

    def build_depends(self, package: str, version: str = "") -> list[Fetched]:
        """Return every package needed to build the source `package`."""
        name = f"{package}={version}" if version else package
        return _files_in(self.ask(["apt-get", "build-dep", "-y", "-qq", "--print-uris", name]))

    def fetch(self, files: Sequence[Fetched]) -> list[Path]:
        """Return the paths of the packages `files`, downloading missing ones."""
        missing = [file for file in files if not (self.downloads / file.name).is_file()]
        if missing:
            names = ["=".join(file.package) for file in missing]
            with lock_path(self.downloads):
                self.ask(["apt-get", "download", "-qq", *names], cwd=self.downloads,
                         seconds=_FETCH_SECONDS)  # fmt: skip
        for file in missing:
            path = self.downloads / file.name
            digest = hash_file(path) if path.is_file() else "missing"
            if digest != file.sha256:
                path.unlink(missing_ok=True)
                raise DownloadFailed(f"{file.name}: its sha256 is {digest}, not {file.sha256}")
        return [self.downloads / file.name for file in files]

    def ask(
        self, words: Sequence[str], *, cwd: Path | None = None, seconds: float = _ASK_SECONDS
    ) -> str:
        """Return the output of an apt command; raise `DownloadFailed` with its error message."""
        try:
            result = subprocess.run(
                words, cwd=cwd or self._home, env=os.environ | self.variables,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                timeout=seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise DownloadFailed(f"`{' '.join(words)}` took longer than {seconds:g} s") from None
        if result.returncode:
            error = "\n".join(line for line in result.stderr.splitlines() if line.startswith("E:"))
            raise DownloadFailed(f"`{' '.join(words)}` failed: {error or result.stderr.strip()}")
        return result.stdout

    def _pins(self) -> str:
        return "\n".join(
            f"Package: {name}\nPin: version {version}\nPin-Priority: 1001\n"
            for name, version in sorted(self._versions.items())
        )

    def _settings(self) -> str:
        home = self._home
        settings = {
            # The machine's own settings may run commands after an update.
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
        lines = [f'{name} "{value}";\n' for name, value in settings.items()]
        return "".join([*lines, *_proxies()])


def _proxies() -> list[str]:
    """Return the proxy settings of this machine's apt."""
    result = subprocess.run(
        ["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=False
    )
    return [
        f"{line}\n"
        for line in result.stdout.splitlines()
        if _KEPT_SETTING.match(line.split(" ")[0])
    ]


def _files_in(output: str) -> list[Fetched]:
    return [Fetched(name, int(size), digest) for _, name, size, digest in _URI.findall(output)]
