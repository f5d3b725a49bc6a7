"""Settings of language models, and their exchanges referenced by records, for HTML reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from markupsafe import Markup
from msgspec import Meta, Struct

from collab_overcooked.io.redaction import redact
from collab_overcooked.io.schema import MAX_NUMBER
from collab_overcooked.policies.llm.client import is_provided
from collab_overcooked.policies.llm.exchange import EndpointConfig, Reply
from collab_overcooked.policies.llm.store import PICTURES, StoredRequest, read_exchanges
from collab_overcooked.policies.llm.transport import OPENAI
from collab_overcooked.reporting.templates import render
from collab_overcooked.runner.records import CONFIG, read_config

EXCHANGES = "exchanges.jsonl"  # of a run folder
MAX_CHARACTERS = 1_500_000  # of exchanges on a page; repeated texts count once

Data = dict[str, Any]
_Price = Annotated[float, Meta(ge=0, le=MAX_NUMBER)]


class _Prices(Struct):
    prompt: _Price
    completion: _Price


class _Model(Struct):
    reach: Data = {}
    body: Data = {}
    switches: Data = {}
    price: _Prices | None = None


class _Config(Struct):
    language: Data = {}
    models: dict[str, _Model] = {}


def exchange_data(folder: Path | None, replays: Iterable[Mapping[str, Any]]) -> Data:
    """Return the exchanges of replays for the page's script, up to ``MAX_CHARACTERS``.

    Args:
        folder: Run folder, or None.
        replays: Data of the replay player.

    Returns:
        ``texts``, and ``found``: link -> a line with model and cost, and the parts of the exchange as pairs of heading
        and index into ``texts``.
    """
    links = [
        link
        for replay in replays
        for step in replay["steps"]
        for seat_links in step["exchanges"]
        for link in seat_links
    ]
    kept = read_exchanges(folder / EXCHANGES, set(links)) if folder and links else {}
    numbers: dict[str, int] = {}
    exchanges: dict[str, Data] = {}
    left = MAX_CHARACTERS
    for link in dict.fromkeys(link for link in links if link in kept):
        request, reply = kept[link].request, kept[link].reply
        pictures = [["picture", f"{PICTURES}/{digest}.png"] for digest in request.pictures]
        parts = [
            *request.turns,
            *pictures,
            ["reasoning", reply.reasoning],
            ["answer", reply.text or f"({reply.finish})"],
        ]
        left -= sum(len(text) for text in {text for _, text in parts} - set(numbers))
        if left < 0:
            break
        exchanges[link] = {
            "about": _about(request, reply),
            "parts": [[name, numbers.setdefault(text, len(numbers))] for name, text in parts if text],
        }
    return {"texts": [redact(text) for text in numbers], "found": exchanges}


def _about(request: StoredRequest, reply: Reply) -> str:
    tokens = f"{reply.prompt_tokens} tokens in, {reply.completion_tokens} out"
    ended = "" if reply.finish == "stop" else f", {reply.finish}"
    return f"{request.model}, {tokens}, {reply.seconds:.1f} s{ended}"


def model_section(folder: Path) -> Markup:
    """Return the section with endpoints and settings of the language models of a run."""
    config = read_config(folder, _Config) if (folder / CONFIG).exists() else {}
    default_endpoint = config.get("language", {}).get("endpoint", "answers from a file")
    entries = {
        spec: "; ".join(_settings(settings, default_endpoint)) for spec, settings in config.get("models", {}).items()
    }
    return render("definitions.html", title="Language models", entries=entries) if entries else Markup()


def _settings(settings: Mapping[str, Any], default_endpoint: str) -> Sequence[str]:
    reach, price = settings.get("reach", {}), settings.get("price")
    model_settings = {
        key: value for key, value in settings.items() if key not in ("reach", "price", "body", "switches")
    }
    endpoint_settings = {key: value for key, value in reach.items() if key not in ("base_url", "local")}
    others = {**model_settings, **settings.get("body", {}), **settings.get("switches", {}), **endpoint_settings}
    if is_provided(
        settings.get("model", ""), EndpointConfig(**{k: reach.get(k, "") for k in ("base_url", "local", "api")})
    ):
        default_endpoint = "of the provider" if default_endpoint == OPENAI else default_endpoint
    parts = [f"endpoint {reach.get('base_url') or reach.get('local') or default_endpoint}"]
    parts += [f"{name.replace('_', ' ')} {_value(value)}" for name, value in others.items() if value not in ({}, [])]
    return parts + ([f"price {price['prompt']:g}/{price['completion']:g} dollars per million tokens"] if price else [])


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(f"{name}: {item}" for name, item in value.items()) if isinstance(value, dict) else str(value)
