# SPDX-License-Identifier: MIT
"""Explains why the kernel refused to make namespaces, and who can change that.

The kernel reports all reasons with a handful of error numbers: "No space left on device" means
a limit on namespaces, not a full disk. This machine's settings tell the reasons apart.
"""

import errno
import os
from pathlib import Path

__all__ = ["explain_failure"]

_NAMESPACE_LIMITS = tuple(
    f"user/max_{kind}_namespaces" for kind in ("user", "mnt", "pid", "net", "ipc", "uts")
)
_DEBIAN = "kernel/unprivileged_userns_clone"
_APPARMOR = "kernel/apparmor_restrict_unprivileged_userns"
_FORBIDDEN = (errno.EPERM, errno.EACCES)
_ERROR_NUMBERS = (*_FORBIDDEN, errno.ENOSPC, errno.EUSERS, errno.EINVAL, errno.ENOSYS)


def explain_failure(
    said: str, *, settings: Path = Path("/proc/sys"), status: str | None = None
) -> str:
    """Return the message of a tool that could not make namespaces, with its cause and remedy.

    `settings` holds the kernel's settings, and `status` this process's ``/proc`` status.

    >>> explained("mount tmpfs: Disk quota exceeded")
    'mount tmpfs: Disk quota exceeded'
    """
    step, _, error = said.rpartition(": ")
    number = next((one for one in _ERROR_NUMBERS if os.strerror(one) == error), None)
    if number is None:
        return said
    if status is None:
        status = _setting(Path("/proc/self/status"))
    meaning = _meaning(step, number, settings, status)
    if number == errno.ENOSPC:  # the kernel's message misleads, so it is left out
        return f"{step}: {meaning}"
    return f"{said}: {meaning}" if meaning else said


def _meaning(step: str, number: int, settings: Path, status: str) -> str:
    if number == errno.ENOSPC:
        return _of_counts(settings)
    if number == errno.EUSERS:
        return "namespaces are nested too deeply: run it outside of a container"
    if step == "become nobody":
        return (
            "root needs the capabilities SETUID, SETGID and CHOWN, and a user 65534, to make the "
            "program nobody: give them to the container, or start it as a plain user"
        )
    if number == errno.EINVAL:
        return "this kernel has no namespaces of users (CONFIG_USER_NS)"
    if step == "mount /proc":
        return (
            "parts of /proc are covered, as in most containers: start the container with "
            "`--security-opt systempaths=unconfined`"
        )
    if number in _FORBIDDEN and _setting(settings / _DEBIAN).strip() == "0":
        return _switch(_DEBIAN, 1, "namespaces of plain users are switched off")
    if number in _FORBIDDEN and _setting(settings / _APPARMOR).strip() == "1":
        return _switch(_APPARMOR, 0, "AppArmor takes their use from plain users")
    if "\nSeccomp:\t2" in status:
        return (
            "a filter of system calls forbids it, as in most containers: start the container with "
            "`--security-opt seccomp=unconfined`"
        )
    if number == errno.ENOSYS:
        return "this kernel is older than Linux 5.12"
    return ""


def _of_counts(settings: Path) -> str:
    spent = [name for name in _NAMESPACE_LIMITS if _setting(settings / name).strip() == "0"] or [
        _NAMESPACE_LIMITS[0]
    ]
    allowed = _setting(settings / spent[0]).strip()
    if allowed == "0":
        return _switch(spent[0], 10000, "this machine allows none")
    return _switch(
        spent[0], 10000, f"as many as are allowed are in use, here or further out ({allowed})"
    )


def _switch(name: str, value: int, what: str) -> str:
    setting = name.replace("/", ".")
    return f"{what} ({setting}): an administrator can change it: `sysctl {setting}={value}`"


def _setting(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
