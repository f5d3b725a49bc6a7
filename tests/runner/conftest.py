"""A record of random play, for tests of records and run folders."""

from __future__ import annotations

import pytest
from support.records import as_json


@pytest.fixture
def record(random_records):
    return as_json(random_records[0])
