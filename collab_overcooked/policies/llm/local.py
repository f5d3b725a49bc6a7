"""A model from a GGUF file, served inside this process to itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

CONTEXT = 4096  # tokens of question and answer


class LocalServer:
    """An OpenAI-compatible llama.cpp server on a free port of 127.0.0.1, which ends with ``close`` or the process.

    Equal questions get equal answers at temperature 0: one at a time, and nothing kept between them.

    Args:
        path: GGUF file.
        threads: Processor threads; all cores if None.
        context: Longest question with its answer, in tokens.

    Raises:
        ValueError: If the file is no GGUF file or the extra ``local`` is not installed.
        OSError: If the file cannot be read or the model cannot be loaded.
    """

    def __init__(self, path: str | Path, threads: int | None = None, context: int = CONTEXT) -> None:
        self.path = Path(path)
        with self.path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ValueError(f"{self.path}: is no GGUF file")
        try:
            import xllamacpp
        except ImportError:
            raise ValueError("models from files need the extra local: pip install 'collab-overcooked[local]'") from None
        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.hostnames, params.port = ["127.0.0.1"], 0
        params.n_ctx, params.n_parallel = context, 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or os.cpu_count() or 1
        params.cache_prompt, params.cache_ram_mib, params.n_ctx_checkpoints = False, 0, 0
        params.ui, params.verbosity = False, -1
        try:
            self._server: Any = xllamacpp.Server(params)
        except RuntimeError as error:
            raise OSError(f"{self.path}: the model cannot be loaded: {error}") from None

    @property
    def base_url(self) -> str:
        """Where it answers."""
        return f"{self._server.listening_address}/v1"

    def close(self) -> None:
        """Stop serving."""
        self._server = None
