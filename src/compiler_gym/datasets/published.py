# SPDX-License-Identifier: MIT
"""A dataset published as one archive, described in `published_archives`.

It is installed once for all compilers. A subclass for each compiler names the archive and reads
its files.
"""

from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.datasets.files import TarDatasetWithManifest
from compiler_gym.datasets.published_archives import Archive
from compiler_gym.datasets.uri import BenchmarkUri
from compiler_gym.errors import UnknownNameError


class PublishedDataset(TarDatasetWithManifest):
    """The programs of one `archive`; `dataset_args` override its facts, for mirrors."""

    archive: ClassVar[Archive]
    """The description of the archive."""

    def __init__(
        self, site_data_base: str | Path | None = None, sort_order: int = 0, **dataset_args: Any
    ) -> None:
        arguments: dict[str, Any] = self.archive.arguments() | {
            "site_data_base": site_data_base,
            "sort_order": sort_order,
        }
        super().__init__(**(arguments | dataset_args))

    def find_path(self, uri: BenchmarkUri) -> Path:
        """Return the file of the program at `uri`; raise `UnknownNameError` if there is none."""
        if not self.archive.main_files:
            return super().find_path(uri)
        name = uri.path.strip("/")
        path = self.dataset_root / name / self.archive.main_files.get(name, "")
        if name not in self.archive.main_files or not path.is_file():
            raise UnknownNameError(f"no program {uri}{self._suggestion(uri)}")
        return path

    def verify(self) -> list[str]:
        """Return a sentence about each difference from the installed state."""
        findings = super().verify()
        if not self.archive.main_files:
            return findings
        # The listed names are folders, so the base class reports each as missing.
        return [finding for finding in findings if "is listed" not in finding]

    def _fetch_manifest(self) -> bytes:
        if not self.archive.main_files:
            return super()._fetch_manifest()
        return "\n".join(self.archive.main_files).encode()

    def _fill(self, directory: Path, archive: Path) -> None:
        super()._fill(directory, archive)
        if not self.strip_prefix:
            self._lift(directory / self.dataset_root.name)

    def _lift(self, contents: Path) -> None:
        """Remove top-level folders that contain everything and are not part of the names."""
        first = next(iter(self._walk()), "")
        while not (contents / (first + self.benchmark_file_suffix)).is_file():
            entries = list(contents.iterdir())
            if len(entries) != 1 or not entries[0].is_dir():
                return
            # The folder may contain another of the same name.
            folder = entries[0].rename(contents.with_name(".lifted"))
            contents.rmdir()
            folder.rename(contents)
