"""A model from a GGUF file, served inside this process to itself."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, BinaryIO

MAX_CONTEXT = 32_768  # tokens; the memory that a model takes grows with them
DEFAULT_CONTEXT = 4_096  # of files that do not say


class LocalServer:
    """An OpenAI-compatible llama.cpp server on a free port of 127.0.0.1, which ends with ``close`` or the process.

    Equal questions get equal answers at temperature 0: one at a time, and nothing kept between them.

    Args:
        path: GGUF file.
        threads: Processor threads; all cores if None.
        context: Longest question with its answer, in tokens; None for what the file says that the model was trained
            for, 32,768 at most.

    Raises:
        ValueError: If the file is no GGUF file or the extra ``local`` is not installed.
        OSError: If the file cannot be read or the model cannot be loaded.
    """

    def __init__(self, path: str | Path, threads: int | None = None, context: int | None = None) -> None:
        self.path = Path(path)
        with self.path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ValueError(f"{self.path}: is no GGUF file")
            context = context or min(_trained_context(file), MAX_CONTEXT)
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


_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes of a value, by GGUF's type
_TEXT, _LIST = 8, 9
_WHOLE = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}


def _trained_context(file: BinaryIO) -> int:
    """Return the longest context that a model was trained for, from the head of its file, behind the first word."""
    try:
        _, _, count = struct.unpack("<IQQ", file.read(20))  # version, tensors, facts
        for _ in range(count):
            name, kind = _read_text(file), _read_number(file, "<I")
            if name.endswith(".context_length") and kind in _WHOLE:
                return max(_read_number(file, _WHOLE[kind]), 1)
            _skip(file, kind)
    except (struct.error, KeyError, OverflowError, MemoryError):  # what loads the model says what is wrong with it
        pass
    return DEFAULT_CONTEXT


def _read_number(file: BinaryIO, form: str) -> int:
    number: int = struct.unpack(form, file.read(struct.calcsize(form)))[0]
    return number


def _read_text(file: BinaryIO) -> str:
    return file.read(_read_number(file, "<Q")).decode(errors="replace")


def _skip(file: BinaryIO, kind: int) -> None:
    """Pass over a value."""
    if kind == _TEXT:
        file.seek(_read_number(file, "<Q"), os.SEEK_CUR)
    elif kind == _LIST:
        own, length = _read_number(file, "<I"), _read_number(file, "<Q")
        if own in _SIZES:
            file.seek(_SIZES[own] * length, os.SEEK_CUR)
        else:
            for _ in range(length):
                _skip(file, own)
    else:
        file.seek(_SIZES[kind], os.SEEK_CUR)
