"""Replays of recorded games of the public originals: the certificate that this package plays by their rules."""

from __future__ import annotations

from parity.report import FileReport, Format, Recording
from parity.run import run_parity, scan

__all__ = ["FileReport", "Format", "Recording", "run_parity", "scan"]
