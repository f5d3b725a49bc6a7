"""Policies by role: one name for the corresponding policies of several games."""

from __future__ import annotations

from collab_overcooked.policies.api import AgentView, Decision, EnvInfo, Learner, Lesson, Message, Policy, TeamAware
from collab_overcooked.policies.parameters import load_factory
from collab_overcooked.registry import games


class PerGamePolicy:
    """Delegates to the game's policy for a role.

    Args:
        name: Name in teams.
        factories: Factory of the policy by game id; see ``parameters.load_factory``. Imported on first use.
        text: Text of the spec after the first colon.
    """

    needs_simulator = True  # game-specific policies read the game's arrays

    def __init__(self, name: str, factories: dict[str, str], text: str = "") -> None:
        self.name = name
        self._factories, self._text = factories, text
        self._made: dict[str, Policy] = {}
        self._player: Policy | None = None
        self._team: tuple[Policy, ...] = ()
        self._check_text()

    def _check_text(self) -> None:
        problems: list[ValueError] = []
        for factory in dict.fromkeys(self._factories.values()):
            try:
                load_factory(factory)(self._text)
            except ValueError as problem:
                problems.append(problem)
            else:
                return
        raise max(problems, key=lambda problem: ("did you mean" in str(problem), "unknown" not in str(problem)))

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Create the game's policy."""
        self._player = self.policy_of(info.game.id)
        self._player.name = self.name
        if self._team and isinstance(self._player, TeamAware):
            self._player.join(self._team)
        self._player.reset(seat, info, seed)

    def policy_of(self, game_id: str) -> Policy:
        """Return the policy of a game, the same one each time.

        Raises:
            ValueError: The policy does not play the game.
        """
        if game_id not in self._factories:
            raise ValueError(f"policy {self.name!r} plays {', '.join(self._factories)}, not {game_id}")
        if game_id not in self._made:
            self._made[game_id] = load_factory(self._factories[game_id])(self._text)
        return self._made[game_id]

    def join(self, team: tuple[Policy, ...]) -> None:
        """Store the team for policies that share resources with teammates."""
        self._team = team

    def act(self, seen: AgentView) -> Decision | int | str:
        """Ask the game's policy."""
        return self._current().act(seen)

    def reply(self, seen: AgentView) -> Message | None:
        """Let the game's policy answer."""
        return self._current().reply(seen)

    def between_episodes(self, lesson: Lesson) -> None:
        """Pass the lesson on to a policy that learns."""
        player = self._current()
        if isinstance(player, Learner):
            player.between_episodes(lesson)

    def _current(self) -> Policy:
        if self._player is None:
            raise ValueError(f"policy {self.name!r} must be reset before it is asked")
        return self._player


def policy_for(policy: Policy, game_id: str) -> Policy:
    """Return the policy that decides in a game: that of the game for a ``PerGamePolicy``, else the policy itself."""
    return policy.policy_of(game_id) if isinstance(policy, PerGamePolicy) else policy


def from_role(role: str, text: str) -> PerGamePolicy:
    """Create the policy of a role, for all games that have one."""
    return PerGamePolicy(role, {game.id: game.policies[role] for game in games() if role in game.policies}, text)
