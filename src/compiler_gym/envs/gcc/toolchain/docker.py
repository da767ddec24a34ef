# SPDX-License-Identifier: MIT
"""Runs the GCC of a Docker image, one container for each run.

The directory of a run is mounted, so the daemon must see this machine's files. A
container has no network, bounded memory, and is removed when its run is over.
"""

import os
import subprocess
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from compiler_gym.errors import EnvironmentNotSupported
from compiler_gym.version import install_hint

__all__ = ["DockerRunner"]

_MOUNT = "/work"
_IMAGE_MEMORY_BYTES = 8 << 30
_SPARE_SECONDS = 30.0
"""What starting and removing a container may take beyond its run."""
_BOUNDED = 'ulimit -c 0; ulimit -t "$0"; exec "$@"'
"""A run ends by itself, even if nobody is left to end it."""


class DockerRunner:
    """Runs programs of the image `image`."""

    def __init__(self, image: str) -> None:
        self.image = image

    def __call__(
        self,
        words: Sequence[str],
        *,
        timeout: float,
        cwd: Path | None = None,
        setup: Callable[[], None] | None = None,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run `words` in a new container; `setup` is for programs of this machine."""
        with self._daemon() as client:
            self._image(client)
            container = self._start(client, words, timeout, cwd)
            try:
                status = self._wait(container, words, timeout)
                output = container.logs(stdout=True, stderr=False)
                errors = container.logs(stdout=False, stderr=True)
            finally:
                container.remove(force=True)
        return subprocess.CompletedProcess(words, status, output, errors)

    def identity(self) -> str:
        """Return the image's own hash."""
        with self._daemon() as client:
            return f"docker {self._image(client).id}"

    def _start(self, client: Any, words: Sequence[str], timeout: float, cwd: Path | None) -> Any:
        volumes = {} if cwd is None else {str(cwd): {"bind": _MOUNT, "mode": "rw"}}
        return client.containers.run(
            self.image,
            ["-c", _BOUNDED, str(int(timeout) + 1), *words],
            entrypoint="sh",
            detach=True,
            environment={"LC_ALL": "C", "COLUMNS": "4096", "SOURCE_DATE_EPOCH": "0"},
            mem_limit=_IMAGE_MEMORY_BYTES,
            network_disabled=True,
            user=f"{os.getuid()}:{os.getgid()}",
            volumes=volumes,
            working_dir=_MOUNT if cwd is not None else "/",
        )

    def _wait(self, container: Any, words: Sequence[str], timeout: float) -> int:
        from requests.exceptions import ConnectionError, ReadTimeout

        try:
            return int(container.wait(timeout=timeout)["StatusCode"])
        except (ConnectionError, ReadTimeout):
            raise subprocess.TimeoutExpired(list(words), timeout) from None

    def _image(self, client: Any) -> Any:
        """Return the image, fetched if it is not there."""
        from docker.errors import DockerException, ImageNotFound

        try:
            try:
                return client.images.get(self.image)
            except ImageNotFound:
                return client.images.pull(self.image)
        except DockerException as error:
            raise EnvironmentNotSupported(
                f"gcc_bin is 'docker:{self.image}', and Docker has no such image and "
                f"cannot fetch it: {error}"
            ) from error

    @contextmanager
    def _daemon(self) -> Generator[Any]:
        """Lend a connection to the daemon: a worker that was forked must not share one."""
        try:
            import docker
            from docker.errors import DockerException
        except ImportError as error:
            raise EnvironmentNotSupported(
                f"gcc_bin is 'docker:{self.image}', which needs the Docker SDK: install it with "
                f"`{install_hint('docker')}`"
            ) from error
        try:
            client: Any = docker.from_env(timeout=int(_SPARE_SECONDS))
        except DockerException as error:
            raise self._unreachable(error) from error
        try:
            try:
                client.ping()
            except DockerException as error:
                raise self._unreachable(error) from error
            yield client
        finally:
            client.close()

    def _unreachable(self, error: Exception) -> EnvironmentNotSupported:
        return EnvironmentNotSupported(
            f"gcc_bin is 'docker:{self.image}', and the Docker daemon does not answer: start "
            f"it, or set DOCKER_HOST ({error})"
        )
