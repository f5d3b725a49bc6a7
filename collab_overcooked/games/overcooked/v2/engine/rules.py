"""The rules of OvercookedV2 beside those of Overcooked, one kernel per rule, for one environment.

Rows passed in are views of one environment's arrays, see ``overcooked.engine.rules``. ``env`` and ``out`` are rows of
``State`` and ``Out``.
"""

from __future__ import annotations

from collab_overcooked.kernels.grid import cell_ahead
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import draw_below

from ...engine.constants import (
    FIRST_INGREDIENT,
    HAND_END,
    MAX_INGREDIENTS,
    NOT_COOKING,
    NOTHING,
    Action,
    Clock,
    Effect,
    EventColumn,
    Item,
    LayoutSize,
    Param,
    Player,
    Reason,
    Terrain,
    Thing,
)
from ...engine.rules import apply_effect, count_kind, draw_recipe, effect_of, lies_on_counter, put
from .constants import (
    BUTTON_PAYS,
    DELIVERY_PAYS,
    EVENTS,
    PLATE_PICKUP,
    PLATE_SHAPED,
    POTTING_SHAPED,
    SOUP_SHAPED,
    START_SHAPED,
    WRONG_DELIVERY,
    Event,
)

# ------------------------------------------------------------------------------------------- what an interact does


@kernel
def event_of(effect, hand, kind, recipe):
    """An effect of an interact is one event; plates are told from ingredients, and the recipe from other soups."""
    if effect == Effect.TAKE and kind == Terrain.DISHES:
        return PLATE_PICKUP
    if effect == Effect.DELIVERY and hand[Thing.SOUP] != recipe:
        return WRONG_DELIVERY
    return EVENTS[effect]


@kernel
def reward_for(event, wrong_pays):
    """The recipe pays 20 points, another soup nothing or -20, and a button costs 5; pressing it again costs again."""
    if event == Event.SOUP_DELIVERY:
        return DELIVERY_PAYS
    if event == Event.WRONG_DELIVERY:
        return wrong_pays
    return BUTTON_PAYS if event == Event.PRESS else 0


@kernel
def shaped_for(event, held, soup, recipe, auto_start):
    """Shaped reward is paid for an ingredient that the pot lacks, the right soup on a plate, and its manual start.

    ``held`` and ``soup``, the content of the pot, are those before the interact.
    """
    if event == Event.POTTING:
        return POTTING_SHAPED if count_kind(soup, held) < count_kind(recipe, held) else 0
    if event == Event.SOUP_PICKUP:
        return SOUP_SHAPED if soup == recipe else 0
    return START_SHAPED if event == Event.START and auto_start == 0 and soup == recipe else 0


@kernel
def count_held_plates(players):
    """Plates in hands are counted before anyone interacts; plated soup does not count."""
    count = 0
    for i in range(players.shape[0]):
        count += players[i, Player.HAND] == Item.DISH
    return count


@kernel
def count_used_pots(pots, n_pots, cells):
    """A pot with ingredients or soup in it needs a plate sooner or later."""
    count = 0
    for p in range(n_pots):
        count += cells[pots[p, 1], pots[p, 0], Thing.ITEM] != Item.NONE
    return count


@kernel
def is_plate_wanted(held, tables, env):
    """A plate is useful if none lies on a counter and hands hold fewer plates than there are pots that need one."""
    k, cells = env.clock[Clock.LAYOUT], env.cells
    used = count_used_pots(tables.pots[k], tables.frames[k, LayoutSize.POTS], cells)
    return held < used and not lies_on_counter(Item.DISH, cells, tables.terrain[k])


@kernel
def interact_in_turn(tables, env, out):
    """Interacts come after moves, in seat order, each on the state left by the earlier ones.

    Mutates: env, out. Returns: whether the recipe was delivered.
    """
    players = env.players
    cells = env.cells
    events = out.events
    sparse = out.sparse
    shaped = out.shaped
    k = env.clock[Clock.LAYOUT]
    params = tables.params
    recipe = env.clock[Clock.RECIPE]
    delivered = False
    auto_start = params[Param.AUTO_START]
    held = count_held_plates(players)
    times = tables.times[k]
    for i in range(players.shape[0]):
        if events[i, EventColumn.PRIMITIVE] != Action.INTERACT:
            continue
        x, y = cell_ahead(players[i, Player.X], players[i, Player.Y], players[i, Player.FACING])
        hand = players[i, Player.HAND : HAND_END]
        cell = cells[y, x]
        kind = tables.terrain[k, y, x]
        effect = effect_of(hand, cell, kind, times, tables.prepare, params)
        if effect == Effect.NONE:
            events[i, EventColumn.REASON] = Reason.NO_EFFECT
            continue
        event = event_of(effect, hand, kind, recipe)
        if event == Event.PLATE_PICKUP and is_plate_wanted(held, tables, env):
            shaped[i] = PLATE_SHAPED
        else:
            shaped[i] = shaped_for(event, hand[Thing.ITEM], cell[Thing.SOUP], recipe, auto_start)
        apply_effect(effect, hand, cell, kind, times, params)
        events[i, EventColumn.CODE] = 1 << event
        sparse[i] = reward_for(event, params[Param.WRONG_PAYS])
        delivered = delivered or event == Event.SOUP_DELIVERY
    return delivered


# ------------------------------------------------------------------------------------------- who knows the recipe


@kernel
def is_in_view(x, y, player, radius):
    """A player sees the square around it, or all."""
    near_x, near_y = abs(x - player[Player.X]) <= radius, abs(y - player[Player.Y]) <= radius
    return radius == NOTHING or (near_x and near_y)


@kernel
def shows_recipe(cell, kind):
    """Indicators always show the recipe, buttons after they were pressed."""
    return kind == Terrain.INDICATOR or (kind == Terrain.BUTTON and cell[Thing.TICK] > 0)


@kernel
def learn_recipe(tables, env):
    """A player knows the recipe once it sees a cell that shows it, until it is drawn anew; a single one is known.

    Mutates: env.players.
    """
    players = env.players
    cells = env.cells
    k = env.clock[Clock.LAYOUT]
    terrain = tables.terrain[k]
    object_cells = tables.object_cells[k]
    frame = tables.frames[k]
    radius = tables.params[Param.RADIUS]
    for i in range(players.shape[0]):
        if frame[LayoutSize.RECIPES] == 1:
            players[i, Player.KNOWS] = 1
        for h in range(frame[LayoutSize.OBJECT_CELLS] if players[i, Player.KNOWS] == 0 else 0):
            x, y = object_cells[h, 0], object_cells[h, 1]
            if shows_recipe(cells[y, x], terrain[y, x]) and is_in_view(x, y, players[i], radius):
                players[i, Player.KNOWS] = 1


# ------------------------------------------------------------------------------------------- starting


@kernel
def draw_ingredients(count, kinds, rng):
    """Random ingredients are drawn one by one. Mutates: rng."""
    soup = 0
    for _ in range(count):
        soup += 1 << 2 * draw_below(rng, kinds)
    return soup


@kernel
def random_thing(thing, plates, ingredients, dishes, tables, k, rng):
    """Random things are a plate, an ingredient or soup of some recipe, by their shares of 20. Mutates: thing, rng."""
    frame, ticket = tables.frames[k], draw_below(rng, 20)
    if ticket < plates:
        put(thing, Item.DISH)
    elif ticket < plates + ingredients:
        put(thing, FIRST_INGREDIENT + draw_below(rng, frame[LayoutSize.KINDS]))
    elif ticket < plates + ingredients + dishes:
        put(thing, Item.SOUP)
        thing[Thing.SOUP] = draw_recipe(tables.recipes[k], frame[LayoutSize.RECIPES], rng)
        thing[Thing.TICK] = tables.times[k, thing[Thing.SOUP]]


@kernel
def fill_pot(pot, kinds, times, rng):
    """A random pot is empty (8 of 20), idle with one to three ingredients (7), cooking (3) or cooked (2).

    Mutates: pot, rng.
    """
    ticket = draw_below(rng, 20)
    if ticket < 8:
        return
    count = 1 + draw_below(rng, MAX_INGREDIENTS) if ticket < 15 else MAX_INGREDIENTS
    put(pot, Item.SOUP)
    pot[Thing.SOUP] = draw_ingredients(count, kinds, rng)
    pot[Thing.TICK] = NOT_COOKING
    if ticket >= 15:
        time = times[pot[Thing.SOUP]]
        pot[Thing.TICK] = time if ticket >= 18 else time - 1 - draw_below(rng, time)


@kernel
def permute_channels(channels, permuted, rng):
    """Each player sees some ingredients in the channels of others, drawn for the episode. Mutates: channels, rng."""
    for i in range(channels.shape[0]):
        for k in range(channels.shape[1]):
            channels[i, k] = k
        for last in range(permuted.shape[0] - 1, 0, -1):
            a, b = permuted[last], permuted[draw_below(rng, last + 1)]
            kept = channels[i, a]
            channels[i, a] = channels[i, b]
            channels[i, b] = kept
