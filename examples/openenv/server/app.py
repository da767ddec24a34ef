# SPDX-License-Identifier: MIT
"""The application that OpenEnv serves: ``python -m server.app``, or ``uvicorn server.app:app``."""

from compiler_gym.integrations.openenv import main as serve
from compiler_gym.integrations.openenv import make_app

app = make_app()


def main() -> None:
    """Serve on every address of the container."""
    serve(["--host", "0.0.0.0"])


if __name__ == "__main__":
    main()
