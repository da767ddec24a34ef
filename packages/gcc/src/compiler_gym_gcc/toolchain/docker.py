# SPDX-License-Identifier: MIT
"""Run the GCC in a Docker image, with one container for each run.

The working directory is mounted, so the daemon must have access to this machine's files. A
container has no network and limited memory, and is removed after its run.
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
"""The extra time for starting and removing a container."""
_BOUNDED = 'ulimit -c 0; ulimit -t "$0"; exec "$@"'
"""Limits the processor time of a run, so that it ends even if this process has died."""


class DockerRunner:
    """Runs programs in the image `image`."""

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
        """Run `words` in a new container; `setup` is ignored."""
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
        """Return the hash of the image."""
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
        """Return the image, pulling it if necessary."""
        from docker.errors import DockerException, ImageNotFound

        try:
            try:
                return client.images.get(self.image)
            except ImageNotFound:
                return client.images.pull(self.image)
        except DockerException as error:
            raise EnvironmentNotSupported(
                f"gcc_bin is 'docker:{self.image}', but Docker does not have this image and cannot "
                f"pull it: {error}"
            ) from error

    @contextmanager
    def _daemon(self) -> Generator[Any]:
        """Yield a new connection to the daemon, because forked workers cannot share one."""
        try:
            import docker
            from docker.errors import DockerException
        except ImportError as error:
            raise EnvironmentNotSupported(
                f"gcc_bin is 'docker:{self.image}', which needs the Docker SDK; install it with "
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
            f"gcc_bin is 'docker:{self.image}', but the Docker daemon does not answer; start it, "
            f"or set DOCKER_HOST ({error})"
        )
