# SPDX-License-Identifier: MIT
"""The application that OpenEnv serves: ``python -m server.app``, or ``uvicorn server.app:app``."""

import os

from compiler_gym_agents.libraries.openenv import main as serve
from compiler_gym_agents.libraries.openenv import make_app

# A Space of Hugging Face is reached by the name in SPACE_HOST, a container by its address.
NAMES = [name for name in [os.environ.get("SPACE_HOST")] if name]
app = make_app(hosts=["0.0.0.0", *NAMES])


def main() -> None:
    """Serve on every address of the container."""
    serve(["--host", "0.0.0.0", *(f"--name={name}" for name in NAMES)])


if __name__ == "__main__":
    main()
