# SPDX-License-Identifier: MIT
"""The commands that make a sandbox: our helper, alone or inside bubblewrap.

The list of files of the host that every program may read is the only one: the helper, its Landlock
rules and bubblewrap all use it. If the kernel refuses to make namespaces, it reports all reasons
with a handful of error numbers: "No space left on device" means a limit of namespaces, not a full
disk. The settings of this machine distinguish the reasons.
"""

import errno
import importlib.util
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler_gym.errors import SandboxError

SYSTEM = (
    # Programs and libraries; a top-level symbolic link stays a link.
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    # Files that the C library and some interpreters read.
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ghostscript",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/protocols",
    "/etc/services",
    "/etc/terminfo",
    "/var/lib/ghostscript",
)

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def is_system(path: str) -> bool:
    """Return whether `path`, which is absolute and without ``..``, is readable in every sandbox.

    >>> is_system("/usr/bin/true"), is_system("/usrlocal"), is_system("/gnu/store/x")
    (True, False, True)
    """
    return any(path == folder or path.startswith(f"{folder}/") for folder in SYSTEM)


NOBODY = 65534
"""The user and group id of the system's unprivileged user."""

_HELPER = "_box"


@dataclass(frozen=True, slots=True)
class Way:
    """A way of making namespaces."""

    name: str
    tool: str | None = None
    """The program that makes them; None for our helper itself."""


OWN = Way("unshare")
BUBBLEWRAP = Way("bubblewrap", "bwrap")


@cache
def find_helper() -> str:
    """Return the path of the helper; raise `SandboxError` if the package was built without it."""
    module = importlib.util.find_spec("compiler_gym._service")
    folders = [] if module is None or module.origin is None else [Path(module.origin).parent]
    for folder in folders:
        helper = folder / _HELPER
        if os.access(helper, os.X_OK) or _make_executable(helper):
            return str(helper)
    raise SandboxError(
        f"the helper {_HELPER}, which runs programs, is not in {folders or 'the package'}: "
        "install compiler_gym again, in a checkout with `make setup`"
    )


def _make_executable(helper: Path) -> bool:
    """Return whether the helper can be run, after restoring a mode bit that an installer lost."""
    try:
        helper.chmod(0o755)
    except OSError:
        return False
    return True


def wrap_command(
    helper: Sequence[str], *, shown: Sequence[str], work: str | None, scratch_bytes: int
) -> list[str]:
    """Return the command that runs `helper` as the first process of bubblewrap's namespaces.

    Raises `SandboxError` if bubblewrap is not installed.
    """
    bubblewrap = shutil.which(BUBBLEWRAP.tool or "")
    if bubblewrap is None:
        raise SandboxError("bubblewrap is not installed: `apt install bubblewrap`")
    # The program runs as an unprivileged user, for any caller, and keeps no capabilities. A
    # setuid bubblewrap could not be given a list to keep.
    args = [bubblewrap, "--unshare-all", "--die-with-parent", "--as-pid-1", "--hostname", "box"]
    args += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    for path in SYSTEM:
        if path.count("/") == 1 and os.path.islink(path):
            args += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            args += ["--ro-bind", path, path]
    for path in DEVICES:
        args += ["--dev-bind", path, path]
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        args += ["--symlink", f"/proc/self/fd{target}", f"/dev/{name}"]
    for path in ("/box", "/tmp", "/dev/shm"):
        args += ["--size", str(scratch_bytes), "--tmpfs", path]
    args += ["--proc", "/proc", "--remount-ro", "/proc"]
    for path in (helper[0], *shown):
        args += ["--ro-bind", path, path]
    if work is not None:
        args += ["--bind", work, work]
    return [*args, "--remount-ro", "/", "--", *helper]


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
