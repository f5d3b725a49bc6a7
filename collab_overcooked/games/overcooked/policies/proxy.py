"""Stand-ins for people by layout: clones of noisy and greedy play, and policies trained with such a clone.

Source: LLM-Co, table 2, whose proxies are clones of people's games (Carroll et al. 2019). Those games do not come with
the package; ``train bc --data`` reads them.
"""

from __future__ import annotations

from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase
from collab_overcooked.policies.policy_file import STAND_INS, builtin_policies, policy_path, read_policy
from collab_overcooked.policies.trained import TrainedPolicy


def proxy_layouts(kind: str) -> list[str]:
    """Return the layouts that a kind of proxy was trained on."""
    return [name.removeprefix(f"{kind}_") for name in builtin_policies() if name.startswith(f"{kind}_")]


class ProxyPolicy(PolicyBase):
    """Plays the built-in proxy of the layout that is played.

    Args:
        kind: One of ``STAND_INS``.
    """

    batched = True

    def __init__(self, kind: str) -> None:
        self.name, self.kind = f"proxy:{kind}", kind
        self._by_layout: dict[str, TrainedPolicy] = {}

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        layout, *others = (layout.name for layout in info.game.layouts)  # type: ignore[attr-defined]
        if others:
            raise ValueError(
                f"policy {self.name!r} plays one layout, not a pool of {1 + len(others)}; evaluate each alone"
            )
        if layout not in self._by_layout:
            known = proxy_layouts(self.kind)
            if layout not in known:
                raise ValueError(f"policy {self.name!r}: {near_matches('layout', layout, known)}")
            self._by_layout[layout] = TrainedPolicy(read_policy(policy_path(f"{self.kind}_{layout}")))
        self._player = self._by_layout[layout]
        self._player.reset(seat, info, seed)

    def act(self, seen: AgentView) -> int:
        return self._player.act(seen)


def from_text(text: str) -> ProxyPolicy:
    """Create the policy of a spec such as ``"proxy:bc"`` from the text after the colon.

    Raises:
        ValueError: The kind is unknown.
    """
    if text not in STAND_INS:
        raise ValueError(f"policy 'proxy': {near_matches('kind', text, STAND_INS)}")
    return ProxyPolicy(text)
