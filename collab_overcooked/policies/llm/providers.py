"""Models of further providers (Anthropic, Gemini, Bedrock, Ollama, ...) through the library LiteLLM.

LiteLLM takes requests and returns replies in the form of OpenAI's Chat Completions, and its errors are OpenAI's:
retries, dialects and parsing are those of any endpoint.
"""

from __future__ import annotations

import os
import re
from typing import Any

from collab_overcooked.io.redaction import remember
from collab_overcooked.policies.llm.chat import chat_arguments, parse_completion
from collab_overcooked.policies.llm.dialects import Dialect
from collab_overcooked.policies.llm.exchange import Reply, Request
from collab_overcooked.policies.llm.transport import Transport

CACHED = ("anthropic", "bedrock", "openrouter")  # providers that cache a prompt up to a marker in it
_KEY = re.compile(r"_API_KEY$|^AWS_.*(?:KEY|TOKEN)$")
_LOCAL = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "true"}


class ProvidersTransport(Transport):
    """Any provider that LiteLLM knows; the prefix of the model's name says which, ``anthropic/claude-...``.

    Without an address it is the provider's own; without a key that in the provider's own environment variable, such as
    ANTHROPIC_API_KEY.
    """

    default_url = ""

    def _open(self, url: str, key: str) -> None:
        for name, value in _LOCAL.items():  # without them the library loads files from elsewhere
            os.environ.setdefault(name, value)
        try:
            import litellm
        except ImportError:
            raise ValueError(
                "models of other providers need the extra providers: pip install 'collab-overcooked[providers]'; a "
                "model with a slash in its name at an OpenAI-compatible endpoint needs --base-url"
            ) from None
        litellm.suppress_debug_info = True
        litellm.telemetry = False
        for name, value in os.environ.items():
            if _KEY.search(name):
                remember(value)
        self.address = url or "provider"
        self._litellm: Any = litellm
        self._fixed: dict[str, Any] = {
            "timeout": self.retry_policy.timeout,
            "num_retries": 0,
            "max_retries": 0,
            "extra_headers": self.headers or None,
            "api_base": url or None,
            "api_key": key or None,
        }

    def send(self, request: Request, dialect: Dialect) -> Any:
        """Send a request; the messages that all requests of the episode share are marked for the provider's cache."""
        arguments = chat_arguments(request, dialect)
        provider = request.model.partition("/")[0]
        is_merged = request.turns[0].role == "system" and not dialect.system
        if provider in CACHED and request.fixed and not is_merged:
            last = arguments["messages"][request.fixed - 1]
            last["content"] = [{"type": "text", "text": last["content"], "cache_control": {"type": "ephemeral"}}]
        if provider == "bedrock" and self._fixed["api_base"]:
            arguments["aws_bedrock_runtime_endpoint"] = self._fixed["api_base"]
        return self._litellm.completion(**{**arguments, **self._fixed, **arguments.pop("extra_body", {})})

    def parse(self, answer: object, request: Request, seconds: float) -> Reply:
        return parse_completion(answer, request, seconds)
