# SPDX-License-Identifier: MIT
"""Explains why the kernel refused to make namespaces, and how to change that.

The kernel reports all reasons with a handful of error numbers: "No space left on device" means a
limit of namespaces, not a full disk. The settings of this machine distinguish the reasons.
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
    message: str, *, settings: Path = Path("/proc/sys"), status: str | None = None
) -> str:
    """Return the message of a tool that could not make namespaces, with its cause and remedy.

    `settings` is the folder of the kernel's settings, and `status` this process's ``/proc`` status.

    >>> explain_failure("mount tmpfs: Disk quota exceeded")
    'mount tmpfs: Disk quota exceeded'
    """
    step, _, error = message.rpartition(": ")
    number = next((n for n in _ERROR_NUMBERS if os.strerror(n) == error), None)
    if number is None:
        return message
    if status is None:
        status = _setting(Path("/proc/self/status"))
    meaning = _meaning(step, number, settings, status)
    if number == errno.ENOSPC:  # omit the kernel's misleading message
        return f"{step}: {meaning}"
    return f"{message}: {meaning}" if meaning else message


def _meaning(step: str, number: int, settings: Path, status: str) -> str:
    if number == errno.ENOSPC:
        return _of_counts(settings)
    if number == errno.EUSERS:
        return "namespaces are nested too deeply: run this outside a container"
    if step == "become nobody":
        return (
            "root needs the capabilities SETUID, SETGID and CHOWN, and a user 65534, to run "
            "programs unprivileged: give them to the container, or start it as an ordinary user"
        )
    if number == errno.EINVAL:
        return "this kernel has no user namespaces (CONFIG_USER_NS)"
    if step == "mount /proc":
        return (
            "parts of /proc are covered, as in most containers: start the container with "
            "`--security-opt systempaths=unconfined`"
        )
    if number in _FORBIDDEN and _setting(settings / _DEBIAN).strip() == "0":
        return _switch(_DEBIAN, 1, "namespaces are disabled for ordinary users")
    if number in _FORBIDDEN and _setting(settings / _APPARMOR).strip() == "1":
        return _switch(_APPARMOR, 0, "AppArmor denies namespaces to ordinary users")
    if "\nSeccomp:\t2" in status:
        return (
            "a system call filter forbids it, as in most containers: start the container with "
            "`--security-opt seccomp=unconfined`"
        )
    if number == errno.ENOSYS:
        return "this kernel is older than Linux 5.12"
    return ""


def _of_counts(settings: Path) -> str:
    full = [name for name in _NAMESPACE_LIMITS if _setting(settings / name).strip() == "0"] or [
        _NAMESPACE_LIMITS[0]
    ]
    allowed = _setting(settings / full[0]).strip()
    if allowed == "0":
        return _switch(full[0], 10000, "this machine allows none")
    return _switch(
        full[0], 10000, f"all allowed namespaces are in use, here or further out ({allowed})"
    )


def _switch(name: str, value: int, problem: str) -> str:
    setting = name.replace("/", ".")
    return f"{problem} ({setting}): an administrator can change it: `sysctl {setting}={value}`"


def _setting(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
