"""FastAPI application: ``uvicorn server.app:app``, with one worker, as episodes live in its memory."""

from __future__ import annotations

import argparse

import uvicorn
from openenv.core.env_server.http_server import create_app

try:
    from ..models import KitchenAction, KitchenObservation, KitchenState
    from .environment import KitchenEnvironment
except ImportError:  # OpenEnv's images import the folder's modules without their package
    from models import KitchenAction, KitchenObservation, KitchenState
    from server.environment import KitchenEnvironment

MAX_SESSIONS = 256

app = create_app(
    KitchenEnvironment,
    KitchenAction,
    KitchenObservation,
    env_name="collab_kitchens_env",
    max_concurrent_envs=MAX_SESSIONS,
    state_cls=KitchenState,
)


def main() -> None:
    """Serve from the command line."""
    parser = argparse.ArgumentParser(description="Serve the games of collab-overcooked as an OpenEnv environment.")
    parser.add_argument("--host", default="127.0.0.1", help="Address to listen on.")
    parser.add_argument("--port", type=int, default=8000, help="Port to listen on.")
    chosen = parser.parse_args()
    uvicorn.run(app, host=chosen.host, port=chosen.port)


if __name__ == "__main__":
    main()
