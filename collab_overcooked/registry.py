"""Registry of games; PettingZoo's and Gymnasium's registries are filled from it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from collab_overcooked.game_spec import GameSpec, PresetEntry, SuiteEntry
from collab_overcooked.games.collab_overcooked import record as collab
from collab_overcooked.games.craft import record as craft
from collab_overcooked.games.cuisineworld import record as cuisineworld
from collab_overcooked.games.house import record as house
from collab_overcooked.games.overcooked import record as overcooked
from collab_overcooked.games.rooms import record as rooms
from collab_overcooked.games.rush import record as rush
from collab_overcooked.import_hooks import after_import
from collab_overcooked.io.checks import check_options, near_matches, quote_value
from collab_overcooked.plugins import GAMES as GAME_PLUGINS
from collab_overcooked.plugins import NAMESPACE, load

if TYPE_CHECKING:
    from collab_overcooked.core.record import EpisodeRecord
    from collab_overcooked.envs.api import FullGame
    from collab_overcooked.envs.parallel import ParallelEnv
    from collab_overcooked.evaluation.suite_options import SuiteOptions
    from collab_overcooked.evaluation.suites import Suite

EnvMaker = Callable[..., Any]
LEXICON = "lexicon"  # option of every game: the language of its texts, see ``envs.lexicon``


GAMES: list[GameSpec] = [
    *collab.RECORDS,
    *cuisineworld.RECORDS,
    *craft.RECORDS,
    *overcooked.RECORDS,
    *rush.RECORDS,
    *house.RECORDS,
    *rooms.RECORDS,
]


COMMON_SUITES: Mapping[str, SuiteEntry] = {
    "questions": SuiteEntry(
        "collab_overcooked.questions.suite:QuestionSuite",
        "Questions with proven answers about game states: facts, a partner's next action, the agent's own best action.",
        "collab_overcooked.questions.options:OPTIONS",
    )
}
"""Suites of several games; their records name them in the field ``suite``."""


def register_game(record: GameSpec) -> None:
    """Add a custom game, so that its id is accepted everywhere; registering it again replaces it.

    A game without a suite gets the default one, which plays episodes; see ``evaluation.suites``.

    Worker processes know it, too, if they can import its modules. A game of a script or notebook (``"__main__:Mine"``)
    is played in threads of this process.

    Raises:
        ValueError: If the id is that of a built-in game.
    """
    if record.id in BUILTIN_IDS:
        raise ValueError(f"id: {record.id!r} is a game of this package; choose another")
    if not record.suites:
        entry = "collab_overcooked.evaluation.suites:Suite"
        name = record.id.partition("-v")[0].lower()
        record = replace(record, suites={name: SuiteEntry(entry, f"Episodes of {record.id}; means of its metrics.")})
    GAMES[:] = [*(other for other in GAMES if other.id != record.id), record]
    _suite.cache_clear()
    register_everywhere()


BUILTIN_IDS = frozenset(record.id for record in GAMES)


def custom_games() -> list[GameSpec]:
    """Return the records of custom games and of loaded plug-ins."""
    return [record for record in GAMES if record.id not in BUILTIN_IDS]


def games() -> Sequence[GameSpec]:
    """Return the records of all games, including those of installed plug-ins."""
    load(GAME_PLUGINS, _register_plugin)
    return GAMES


def _register_plugin(env_id: str, record: Any) -> None:
    """Register the game of an entry point, unless its id is already registered."""
    if isinstance(record, GameSpec) and record.id != env_id:
        raise ValueError(f"the entry point must be called {record.id!r}, as the game")
    if env_id not in BUILTIN_IDS and _named(env_id, GAMES):  # its import may have registered it
        return
    if not isinstance(record, GameSpec):
        raise ValueError(f"must be a GameSpec, or a module that registers {env_id!r}, not {quote_value(record)}")
    register_game(record)


def registered() -> list[str]:
    """Return the ids of all environments."""
    return [record.id for record in games()]


def find(env_id: str) -> GameSpec:
    """Return the record of an id, with or without namespace.

    Raises:
        ValueError: The id is unknown.
    """
    name = env_id.removeprefix(f"{NAMESPACE}/")
    record = _named(name, GAMES) or _named(name, games())  # plug-ins are loaded for unknown names only
    if record is None:
        raise ValueError(near_matches("environment id", env_id, registered()))
    return record


def _named(env_id: str, records: Sequence[GameSpec]) -> GameSpec | None:
    return next((record for record in records if record.id == env_id), None)


def suites() -> dict[str, SuiteEntry]:
    """Return all suites by name."""
    return {name: suite for record in games() for name, suite in record.suites.items()} | dict(COMMON_SUITES)


def first_suites() -> dict[str, tuple[str, ...]]:
    """Return the suites that score records, with the ids of the games that each one scores."""
    ids: dict[str, list[str]] = {}
    for record in games():
        for name in list(record.suites)[:1]:
            ids.setdefault(name, []).append(record.id)
    return {name: tuple(game_ids) for name, game_ids in ids.items()}


def presets() -> dict[str, PresetEntry]:
    """Return all presets by name."""
    return {name: preset for record in games() for name, preset in record.presets.items()}


def load_suite(name: str) -> Suite:
    """Return a suite by its name, or by the id of a game whose records it scores."""
    return _suite(suite_name(name))


def load_suite_options(name: str) -> SuiteOptions:
    """Return the options of a suite, without importing the suite."""
    options: SuiteOptions = load_entry(suites()[suite_name(name)].options)
    return options


def suite_name(name: str) -> str:
    """Return the name of a suite, which may be named by the id of a game whose records it scores.

    Raises:
        ValueError: The suite is unknown.
    """
    matches = [suite for suite, ids in first_suites().items() if name in ids] or [name]
    if matches[0] not in suites():
        raise ValueError(near_matches("suite", name, suites()))
    return matches[0]


def suite_of(record: EpisodeRecord) -> Suite:
    """Return the suite that scores an episode's record."""
    return load_suite(record.suite_name)


@cache
def _suite(name: str) -> Suite:
    suite: Suite = load_entry(suites()[name].entry)()
    suite.name = name
    suite.env_id = next((r.id for r in games() if name in r.suites), "")
    return suite


def load_entry(entry: str) -> Any:
    """Import and return the object of ``"package.module:name"``."""
    module, _, name = entry.partition(":")
    return getattr(importlib.import_module(module), name)


def check_working_folder() -> None:
    """Check that the working folder exists, which PettingZoo and paths of runs need.

    Raises:
        FileNotFoundError: If it was deleted.
    """
    try:
        Path.cwd()
    except FileNotFoundError:
        raise FileNotFoundError("the working folder was deleted; change to one that exists") from None


def game_class(env_id: str) -> type[FullGame[Any, Any]]:
    """Return the class of a game."""
    check_working_folder()
    game: type[FullGame[Any, Any]] = load_entry(find(env_id).game)
    return game


def load_game(env_id: str, **kwargs: Any) -> FullGame[Any, Any]:
    """Compile a game."""
    check_options(kwargs, game_options(env_id))
    return _compiled(env_id, kwargs)


def game_options(env_id: str) -> list[str]:
    """Return the names of all options of a game, including those of its channel and the lexicon."""
    return [*game_class(env_id).config_class.names(), *default_channel(), LEXICON]


def default_channel() -> dict[str, Any]:
    """Return the options of a channel, which every game takes, with their default values; see ``envs.channel``."""
    from collab_overcooked.envs.channel import ChannelConfig

    return ChannelConfig().to_dict()


def read_options(env_id: str, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the configuration of a game, without its lexicon, and that of its channel.

    Raises:
        ValueError: For an unknown option, or a value that is not allowed.
    """
    from collab_overcooked.envs.channel import ChannelConfig

    own, of_channel = split_channel({name: value for name, value in options.items() if name != LEXICON})
    return game_class(env_id).config_class.read((), own), ChannelConfig.read((), of_channel)


def split_channel(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return options without those of a channel, and those of a channel."""
    common = default_channel()
    own = {name: value for name, value in options.items() if name not in common}
    return own, {name: value for name, value in options.items() if name in common}


def _compiled(env_id: str, options: Mapping[str, Any]) -> FullGame[Any, Any]:
    from collab_overcooked.envs.channel import ChannelConfig, add_channel
    from collab_overcooked.envs.lexicon import translate_game

    own, of_channel = split_channel({name: value for name, value in options.items() if name != LEXICON})
    config = ChannelConfig.read((), of_channel)
    return translate_game(add_channel(game_class(env_id)(**own), config), options.get(LEXICON))


def make(env_id: str, **kwargs: Any) -> ParallelEnv:
    """Make a PettingZoo ParallelEnv.

    Args:
        env_id: One of ``registered``.
        **kwargs: Options of the game and of ``ParallelEnv`` (``render_mode``, ``max_cycles``, ``mask_in``,
            ``text_info``).

    Raises:
        ValueError: For an unknown id, option or option value.
    """
    env: ParallelEnv = pettingzoo_module(env_id).parallel_env(**kwargs)
    return env


def pettingzoo_module(env_id: str) -> Any:
    """Return the game's module with ``env``, ``raw_env`` and ``parallel_env``, created if it has none."""
    record = find(env_id)
    if record.module:
        return importlib.import_module(record.module)
    env, raw_env, parallel_env = module_form(env_id)
    return SimpleNamespace(env=env, raw_env=raw_env, parallel_env=parallel_env)


def module_form(env_id: str, wrapper_class: Any = None) -> tuple[EnvMaker, EnvMaker, EnvMaker]:
    """Return ``env``, ``raw_env`` and ``parallel_env`` of a game, in the form of PettingZoo's modules.

    Args:
        env_id: Registered id.
        wrapper_class: Subclass of ParallelEnv for the game; ParallelEnv itself if None.
    """
    check_working_folder()
    from collab_overcooked.envs.aec import to_aec
    from collab_overcooked.envs.parallel import ParallelEnv

    def parallel_env(**kwargs: Any) -> Any:
        return make_parallel(env_id, kwargs, wrapper_class or ParallelEnv)

    def raw_env(**kwargs: Any) -> Any:
        return to_aec(parallel_env(**kwargs), wrapped=False)

    def env(**kwargs: Any) -> Any:
        return to_aec(parallel_env(**kwargs), wrapped=True)

    return env, raw_env, parallel_env


def make_vec(
    env_id: str, num_envs: int = 1, kind: str = "native", *, vectorization_mode: Any = None, **kwargs: Any
) -> Any:
    """Make a batch of environments that are stepped by one kernel call.

    Args:
        env_id: One of ``registered``.
        num_envs: Number of environments E.
        kind: ``"native"`` for arrays ``[E, A, ...]``, ``"gymnasium"`` or ``"sb3"`` for vector environments with the
            agents flattened into the environment axis (E * A rows), ``"torchrl"`` for a TorchRL environment of batch
            size [E] with the group ``agents``. Case is ignored.
        vectorization_mode: As in ``gymnasium.make_vec``, which implies the kind ``"gymnasium"``:
            ``"vector_entry_point"`` for the batch of that kind, ``"sync"`` and ``"async"`` for Gymnasium's own vector
            environments of single ones with central control, which are slower. Rows are agents with the first,
            environments with the others; ``metadata["rows"]`` says which.
        **kwargs: Options of the environment, ``num_threads``, ``max_cycles`` and ``state``; for all kinds but native
            ``render_mode``, for Gymnasium ``autoreset_mode``, for TorchRL ``device``, and there ``state`` adds an entry
            of this name. With ``partners``, a list of policy specs or functions that return policies, each environment
            has one row, the learner's, and the other seats are theirs; seat and partners are drawn for every episode
            (see ``evaluation.partner_batch.PartnerBatch``).

    Raises:
        ValueError: For an unknown id, kind, mode, option or option value.
    """
    check_working_folder()
    from collab_overcooked.envs.batch_kinds import OPTIONS, make_batch, make_wrapped, parse_kind

    chosen = parse_kind(kind, vectorization_mode)
    check_options(kwargs, [*game_options(env_id), *OPTIONS[chosen]])
    if chosen in ("sync", "async"):
        return make_wrapped(f"{NAMESPACE}/{find(env_id).id}", num_envs, chosen, kwargs)
    wrapper = {name: kwargs.pop(name) for name in OPTIONS[chosen] if name in kwargs}
    return make_batch(load_game(env_id, **kwargs), num_envs, chosen, wrapper)


def make_parallel(env_id: str, kwargs: Mapping[str, Any], wrapper_class: type[ParallelEnv]) -> ParallelEnv:
    """Make the ParallelEnv of a registered game. All ParallelEnvs are created here.

    Args:
        env_id: Registered id.
        kwargs: Options of the game and of ``ParallelEnv``.
        wrapper_class: ParallelEnv or a subclass for the game.
    """
    check_working_folder()
    from collab_overcooked.envs.wrappers import WRAPPER_OPTIONS, split_options

    check_options(kwargs, [*game_options(env_id), *WRAPPER_OPTIONS])
    wrapper, game = split_options(kwargs)
    return wrapper_class(_compiled(env_id, game), **wrapper)


def make_central_control(
    env_id: str, render_mode: str | None = None, max_cycles: int | None = None, **kwargs: Any
) -> Any:
    """Make a CentralControlEnv by id; entry point of ``gymnasium.make``."""
    from collab_overcooked.envs.gymnasium import CentralControlEnv

    return CentralControlEnv(load_game(env_id, **kwargs), render_mode, max_cycles)


def make_gymnasium_vec(
    num_envs: int = 1, env_id: str = "CollabOvercooked-v0", max_episode_steps: int | None = None, **kwargs: Any
) -> Any:
    """Make a VectorEnv of ``num_envs`` environments; entry point of ``gymnasium.make_vec``.

    Args:
        num_envs: Number of environments.
        env_id: One of ``registered``.
        max_episode_steps: Gymnasium's name of ``max_cycles``.
        **kwargs: See ``make_vec``.

    Raises:
        ValueError: If ``max_episode_steps`` and ``max_cycles`` are both given; see ``make_vec``.
    """
    if max_episode_steps is not None:
        if "max_cycles" in kwargs:
            raise ValueError("max_episode_steps and max_cycles are two names of one limit; give one of them")
        kwargs["max_cycles"] = max_episode_steps
    return make_vec(env_id, num_envs, "gymnasium", **kwargs)


def register_everywhere() -> None:
    """Register all ids with Gymnasium and PettingZoo as soon as these are imported, now if they are."""
    after_import("gymnasium", _register_with_gymnasium)
    after_import("pettingzoo", _register_with_pettingzoo)


def _register_with_gymnasium() -> None:
    import gymnasium

    for record in GAMES:
        gym_id = f"{NAMESPACE}/{record.id}"
        if gym_id not in gymnasium.registry:
            gymnasium.register(
                id=gym_id,
                entry_point="collab_overcooked.registry:make_central_control",
                vector_entry_point="collab_overcooked.registry:make_gymnasium_vec",
                kwargs={"env_id": record.id},
            )


def _register_with_pettingzoo() -> None:
    import pettingzoo

    if not hasattr(pettingzoo, "register"):
        return
    for record in GAMES:
        pettingzoo_id = f"{NAMESPACE}/{record.id}"
        if record.module and pettingzoo_id not in pettingzoo.parallel_registry:
            pettingzoo.register("parallel", pettingzoo_id, f"{record.module}:parallel_env")
            pettingzoo.register("aec", pettingzoo_id, f"{record.module}:env")
