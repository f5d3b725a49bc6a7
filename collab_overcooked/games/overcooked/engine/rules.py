"""The rules of Overcooked, one kernel per rule, for one environment. ``step.py`` has the order of play.

Rows passed in are views of one environment's arrays: ``player`` (7,), ``hand``, ``cell`` and ``pot`` (3,) as in
``constants.Thing``. ``pots`` and ``gates`` are cells (x, y) of one layout, ``values``, ``best`` and ``times`` its
tables by soup. ``env`` and ``out`` are rows of ``State`` and ``Out``.
"""

from __future__ import annotations

from collab_overcooked.kernels.grid import cell_ahead, resolve_moves_together
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import Level
from collab_overcooked.kernels.rng import draw_below

from .constants import (
    COUNT,
    DROPS,
    FIRST_DISPENSER,
    FIRST_INGREDIENT,
    HAND_END,
    IDLE,
    MAX_INGREDIENTS,
    PICKUPS,
    STAY,
    Action,
    Change,
    ChangeTime,
    Clock,
    Event,
    EventColumn,
    Item,
    LayoutSize,
    Param,
    Player,
    PotCounts,
    Reason,
    Shaping,
    Terrain,
    Thing,
)

# ------------------------------------------------------------------------------------------- objects and soups


@kernel
def put(thing, item):
    """A hand or cell gets an object other than soup, or nothing. Mutates: thing."""
    thing[Thing.ITEM] = item
    thing[Thing.SOUP] = 0
    thing[Thing.TICK] = 0


@kernel
def move_thing(source, target):
    """An object moves from one place to another unchanged. Mutates: source, target."""
    for column in range(target.shape[0]):
        target[column] = source[column]
        source[column] = 0


@kernel
def count_ingredients(soup):
    """A soup of up to three ingredients has as many as its counts sum up to, the sum of its digits to the base 4."""
    return 0 if soup == 0 else (soup - 1) % COUNT + 1


@kernel
def count_kind(soup, item):
    """A soup has a count of each kind of ingredient."""
    return soup >> 2 * (item - FIRST_INGREDIENT) & COUNT


@kernel
def dispensed(kind):
    """Dispensers are in the order of what they hand out without end; other cells hand out nothing."""
    return Item.DISH + kind - FIRST_DISPENSER if kind >= FIRST_DISPENSER else 0


@kernel
def is_idle(soup):
    """A soup is idle until it is started."""
    return soup[Thing.ITEM] == Item.SOUP and soup[Thing.TICK] == IDLE


@kernel
def is_ready(soup, times):
    """A soup is ready once it has cooked for its cook time, and stays ready."""
    time = times[soup[Thing.SOUP]]
    return soup[Thing.ITEM] == Item.SOUP and soup[Thing.TICK] != IDLE and soup[Thing.TICK] >= time


@kernel
def is_full(pot):
    """A pot is full if it holds three ingredients or has been started."""
    has_room = pot[Thing.TICK] == IDLE and count_ingredients(pot[Thing.SOUP]) < MAX_INGREDIENTS
    return pot[Thing.ITEM] == Item.SOUP and not has_room


@kernel
def count_full_pots(pots, n_pots, cells):
    """Full pots include those that are cooking, ready, or waiting for their start with three ingredients."""
    count = 0
    for p in range(n_pots):
        count += is_full(cells[pots[p, 1], pots[p, 0]])
    return count


@kernel
def count_dish_pots(pots, n_pots, cells):
    """Every pot with food needs a dish, except one that waits for its start with three ingredients."""
    count = 0
    for p in range(n_pots):
        pot = cells[pots[p, 1], pots[p, 0]]
        waiting = is_idle(pot) and count_ingredients(pot[Thing.SOUP]) == MAX_INGREDIENTS
        count += pot[Thing.ITEM] == Item.SOUP and not waiting
    return count


# ------------------------------------------------------------------------------------------- what is useful


@kernel
def held_by_others(item, i, players):
    """Teammates hold an item if any of them does."""
    for j in range(players.shape[0]):
        if j != i and players[j, Player.HAND] == item:
            return True
    return False


@kernel
def lies_on_counter(item, cells, terrain):
    """An object lies on a counter somewhere; pots do not count."""
    for y in range(cells.shape[0]):
        for x in range(cells.shape[1]):
            if cells[y, x, Thing.ITEM] == item and terrain[y, x] == Terrain.COUNTER:
                return True
    return False


@kernel
def is_dish_wanted(dish_pots, players, cells, terrain):
    """A dish is useful if none is on a counter and players hold fewer dishes than there are pots that need one."""
    held = 0
    for j in range(players.shape[0]):
        held += players[j, Player.HAND] == Item.DISH
    return held < dish_pots and not lies_on_counter(Item.DISH, cells, terrain)


@kernel
def is_pickup_useful(item, i, players, cells, terrain, pots):
    """Taking an ingredient is useful unless all pots are full and no teammate has a dish; a dish, if one is needed."""
    if item == Item.DISH:
        return is_dish_wanted(pots.with_food, players, cells, terrain)
    if item == Item.SOUP:
        return False
    return pots.full < pots.total or held_by_others(Item.DISH, i, players)


@kernel
def is_drop_useful(item, i, players, pots):
    """Putting down an ingredient is useful if all pots are full and no teammate has a dish; a dish, if not needed."""
    if item == Item.DISH:
        return pots.full == 0 and not held_by_others(Item.ONION, i, players)
    if item == Item.SOUP:
        return False
    return pots.full == pots.total and not held_by_others(Item.DISH, i, players)


@kernel
def event_bits(event, useful):
    """Events come in pairs: the event itself, and whether it was useful."""
    return (3 if useful else 1) << event


@kernel
def potting_bits(item, before, after):
    """Potting is judged by the best soup that is possible before and after it."""
    other = 1 if item == Item.TOMATO else 0
    bits = 1 << (Event.POTTING_TOMATO if item == Item.TOMATO else Event.POTTING_ONION)
    if before == after:
        bits |= 1 << (Event.OPTIMAL_ONION_POTTING + other)
    if after > 0:
        bits |= 1 << (Event.VIABLE_ONION_POTTING + other)
    if before > 0 and after == 0:
        bits |= 1 << (Event.CATASTROPHIC_ONION_POTTING + other)
    if before == 0:
        bits |= 1 << (Event.USELESS_ONION_POTTING + other)
    return bits


# ------------------------------------------------------------------------------------------- what an interact does


@kernel
def can_interact(hand, cell, kind, times, auto_start, anyone):
    """An interact is valid if it changes something; masks and refusals follow this rule.

    Counters take one object and never swap; dispensers fill empty hands and take nothing back; serving cells take
    soup. Pots take ingredients until they are full, give ready soup to a dish, and are started by empty hands unless
    they start by themselves. A closed gate opens to empty hands, which also press buttons. All else does nothing.
    """
    held, there = hand[Thing.ITEM], cell[Thing.ITEM]
    if kind == Terrain.COUNTER:
        return (held == Item.NONE) != (there == Item.NONE)
    if kind == Terrain.SERVING:
        return held == Item.SOUP
    if kind == Terrain.GATE:
        return there == Item.NONE and (anyone == 1 or held == Item.NONE)
    if kind != Terrain.POT:
        return held == Item.NONE and kind >= Terrain.BUTTON
    if held == Item.NONE:
        return auto_start == 0 and is_idle(cell)
    return is_ready(cell, times) if held == Item.DISH else held != Item.SOUP and not is_full(cell)


@kernel
def add_ingredient(hand, pot):
    """An ingredient goes into a pot; the first one makes it an idle soup. Mutates: hand, pot."""
    if pot[Thing.ITEM] == Item.NONE:
        pot[Thing.ITEM] = Item.SOUP
        pot[Thing.TICK] = IDLE
    pot[Thing.SOUP] += 1 << 2 * (hand[Thing.ITEM] - FIRST_INGREDIENT)
    put(hand, Item.NONE)


@kernel
def use_pot(hand, pot, best, times):
    """At a pot, an empty hand starts it, a dish takes the soup, and an ingredient goes in.

    Mutates: hand, pot. Returns: bits of the events.
    """
    item = hand[Thing.ITEM]
    if item == Item.NONE:
        pot[Thing.TICK] = 0
        return 0
    if item == Item.DISH:
        pot[Thing.TICK] = times[pot[Thing.SOUP]]
        move_thing(pot, hand)
        return 1 << Event.SOUP_PICKUP
    before = best[pot[Thing.SOUP]]
    add_ingredient(hand, pot)
    return potting_bits(item, before, best[pot[Thing.SOUP]])


@kernel
def use_counter(terrain, env, i, cell, pots):
    """At a counter, an object moves between hand and cell; its usefulness is judged before the move.

    Mutates: env, cell (a view of its cells). Returns: bits of the events.
    """
    players = env.players
    hand = players[i, Player.HAND : HAND_END]
    held, lying = hand[Thing.ITEM], cell[Thing.ITEM]
    if held != Item.NONE:
        useful = is_drop_useful(held, i, players, pots)
        move_thing(hand, cell)
        return event_bits(DROPS[held], useful)
    useful = is_pickup_useful(lying, i, players, env.cells, terrain, pots)
    move_thing(cell, hand)
    return event_bits(PICKUPS[lying], useful)


@kernel
def use_dispenser(terrain, env, i, item, pots):
    """A dispenser gives one object; usefulness is not recorded for tomatoes. Mutates: env. Returns: event bits."""
    useful = is_pickup_useful(item, i, env.players, env.cells, terrain, pots)
    put(env.players[i, Player.HAND : HAND_END], item)
    return 0 if item == Item.TOMATO else event_bits(PICKUPS[item], useful)


@kernel
def deliver(hand, values):
    """A delivered soup disappears and pays its value, which is 0 for soups that are not ordered. Mutates: hand."""
    paid = values[hand[Thing.SOUP]]
    put(hand, Item.NONE)
    return paid


@kernel
def shaped_reward(bits, kind, shaping):
    """Shaped reward is paid for potting, for taking a dish that is needed, and for taking soup out of a pot."""
    if bits & (1 << Event.POTTING_ONION | 1 << Event.POTTING_TOMATO):
        return shaping[Shaping.POTTING]
    if kind == Terrain.DISHES and bits & (1 << Event.USEFUL_DISH_PICKUP):
        return shaping[Shaping.DISH]
    if kind == Terrain.POT and bits & (1 << Event.SOUP_PICKUP):
        return shaping[Shaping.SOUP]
    return shaping[0] * 0  # a kernel returns numbers of one type


@kernel
def interact(tables, env, out, i, cell, kind, pots):
    """A player uses the cell it faces, which must answer.

    Mutates: env, cell (a view of its cells), out.sparse. Returns: bits of the events.
    """
    k, hand = env.clock[Clock.LAYOUT], env.players[i, Player.HAND : HAND_END]
    if kind == Terrain.POT:
        return use_pot(hand, cell, tables.best[k], tables.times[k])
    if kind == Terrain.COUNTER:
        return use_counter(tables.terrain[k], env, i, cell, pots)
    if kind == Terrain.SERVING:
        out.sparse[i] += deliver(hand, tables.values[k])
        return 1 << Event.SOUP_DELIVERY
    if kind == Terrain.GATE:
        put(cell, Item.OPEN)
        return 0
    return use_dispenser(tables.terrain[k], env, i, dispensed(kind), pots)


@kernel
def interact_in_turn(tables, env, out):
    """Interacts come first, in seat order, each on the state left by the earlier ones; pots are counted before all.

    Mutates: env, out.
    """
    k, params, players, cells, events = env.clock[Clock.LAYOUT], tables.params, env.players, env.cells, out.events
    places, n_pots = tables.pots[k], tables.frames[k, LayoutSize.POTS]
    pots = PotCounts(n_pots, count_full_pots(places, n_pots, cells), count_dish_pots(places, n_pots, cells))
    for i in range(players.shape[0]):
        if events[i, EventColumn.PRIMITIVE] != Action.INTERACT:
            continue
        x, y = cell_ahead(players[i, Player.X], players[i, Player.Y], players[i, Player.FACING])
        cell, kind, hand = cells[y, x], tables.terrain[k, y, x], players[i, Player.HAND : HAND_END]
        if can_interact(hand, cell, kind, tables.times[k], params[Param.AUTO_START], params[Param.GATE_ANYONE]):
            bits = interact(tables, env, out, i, cell, kind, pots)
            events[i, EventColumn.CODE] = bits
            out.shaped[i] = shaped_reward(bits, kind, tables.shaping[k])
        elif tables.levels[i] == Level.PRIMITIVE:
            events[i, EventColumn.REASON] = Reason.NO_EFFECT


@kernel
def choose_primitives(actions, levels, events):
    """A primitive action is a move, a stay or an interact; any other number is refused. Mutates: events."""
    for i in range(actions.shape[0]):
        if levels[i] == Level.PRIMITIVE:
            known = actions[i] <= Action.INTERACT
            events[i, EventColumn.PRIMITIVE] = actions[i] if known else STAY
            events[i, EventColumn.REASON] = Reason.OK if known else Reason.NO_SUCH_ACTION


# ------------------------------------------------------------------------------------------- moving


@kernel
def can_enter(x, y, terrain, cells):
    """Players can walk on floor and through open gates, with or without an object in hand."""
    kind = terrain[y, x]
    return kind == Terrain.FLOOR or (kind == Terrain.GATE and cells[y, x, Thing.ITEM] == Item.OPEN)


@kernel
def move_players(terrain, env, out):
    """A direction turns a player and moves it if the cell ahead is free; if any two players collide, no player moves.

    Mutates: env, out.moves.
    """
    players, cells, events = env.players, env.cells, out.events
    before, targets, width = out.moves[0], out.moves[1], terrain.shape[1]
    walking = False
    for i in range(players.shape[0]):
        x, y = players[i, Player.X], players[i, Player.Y]
        before[i] = y * width + x
        targets[i] = before[i]
        direction = events[i, EventColumn.PRIMITIVE]
        if direction < Action.STAY:
            players[i, Player.FACING] = direction
            ahead_x, ahead_y = cell_ahead(x, y, direction)
            if can_enter(ahead_x, ahead_y, terrain, cells):
                targets[i] = ahead_y * width + ahead_x
                walking = True
    if not walking:
        return
    resolve_moves_together(before, targets)
    for i in range(players.shape[0]):
        players[i, Player.X] = targets[i] % width
        players[i, Player.Y] = targets[i] // width


# ------------------------------------------------------------------------------------------- what goes on by itself


@kernel
def cook(pot, times, auto_start):
    """With dynamics="auto" a full pot starts by itself; a started soup cooks until it is ready. Mutates: pot."""
    if auto_start == 1 and is_idle(pot) and count_ingredients(pot[Thing.SOUP]) == MAX_INGREDIENTS:
        pot[Thing.TICK] = 0
    if pot[Thing.ITEM] == Item.SOUP and pot[Thing.TICK] != IDLE and not is_ready(pot, times):
        pot[Thing.TICK] += 1


@kernel
def burn(pot, times, limit):
    """Ready soup that stays in its pot for so many steps burns, and the pot is empty.

    Mutates: pot. Returns: 1 for burnt soup, else 0.
    """
    if not is_ready(pot, times):
        return 0
    pot[Thing.TICK] += 1
    if pot[Thing.TICK] < times[pot[Thing.SOUP]] + limit:
        return 0
    put(pot, Item.NONE)
    return 1


@kernel
def charge_burnt(burnt, cost, clock, out):
    """Burnt soup costs points, of which every player bears an equal part; all of them have the event.

    Mutates: clock, out.
    """
    n_players, total = out.sparse.shape[0], burnt * cost
    for i in range(n_players):
        out.events[i, EventColumn.CODE] |= 1 << Event.SOUP_BURNT
        out.sparse[i] -= total * (i + 1) // n_players - total * i // n_players
    clock[Clock.SCORE] -= total


@kernel
def is_occupied(x, y, players):
    """A cell is occupied while a player stands on it."""
    for j in range(players.shape[0]):
        if players[j, Player.X] == x and players[j, Player.Y] == y:
            return True
    return False


@kernel
def age_gate(gate, occupied, limit, pause):
    """An open gate counts unoccupied steps and closes at its limit once it is free.

    Mutates: gate.
    """
    if gate[Thing.ITEM] != Item.OPEN:
        return
    if gate[Thing.TICK] < limit:
        if not occupied or pause == 0:
            gate[Thing.TICK] += 1
    elif not occupied:
        put(gate, Item.NONE)


# ------------------------------------------------------------------------------------------- changes


@kernel
def is_change_due(changes, params, delivered, rng):
    """A change comes after its time, fixed or drawn, or after a delivery; an announced one after its notice.

    A time is drawn step by step, so that no state tells it in advance. Mutates: changes, rng.
    """
    changes[Change.SINCE] += 1
    if params[Param.CHANGES] == ChangeTime.NEVER and params[Param.NOTICE] == 0:
        return False  # of a search, which does not know of a secret change that waits
    if changes[Change.LEFT] == 0:
        begins = params[Param.CHANGES] == ChangeTime.DELIVERY and delivered
        if params[Param.CHANGES] == ChangeTime.TIMED:
            at = changes[Change.SINCE] + params[Param.NOTICE]
            choices = params[Param.CHANGE_HIGH] - at + 1
            if at >= params[Param.CHANGE_LOW]:
                begins = choices <= 1 or draw_below(rng, choices) == 0
        if not begins:
            return False
        changes[Change.LEFT] = params[Param.NOTICE] + 1
    changes[Change.LEFT] -= 1
    return changes[Change.LEFT] == 0


@kernel
def next_layout(k, terrain):
    """Layouts follow each other in the order of the pool, and the first one follows the last."""
    return (k + 1) % terrain.shape[0]


@kernel
def is_change_blocked(terrain, env):
    """A change waits while a player stands on a cell that changes."""
    k, players = env.clock[Clock.LAYOUT], env.players
    following = next_layout(k, terrain)
    for i in range(players.shape[0]):
        x, y = players[i, Player.X], players[i, Player.Y]
        if terrain[k, y, x] != terrain[following, y, x]:
            return True
    return False


@kernel
def change_kitchen(terrain, env):
    """The next layout of the pool replaces the kitchen: what is on a cell that changes is lost, all else stays.

    Mutates: env.
    """
    k, cells = env.clock[Clock.LAYOUT], env.cells
    following = next_layout(k, terrain)
    for y in range(cells.shape[0]):
        for x in range(cells.shape[1]):
            if terrain[k, y, x] != terrain[following, y, x]:
                cells[y, x] = 0
    env.clock[Clock.LAYOUT] = following
    env.changes[Change.SINCE] = 0


# ------------------------------------------------------------------------------------------- starting


@kernel
def is_free_start(x, y, i, region, regions, players):
    """A random start is a free cell of the same floor area as the player's regular start."""
    return regions[y, x] == region and not is_occupied(x, y, players[:i])


@kernel
def start_anywhere(i, regions, players, rng):
    """A random start keeps a player in its floor area, so that the layout stays solvable; its facing is random.

    Mutates: players, rng.
    """
    region = regions[players[i, Player.Y], players[i, Player.X]]
    free = 0
    for y in range(regions.shape[0]):
        for x in range(regions.shape[1]):
            free += is_free_start(x, y, i, region, regions, players)
    ticket = draw_below(rng, free)
    players[i, Player.FACING] = draw_below(rng, 4)
    for y in range(regions.shape[0]):
        for x in range(regions.shape[1]):
            if is_free_start(x, y, i, region, regions, players):
                if ticket == 0:
                    players[i, Player.X] = x
                    players[i, Player.Y] = y
                    return
                ticket -= 1
