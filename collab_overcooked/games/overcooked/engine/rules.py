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
    BOARD_WORK,
    BUTTON_TIME,
    COUNT_MASK,
    DROPS,
    FIRST_BELT,
    FIRST_DISPENSER,
    FIRST_INGREDIENT,
    FIRST_STATION,
    HAND_END,
    LAST_BELT,
    LAST_STATION,
    MACHINE_WORK,
    MAX_INGREDIENTS,
    NOT_COOKING,
    NOTHING,
    PICKUPS,
    STAY,
    Action,
    Change,
    ChangeTime,
    Clock,
    Effect,
    Event,
    EventColumn,
    Item,
    LayoutSize,
    Order,
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
    return 0 if soup == 0 else (soup - 1) % 3 + 1  # 4 leaves 1 when divided by 3, so do all its powers


@kernel
def one_of(item):
    """A soup of one ingredient is the number that adding the ingredient adds to any soup."""
    return 1 << 2 * (item - FIRST_INGREDIENT)


@kernel
def count_kind(soup, item):
    """A soup has a count of each kind of ingredient."""
    return soup >> 2 * (item - FIRST_INGREDIENT) & COUNT_MASK


@kernel
def is_counter(kind):
    """Belts are counters."""
    return Terrain.COUNTER <= kind <= LAST_BELT


@kernel
def dispensed(kind):
    """Dispensers are in the order of what they hand out without end; other cells hand out nothing."""
    return Item.DISH + kind - FIRST_DISPENSER if kind >= FIRST_DISPENSER else 0


@kernel
def is_idle(soup):
    """A soup is idle until it is started."""
    return soup[Thing.ITEM] == Item.SOUP and soup[Thing.TICK] == NOT_COOKING


@kernel
def is_ready(soup, times):
    """A soup is ready once it has cooked for its cook time, and stays ready."""
    time = times[soup[Thing.SOUP]]
    return soup[Thing.ITEM] == Item.SOUP and soup[Thing.TICK] != NOT_COOKING and soup[Thing.TICK] >= time


@kernel
def is_full(pot):
    """A pot is full if it holds three ingredients or has been started."""
    has_room = pot[Thing.TICK] == NOT_COOKING and count_ingredients(pot[Thing.SOUP]) < MAX_INGREDIENTS
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


@kernel
def needed_work(item, prepare):
    """An ingredient that needs preparation takes 3 interacts at a board, or 10 steps on a grill or in a blender."""
    station = prepare[item - FIRST_INGREDIENT] if item >= FIRST_INGREDIENT else 0
    if station == 0:
        return 0
    return BOARD_WORK if station == Terrain.BOARD else MACHINE_WORK


@kernel
def is_prepared(thing, prepare):
    """An ingredient is prepared once all its work is done."""
    return thing[Thing.TICK] >= needed_work(thing[Thing.ITEM], prepare)


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
            if cells[y, x, Thing.ITEM] == item and is_counter(terrain[y, x]):
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
def effect_at_station(hand, cell, kind, prepare):
    """Stations take unprepared ingredients of their own, and give them back when all work is done.

    Empty hands work at a board and start a blender; a grill works by itself.
    """
    held, there = hand[Thing.ITEM], cell[Thing.ITEM]
    if there == Item.NONE:
        is_own = held >= FIRST_INGREDIENT and prepare[held - FIRST_INGREDIENT] == kind
        return Effect.DROP if is_own and not is_prepared(hand, prepare) else Effect.NONE
    if held != Item.NONE:
        return Effect.NONE
    if is_prepared(cell, prepare):
        return Effect.PICKUP
    is_started = kind == Terrain.GRILL or (kind == Terrain.BLENDER and cell[Thing.TICK] > 0)
    return Effect.NONE if is_started else Effect.WORK


@kernel
def effect_at_pot(hand, pot, times, prepare, params):
    """Pots take ingredients until they are full, give ready soup to a dish, and are started by empty hands.

    Pots that start by themselves do so at their third ingredient. One that was full at the start of an episode waits
    there in OvercookedV2, and any interact starts it.
    """
    held, starts = hand[Thing.ITEM], params[Param.AUTO_START] == 1
    if starts and params[Param.FULL_WAITS] == 1 and is_idle(pot) and is_full(pot):
        return Effect.START
    if held == Item.NONE:
        return Effect.START if not starts and is_idle(pot) else Effect.NONE
    if held == Item.DISH:
        return Effect.SOUP_PICKUP if is_ready(pot, times) else Effect.NONE
    is_refused = held == Item.SOUP or is_full(pot) or not is_prepared(hand, prepare)
    return Effect.NONE if is_refused else Effect.POTTING


@kernel
def effect_of(hand, cell, kind, times, prepare, params):
    """An interact has one effect, by what is held and faced; masks and refusals follow this rule.

    Counters take one object and never swap; dispensers fill empty hands and take nothing back; serving cells take
    soup. Pots and stations have rules of their own, see ``effect_at_pot`` and ``effect_at_station``. A closed gate
    opens to empty hands, which also press buttons. All else does nothing.
    """
    if kind == Terrain.FLOOR:
        return Effect.NONE
    is_empty = hand[Thing.ITEM] == Item.NONE
    if kind == Terrain.POT:
        return effect_at_pot(hand, cell, times, prepare, params)
    if is_counter(kind):
        if is_empty == (cell[Thing.ITEM] == Item.NONE):
            return Effect.NONE
        return Effect.PICKUP if is_empty else Effect.DROP
    if FIRST_STATION <= kind <= LAST_STATION:
        return effect_at_station(hand, cell, kind, prepare)
    if kind == Terrain.SERVING:
        return Effect.DELIVERY if hand[Thing.ITEM] == Item.SOUP else Effect.NONE
    if kind == Terrain.GATE:
        opens = cell[Thing.ITEM] == Item.NONE and (is_empty or params[Param.GATE_ANYONE] == 1)
        return Effect.OPEN if opens else Effect.NONE
    if kind < Terrain.BUTTON or not is_empty:
        return Effect.NONE
    return Effect.PRESS if kind == Terrain.BUTTON else Effect.TAKE


@kernel
def add_ingredient(hand, pot):
    """An ingredient goes into a pot; the first one makes it an idle soup. Mutates: hand, pot."""
    if pot[Thing.ITEM] == Item.NONE:
        pot[Thing.ITEM] = Item.SOUP
        pot[Thing.TICK] = NOT_COOKING
    pot[Thing.SOUP] += one_of(hand[Thing.ITEM])
    put(hand, Item.NONE)


@kernel
def use_pot(effect, hand, pot, times, params):
    """Ingredients go into a pot, which cooks once started or full, and soup goes onto a dish. Mutates: hand, pot."""
    if effect == Effect.POTTING:
        add_ingredient(hand, pot)
    if effect == Effect.SOUP_PICKUP:
        pot[Thing.TICK] = times[pot[Thing.SOUP]]  # also of soup that has waited, which would have burnt
        move_thing(pot, hand)
    elif effect == Effect.START or (params[Param.AUTO_START] == 1 and is_full(pot)):
        pot[Thing.TICK] = 0


@kernel
def apply_effect(effect, hand, cell, kind, times, params):
    """Things move between hand and cell, a button shows the recipe, and a gate opens. Mutates: hand, cell."""
    if kind == Terrain.POT:
        use_pot(effect, hand, cell, times, params)
    elif effect == Effect.TAKE:
        put(hand, dispensed(kind))
    elif effect == Effect.DROP:
        move_thing(hand, cell)
    elif effect == Effect.PICKUP:
        move_thing(cell, hand)
    elif effect == Effect.DELIVERY:
        put(hand, Item.NONE)
    elif effect == Effect.PRESS:
        cell[Thing.TICK] = BUTTON_TIME
    elif effect == Effect.OPEN:
        put(cell, Item.OPEN)
    elif effect == Effect.WORK:
        cell[Thing.TICK] += 1


@kernel
def events_of(effect, tables, env, i, cell, kind, pots):
    """Events are judged before the interact. As in the original, taking a tomato from its dispenser is no event.

    Returns: bits of the events.
    """
    players, k = env.players, env.clock[Clock.LAYOUT]
    held, terrain = players[i, Player.HAND], tables.terrain[k]
    if effect == Effect.TAKE:
        item = dispensed(kind)
        if item == Item.TOMATO:
            return 0
        return event_bits(PICKUPS[item], is_pickup_useful(item, i, players, env.cells, terrain, pots))
    if effect == Effect.PICKUP:
        item = cell[Thing.ITEM]
        return event_bits(PICKUPS[item], is_pickup_useful(item, i, players, env.cells, terrain, pots))
    if effect == Effect.DROP:
        return event_bits(DROPS[held], is_drop_useful(held, i, players, pots))
    if effect == Effect.POTTING:
        soup, best = cell[Thing.SOUP], tables.best[k]
        return potting_bits(held, best[soup], best[soup + one_of(held)])
    if effect == Effect.SOUP_PICKUP:
        return 1 << Event.SOUP_PICKUP
    if effect == Effect.WORK:
        return 1 << Event.PREPARATION
    return 1 << Event.SOUP_DELIVERY if effect == Effect.DELIVERY else 0


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
def interact_in_turn(tables, env, out):
    """Interacts come first, in seat order, each on the state left by the earlier ones; pots are counted before all.

    Mutates: env, out. Returns: whether the order that stands was delivered.
    """
    delivered = False
    k = env.clock[Clock.LAYOUT]
    params = tables.params
    players = env.players
    cells = env.cells
    events = out.events
    places = tables.pots[k]
    n_pots = tables.frames[k, LayoutSize.POTS]
    times = tables.times[k]
    pots = PotCounts(n_pots, count_full_pots(places, n_pots, cells), count_dish_pots(places, n_pots, cells))
    for i in range(players.shape[0]):
        if events[i, EventColumn.PRIMITIVE] != Action.INTERACT:
            continue
        x, y = cell_ahead(players[i, Player.X], players[i, Player.Y], players[i, Player.FACING])
        cell = cells[y, x]
        kind = tables.terrain[k, y, x]
        hand = players[i, Player.HAND : HAND_END]
        effect = effect_of(hand, cell, kind, times, tables.prepare, params)
        if effect != Effect.NONE:
            bits = events_of(effect, tables, env, i, cell, kind, pots)
            events[i, EventColumn.CODE] = bits
            out.shaped[i] = shaped_reward(bits, kind, tables.shaping[k])
            if effect == Effect.DELIVERY:
                is_order = hand[Thing.SOUP] == env.clock[Clock.RECIPE]
                delivered = delivered or is_order
                if is_order or params[Param.ORDER_TIME] == NOTHING:
                    out.sparse[i] += tables.values[k, hand[Thing.SOUP]]
            apply_effect(effect, hand, cell, kind, times, params)
        elif tables.levels[i] == Level.PRIMITIVE:
            events[i, EventColumn.REASON] = Reason.NO_EFFECT
    return delivered


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
    before = out.moves[0]
    targets = out.moves[1]
    width = terrain.shape[1]
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
def cook(pot, times, starts):
    """A full pot starts by itself where pots do so; a started soup cooks until it is ready. Mutates: pot."""
    if starts and is_idle(pot) and count_ingredients(pot[Thing.SOUP]) == MAX_INGREDIENTS:
        pot[Thing.TICK] = 0
    if pot[Thing.ITEM] == Item.SOUP and pot[Thing.TICK] != NOT_COOKING and not is_ready(pot, times):
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
def age_pot(pot, times, params):
    """Ready soup may burn, then a pot cooks; it starts by itself where that does not take an interact.

    Mutates: pot. Returns: 1 for burnt soup, else 0.
    """
    burnt = burn(pot, times, params[Param.BURN]) if params[Param.BURN] != NOTHING else 0
    cook(pot, times, params[Param.AUTO_START] == 1 and params[Param.FULL_WAITS] == 0)
    return burnt


@kernel
def charge(points, event, clock, out):
    """What goes wrong costs points, of which every player bears an equal part; all of them have the event.

    Mutates: clock, out.
    """
    n_players = out.sparse.shape[0]
    for i in range(n_players):
        out.events[i, EventColumn.CODE] |= 1 << event
        out.sparse[i] -= points * (i + 1) // n_players - points * i // n_players
    clock[Clock.SCORE] -= points


@kernel
def move_belts(tables, env):
    """Belts move what lies on them to the next counter or belt that is free, those in front first.

    Mutates: env.cells.
    """
    k, cells = env.clock[Clock.LAYOUT], env.cells
    terrain, belts = tables.terrain[k], tables.belts[k]
    for b in range(tables.frames[k, LayoutSize.BELTS]):
        x, y = belts[b, 0], belts[b, 1]
        ahead_x, ahead_y = cell_ahead(x, y, terrain[y, x] - FIRST_BELT)
        is_free = is_counter(terrain[ahead_y, ahead_x]) and cells[ahead_y, ahead_x, Thing.ITEM] == Item.NONE
        if is_free and cells[y, x, Thing.ITEM] != Item.NONE:
            move_thing(cells[y, x], cells[ahead_y, ahead_x])


@kernel
def work_by_itself(cell, kind, prepare):
    """A grill works on its ingredient, a blender once it is started, until all work is done. Mutates: cell."""
    is_started = kind == Terrain.GRILL or (kind == Terrain.BLENDER and cell[Thing.TICK] > 0)
    if is_started and cell[Thing.ITEM] != Item.NONE and not is_prepared(cell, prepare):
        cell[Thing.TICK] += 1


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


@kernel
def age_button(button):
    """A button counts down the steps for which it shows the recipe, also in the step of the press. Mutates: button."""
    if button[Thing.TICK] > 0:
        button[Thing.TICK] -= 1


@kernel
def advance(tables, env, out):
    """Belts move, stations work, pots burn and cook, gates close, and buttons count down; burnt soup costs points.

    Mutates: env, out.
    """
    k = env.clock[Clock.LAYOUT]
    cells = env.cells
    params = tables.params
    frame = tables.frames[k]
    times = tables.times[k]
    burnt = 0
    if frame[LayoutSize.BELTS] > 0:
        move_belts(tables, env)
    for p in range(frame[LayoutSize.STATIONS]):
        x, y = tables.stations[k, p, 0], tables.stations[k, p, 1]
        work_by_itself(cells[y, x], tables.terrain[k, y, x], tables.prepare)
    for p in range(frame[LayoutSize.POTS]):
        burnt += age_pot(cells[tables.pots[k, p, 1], tables.pots[k, p, 0]], times, params)
    for g in range(frame[LayoutSize.GATES]):
        x, y = tables.gates[k, g, 0], tables.gates[k, g, 1]
        occupied = is_occupied(x, y, env.players)
        age_gate(cells[y, x], occupied, frame[LayoutSize.GATE_LIMIT], params[Param.GATE_PAUSE])
    for p in range(frame[LayoutSize.BUTTONS]):
        age_button(cells[tables.buttons[k, p, 1], tables.buttons[k, p, 0]])
    if burnt > 0:
        charge(burnt * params[Param.BURN_COST], params[Param.SOUP_BURNT], env.clock, out)


# ------------------------------------------------------------------------------------------- orders


@kernel
def draw_recipe(recipes, count, rng):
    """Recipes are drawn uniformly, the same one again too. Mutates: rng."""
    return recipes[draw_below(rng, count)]


@kernel
def draw_order(tables, env):
    """An order is one of the layout's, which nobody knows yet where recipes are hidden, and stands for its time.

    Mutates: env.
    """
    clock, k = env.clock, env.clock[Clock.LAYOUT]
    clock[Clock.RECIPE] = draw_recipe(tables.recipes[k], tables.frames[k, LayoutSize.RECIPES], env.rng)
    env.players[:, Player.KNOWS] = 0
    if env.order.shape[0] > 0:
        env.order[Order.LEFT] = tables.params[Param.ORDER_TIME]


@kernel
def renew_order(tables, env, delivered, out):
    """The next order comes when one is delivered or its time is over, which costs points.

    Searches, which cannot know the next one, keep the old one. Mutates: env, out.
    """
    is_over = False
    if env.order.shape[0] > 0:
        env.order[Order.LEFT] -= 1
        is_over = env.order[Order.LEFT] == 0 and not delivered
    if (is_over or delivered) and tables.params[Param.REDRAW] == 1:
        draw_order(tables, env)
    if is_over:
        charge(tables.params[Param.ORDER_COST], tables.params[Param.SOUP_BURNT] + 1, env.clock, out)


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
