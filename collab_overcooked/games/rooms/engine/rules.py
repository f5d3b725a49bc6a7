"""The rules of the room games, one function per rule, on the arrays of one environment.

Within a turn all players choose in the same state. Their actions are carried out in seat order, then the adversary
moves.
"""

from __future__ import annotations

from collab_overcooked.kernels.arrays import index
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import draw_below

from .constants import (
    FREE,
    NEVER,
    NOTHING,
    STAY,
    UNREACHABLE,
    Adversary,
    Clock,
    Event,
    EventColumn,
    Exchange,
    Generator,
    Goal,
    Outcome,
    Param,
    Player,
    Reason,
    Reward,
    RoomColumn,
)

# ------------------------------------------------------------------------------------------- rooms and doors


@kernel
def is_open(passage, doors):
    """A passage without a door is always open; a passage with a door is open while the door is."""
    return passage == FREE or (passage > FREE and (doors >> (passage - 1)) & 1 == 1)


@kernel
def generator_in(room, generators):
    """A room has at most one generator; return its index or NOTHING."""
    for g in range(generators.shape[0]):
        if generators[g, Generator.ROOM] == room:
            return g
    return NOTHING


@kernel
def why_refused(action, player, generators, doors, passages, rooms):
    """Players can stay, go through open passages, and use a button or generator; caught players can only stay."""
    n_rooms, room = passages.shape[0], player[Player.ROOM]
    if action == STAY:
        return Reason.OK
    if player[Player.ACTIVE] == 0:
        return Reason.OUT_OF_GAME
    if action <= n_rooms:
        passage = passages[room, action - 1]
        if passage == NOTHING:
            return Reason.NO_PASSAGE
        return Reason.OK if is_open(passage, doors) else Reason.DOOR_CLOSED
    if rooms[room, RoomColumn.BUTTON] != NOTHING or generator_in(room, generators) != NOTHING:
        return Reason.OK
    return Reason.NOTHING_TO_USE


@kernel
def judge_action(action, player, generators, doors, tables):
    """Check an action by the precomputed table of legal actions first, then by why_refused."""
    # Without ``index``, a step takes 3 to 5 % longer.
    if player[Player.ACTIVE] == 1 and tables.legal[index(doors), index(player[Player.ROOM]), index(action)] == 1:
        return Reason.OK
    return why_refused(action, player, generators, doors, tables.passages, tables.rooms)


@kernel
def count_ways(ways):
    """Count the open passages of a room."""
    count = 0
    for k in range(ways.shape[0]):
        count += ways[k] != NOTHING
    return count


# ------------------------------------------------------------------------------------------- effects of actions


@kernel
def interrupt_repairs(tables, env, actions):
    """An unrepaired generator loses its fixes if no player, or not the player who must, continues to work on it.

    Mutates: env.
    """
    players = env.players
    generators = env.generators
    params = tables.params
    n_rooms = tables.passages.shape[0]
    for g in range(generators.shape[0]):
        if generators[g, Generator.PROGRESS] >= params[Param.FIXES]:
            continue
        goes_on = False
        for n in range(players.shape[0]):
            works = actions[n] > n_rooms and players[n, Player.ACTIVE] == 1
            if works and players[n, Player.ROOM] == generators[g, Generator.ROOM]:
                goes_on = goes_on or params[Param.FIX_BY_ONE] == 0 or generators[g, Generator.FIXER] == n
        if not goes_on:
            generators[g, Generator.PROGRESS], generators[g, Generator.FIXER] = 0, NOTHING


@kernel
def fix(seat, generator, params):
    """Each fix counts, unless one player must do all and another does it; return whether it was the last one needed.

    Mutates: generator.
    """
    if params[Param.FIX_BY_ONE] == 1 and generator[Generator.PROGRESS] < params[Param.FIXES]:
        if generator[Generator.FIXER] == NOTHING:
            generator[Generator.FIXER] = seat
        if generator[Generator.FIXER] != seat:
            return False
    generator[Generator.PROGRESS] += 1
    return generator[Generator.PROGRESS] == params[Param.FIXES]


@kernel
def is_repaired(generators, params):
    """The gate is open once all generators are repaired."""
    for g in range(generators.shape[0]):
        if generators[g, Generator.PROGRESS] < params[Param.FIXES]:
            return False
    return True


@kernel
def use(tables, env, seat, event):
    """Using a button toggles its door; using a generator fixes it. Mutates: env, event."""
    players, generators = env.players, env.generators
    room = players[seat, Player.ROOM]
    door = tables.rooms[room, RoomColumn.BUTTON]
    if door != NOTHING:
        env.clock[Clock.DOORS] ^= 1 << door
        event[EventColumn.CODE], event[EventColumn.SUBJECT] = Event.PRESSED, door
        return
    g = generator_in(room, generators)
    event[EventColumn.CODE], event[EventColumn.SUBJECT] = Event.FIXED, g
    event[EventColumn.COMPLETED] = fix(seat, generators[g], tables.params)
    players[seat, Player.FIXING] = 1
    for other in range(seat if tables.params[Param.FIX_FLAGS] == 1 else 0):
        if players[other, Player.FIXING] == 1 and players[other, Player.ROOM] == room:
            players[seat, Player.FIXING] = 0


@kernel
def act(tables, env, seat, action, reason, event):
    """An accepted action moves the player or uses the button or generator; a refused action is a stay.

    Mutates: env, event.
    """
    players, n_rooms = env.players, tables.passages.shape[0]
    room = players[seat, Player.ROOM]
    moves = reason == Reason.OK and action != STAY and action <= n_rooms
    after = action - 1 if moves else room
    players[seat, Player.ROOM], event[EventColumn.ROOM] = after, after
    players[seat, Player.BEFORE], players[seat, Player.FIXING] = room, 0
    event[EventColumn.CODE] = Event.MOVED if moves else Event.STAYED
    event[EventColumn.REASON], event[EventColumn.SUBJECT] = reason, NOTHING
    event[EventColumn.CAUGHT], event[EventColumn.COMPLETED], event[EventColumn.ESCAPED] = 0, 0, 0
    if action > n_rooms and reason == Reason.OK:
        use(tables, env, seat, event)


# ------------------------------------------------------------------------------------------- thief and killer


@kernel
def is_unaware(clock, params):
    """The killer of 2024 wanders at random while it has no target."""
    coded = params[Param.GOAL] == Goal.ESCAPE and params[Param.ADVERSARY] == Adversary.CODED
    return coded and clock[Clock.TARGET] == NOTHING


@kernel
def draw_way(tables, env):
    """An unaware killer takes a random passage; return NOTHING for an adversary that decides. Mutates: env."""
    clock = env.clock
    if not is_unaware(clock, tables.params):
        return NOTHING
    ways = count_ways(tables.ways[clock[Clock.DOORS], clock[Clock.ADVERSARY]])
    return draw_below(env.rng, ways) if ways > 0 else NOTHING


# Without ``index`` in the next three kernels, a step takes 4 % longer.


@kernel
def distance_to_players(room, players, column, distances):
    """The distance to the players is the distance to the closest active one."""
    best = UNREACHABLE
    for n in range(players.shape[0]):
        if players[n, Player.ACTIVE] == 1:
            best = min(best, distances[index(players[n, column]), index(room)])
    return best


@kernel
def difference_to_players(room, players, rooms):
    """The thief of 2024 uses differences of room numbers as distances."""
    best = NEVER
    for n in range(players.shape[0]):
        other = rooms[index(players[n, Player.ROOM]), RoomColumn.NUMBER]
        best = min(best, abs(rooms[index(room), RoomColumn.NUMBER] - other))
    return best


@kernel
def flee(players, room, doors, tables):
    """The thief takes the open passage that leads farthest from the players' next rooms; ties go to the first one.

    In the text of 2023 it uses the players' current rooms, and stays if no passage leads farther away.
    """
    ways, rooms = tables.ways[index(doors), index(room)], tables.rooms
    kind, distances = tables.params[Param.ADVERSARY], tables.distances[index(doors)]
    best, chosen = NOTHING, room
    if kind == Adversary.CLOSEST:
        best = distance_to_players(room, players, Player.BEFORE, distances)
    for k in range(ways.shape[0]):
        if ways[k] == NOTHING:
            break
        other = ways[k]
        if kind == Adversary.CODED:
            score = difference_to_players(other, players, rooms)
        elif kind == Adversary.DISTANCE:
            score = distance_to_players(other, players, Player.ROOM, distances)
        else:
            score = distance_to_players(other, players, Player.BEFORE, distances)
        if score > best:
            best, chosen = score, other
    return chosen


@kernel
def step_towards(room, goal, doors, tables):
    """A chase takes the first passage that shortens the distance, or stays if none does."""
    ways, distances = tables.ways[doors, room], tables.distances[doors]
    best, chosen = distances[room, goal], room
    for k in range(ways.shape[0]):
        other = ways[k]
        if other != NOTHING and distances[other, goal] < best:
            best, chosen = distances[other, goal], other
    return chosen


@kernel
def notice(tables, env):
    """The killer chases a player who is newly in sight, else its old target, else the first player in sight.

    It sees the rooms next to its own. In the text of 2023 it sees all rooms and chases the closest player.
    Mutates: env.
    """
    players, clock = env.players, env.clock
    params = tables.params
    doors = clock[Clock.DOORS]
    room = clock[Clock.ADVERSARY]
    distances = tables.distances[doors, room]
    old = clock[Clock.TARGET]
    clock[Clock.TARGET] = NOTHING
    if params[Param.GOAL] != Goal.ESCAPE:
        return
    if params[Param.ADVERSARY] != Adversary.CODED:
        best = UNREACHABLE
        for n in range(players.shape[0]):
            distance = distances[players[n, Player.ROOM]]
            if players[n, Player.ACTIVE] == 1 and distance < best:
                best, clock[Clock.TARGET] = distance, n
        return
    first, new, keeps = NOTHING, NOTHING, False
    for n in range(players.shape[0]):
        is_near = players[n, Player.ACTIVE] == 1 and distances[players[n, Player.ROOM]] == 1
        if is_near:
            first = n if first == NOTHING else first
            new = n if new == NOTHING and players[n, Player.SEEN] == 0 else new
            keeps = keeps or n == old
        players[n, Player.SEEN] = is_near
    clock[Clock.TARGET] = new if new != NOTHING else old if keeps else first


@kernel
def chase(players, room, doors, target, tables):
    """The killer moves one passage towards the room of its target at the start of the turn."""
    if target == NOTHING:
        return room
    return step_towards(room, players[target, Player.BEFORE], doors, tables)


# ------------------------------------------------------------------------------------------- outcomes


@kernel
def is_caught(player, before, now, turn, exchange):
    """A player and the adversary meet in a room, or by exchanging rooms if the rules count that."""
    if player[Player.ACTIVE] == 0:
        return False
    if player[Player.ROOM] == now:
        return True
    counts = exchange == Exchange.ALWAYS or (exchange == Exchange.LATER and turn > 0)
    return counts and before != now and player[Player.ROOM] == before and player[Player.BEFORE] == now


@kernel
def judge_capture(tables, env, before, events):
    """The thief is caught if any player meets it. Mutates: events."""
    players = env.players
    clock = env.clock
    params = tables.params
    caught = False
    for n in range(players.shape[0]):
        meets = is_caught(players[n], before, clock[Clock.ADVERSARY], clock[Clock.T], params[Param.EXCHANGE])
        events[n, EventColumn.CAUGHT] = meets
        events[n, EventColumn.ADVERSARY] = clock[Clock.ADVERSARY]
        caught = caught or meets
    return Outcome.SUCCESS if caught else Outcome.RUNNING


@kernel
def judge_escape(tables, env, before, events):
    """Caught players lose the game, at once or once all are caught; otherwise a player at an open exit wins it.

    Mutates: env, events.
    """
    players = env.players
    clock = env.clock
    params = tables.params
    rooms = tables.rooms
    caught, left, escaped = False, 0, False
    gate = is_repaired(env.generators, params)
    for n in range(players.shape[0]):
        meets = is_caught(players[n], before, clock[Clock.ADVERSARY], clock[Clock.T], params[Param.EXCHANGE])
        events[n, EventColumn.CAUGHT] = meets
        events[n, EventColumn.ADVERSARY] = clock[Clock.ADVERSARY]
        caught = caught or meets
        if meets and params[Param.LOSS_BY_ALL] == 1:
            players[n, Player.ACTIVE] = 0
        left += players[n, Player.ACTIVE]
        out = gate and not meets and players[n, Player.ACTIVE] == 1 and rooms[players[n, Player.ROOM], RoomColumn.EXIT]
        events[n, EventColumn.ESCAPED] = out
        escaped = escaped or out
    if left == 0 or (caught and params[Param.LOSS_BY_ALL] == 0):
        events[:, EventColumn.ESCAPED] = 0
        return Outcome.LOST
    return Outcome.SUCCESS if escaped else Outcome.RUNNING


@kernel
def team_reward(outcome, params):
    """Success pays 1 and a loss costs 1, the same for all; with reward="timed", each turn costs 0.01."""
    paid = 1.0 if outcome == Outcome.SUCCESS else -1.0 if outcome == Outcome.LOST else 0.0
    return paid - 0.01 if params[Param.REWARD] == Reward.TIMED else paid


@kernel
def shaped_reward(events):
    """The shaped reward is half a point for every repaired generator, the same for all."""
    repaired = 0
    for n in range(events.shape[0]):
        repaired += events[n, EventColumn.COMPLETED]
    return 0.5 * repaired
