"""Models from GGUF files, served within this process."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, BinaryIO

from collab_overcooked.io.files import MAX_MODEL, open_file
from collab_overcooked.io.processes import available_cores

MAX_CONTEXT = 32_768  # tokens; memory use grows with the context
DEFAULT_CONTEXT = 4_096  # of files without this field


class LocalServer:
    """OpenAI-compatible llama.cpp server on a free port of 127.0.0.1, stopped by ``close`` or with the process.

    Equal requests get equal replies at temperature 0: requests are processed one at a time and without a cache.

    Args:
        path: GGUF file.
        threads: CPU threads; all cores if None.
        context: Maximum tokens of a request and its reply; by default the training context in the file, at most 32,768.
    """

    def __init__(self, path: str | Path, threads: int | None = None, context: int | None = None) -> None:
        self.path = Path(path)
        with open_file(self.path, MAX_MODEL) as file:
            if file.read(4) != b"GGUF":
                raise ValueError(f"{self.path}: not a GGUF file")
            context = context or min(_trained_context(file), MAX_CONTEXT)
        try:
            import xllamacpp
        except ImportError:
            raise ValueError("models from files need the extra local: pip install 'collab-overcooked[local]'") from None
        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.hostnames, params.port = ["127.0.0.1"], 0
        params.n_ctx, params.n_parallel = context, 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or available_cores()
        params.cache_prompt = False
        params.cache_ram_mib = 0
        params.n_ctx_checkpoints = 0
        params.ui, params.verbosity = False, -1
        try:
            self._server: Any = xllamacpp.Server(params)
        except RuntimeError as error:
            raise OSError(f"{self.path}: the model cannot be loaded: {error}") from None

    @property
    def base_url(self) -> str:
        """Base URL of the server."""
        return f"{self._server.listening_address}/v1"

    def close(self) -> None:
        """Stop the server."""
        self._server = None


_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes of a value, by GGUF's type
_TEXT, _LIST = 8, 9
_WHOLE = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}


def _trained_context(file: BinaryIO) -> int:
    try:
        _, _, count = struct.unpack("<IQQ", file.read(20))  # version, tensors, facts
        for _ in range(count):
            name, kind = _read_text(file), _read_number(file, "<I")
            if name.endswith(".context_length") and kind in _WHOLE:
                return max(_read_number(file, _WHOLE[kind]), 1)
            _skip(file, kind)
    except (struct.error, KeyError, OverflowError, MemoryError):  # the loader of the model reports what is wrong
        pass
    return DEFAULT_CONTEXT


def _read_number(file: BinaryIO, form: str) -> int:
    number: int = struct.unpack(form, file.read(struct.calcsize(form)))[0]
    return number


def _read_text(file: BinaryIO) -> str:
    return file.read(_read_number(file, "<Q")).decode(errors="replace")


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _TEXT:
        file.seek(_read_number(file, "<Q"), os.SEEK_CUR)
    elif kind == _LIST:
        item_kind, length = _read_number(file, "<I"), _read_number(file, "<Q")
        if item_kind in _SIZES:
            file.seek(_SIZES[item_kind] * length, os.SEEK_CUR)
        else:
            for _ in range(length):
                _skip(file, item_kind)
    else:
        file.seek(_SIZES[kind], os.SEEK_CUR)
