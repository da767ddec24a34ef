# SPDX-License-Identifier: MIT
"""Importing the package starts nothing, and only a worker loads the engine."""

import json
import subprocess
import sys

ALLOWED_OWN = {
    "compiler_gym",
    "compiler_gym._import_hooks",
    "compiler_gym.lazy",
    "compiler_gym.version",
}


def loaded_by(program: str) -> set[str]:
    """Return the modules that a fresh interpreter holds after `program`."""
    code = (
        "import sys; before = set(sys.modules)\n"
        f"{program}\n"
        "import json; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_package_loads_little() -> None:
    loaded = loaded_by("import compiler_gym")
    own = {name for name in loaded if name.startswith("compiler_gym")}
    assert own == ALLOWED_OWN
    third = {name.partition(".")[0] for name in loaded - own} - set(sys.stdlib_module_names)
    assert third == set()


def test_importing_the_package_starts_no_process() -> None:
    code = (
        "import compiler_gym, os, threading\n"
        "print(threading.active_count())\n"
        "print(open(f'/proc/{os.getpid()}/task/{os.getpid()}/children').read())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]


def test_an_environment_in_a_worker_never_loads_the_engine_here() -> None:
    loaded = loaded_by(
        "import compiler_gym\n"
        "env = compiler_gym.make('llvm-v0', observation_space='Autophase')\n"
        "env.reset(); env.step(0); env.close()"
    )
    assert "compiler_gym.core.env" in loaded
    assert not any(name.startswith("compiler_gym.compat") for name in loaded)  # nothing was old
    assert "compiler_gym._llvm" not in loaded
    assert "compiler_gym.envs.llvm.session" not in loaded


def test_a_worker_never_loads_numpy_or_gymnasium() -> None:
    loaded = loaded_by(
        "from compiler_gym.service.zygote import load_session_class\n"
        "load_session_class('compiler_gym.envs.llvm.session:LlvmSession')"
    )
    assert "compiler_gym._llvm" in loaded
    assert not {"numpy", "gymnasium"} & loaded


def test_gymnasium_knows_the_environments_whichever_is_imported_first() -> None:
    for first, second in (("gymnasium", "compiler_gym"), ("compiler_gym", "gymnasium")):
        code = (
            f"import {first}\nimport {second}\nfrom gymnasium.envs.registration import registry\n"
            "assert 'llvm-v0' in registry and 'compiler_gym/llvm-v0' in registry"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
