"""The rules of OvercookedV2 that differ from Overcooked, one kernel per rule, for one environment.

Rows passed in are views of one environment's arrays: ``player`` (5,), ``cell`` (2,), ``clock`` (7,). Contents of hands
and cells are bit fields, see ``constants``. ``env`` and ``out`` are rows of ``State`` and ``Out``.
"""

from __future__ import annotations

from collab_overcooked.kernels.grid import cell_ahead
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import draw_below

from ...engine.constants import NOTHING, Action, EventColumn, Reason
from ...engine.rules import lies_on_counter
from .constants import (
    BUTTON_PAYS,
    BUTTON_TIME,
    COOK_TIME,
    COOKED,
    COUNT,
    DELIVERY_PAYS,
    DISH,
    FIRST,
    MAX_INGREDIENTS,
    PLATE,
    PLATE_SHAPED,
    POTTING_SHAPED,
    SOUP_SHAPED,
    START_SHAPED,
    Cell,
    Clock,
    Event,
    Param,
    Player,
    Terrain,
)

# ------------------------------------------------------------------------------------------- contents


@kernel
def count_ingredients(content):
    """A soup has as many ingredients as its counts sum up to."""
    count, rest = 0, content >> 2
    while rest > 0:
        count += rest & COUNT
        rest = rest >> 2
    return count


@kernel
def count_held_plates(players):
    """Plates in hands are counted before anyone interacts; dishes are no plates."""
    count = 0
    for i in range(players.shape[0]):
        count += players[i, Player.HAND] == PLATE
    return count


@kernel
def count_used_pots(cells, terrain, object_cells):
    """A pot with ingredients or soup in it needs a plate sooner or later."""
    count = 0
    for h in range(object_cells.shape[0]):
        x, y = object_cells[h, 0], object_cells[h, 1]
        count += terrain[y, x] == Terrain.POT and cells[y, x, Cell.CONTENT] != 0
    return count


# ------------------------------------------------------------------------------------------- what an interact does


@kernel
def judge_pot(hand, pot, explicit):
    """Idle pots take up to three ingredients of any kind, cooked soup goes on a plate, and an interact can start pots.

    With dynamics="explicit" empty hands start a pot; otherwise only pots that were full at the start of an episode.
    """
    content = pot[Cell.CONTENT]
    if content & COOKED:
        return Event.SOUP_PICKUP if hand == PLATE else Event.NONE
    if pot[Cell.TIMER] > 0:
        return Event.NONE
    count = count_ingredients(content)
    if explicit == 0 and count == MAX_INGREDIENTS:
        return Event.START
    if hand == 0:
        return Event.START if explicit == 1 and count > 0 else Event.NONE
    return Event.POTTING if hand & PLATE == 0 and count < MAX_INGREDIENTS else Event.NONE


@kernel
def judge_interact(hand, cell, kind, recipe, explicit):
    """Piles fill empty hands, counters take one thing, serving cells take soup, and empty hands press buttons."""
    content = cell[Cell.CONTENT]
    if kind == Terrain.POT:
        return judge_pot(hand, cell, explicit)
    if kind == Terrain.COUNTER and hand != 0:
        return Event.DROP if content == 0 else Event.NONE
    if kind == Terrain.SERVING and hand & COOKED:
        return Event.SOUP_DELIVERY if hand == recipe | DISH else Event.WRONG_DELIVERY
    if hand != 0:
        return Event.NONE
    if kind == Terrain.COUNTER:
        return Event.PICKUP if content != 0 else Event.NONE
    if kind == Terrain.BUTTON:
        return Event.PRESS
    if kind == Terrain.PLATES:
        return Event.PLATE_PICKUP
    return Event.INGREDIENT_PICKUP if kind >= Terrain.PILE else Event.NONE


@kernel
def apply_interact(event, player, cell, kind, explicit):
    """Contents move between hand and cell; a started pot cooks 20 steps, a button shows the recipe for 10.

    Mutates: player, cell.
    """
    hand = player[Player.HAND]
    if event == Event.INGREDIENT_PICKUP:
        player[Player.HAND] = FIRST << 2 * (kind - Terrain.PILE)
    elif event == Event.PLATE_PICKUP:
        player[Player.HAND] = PLATE
    elif event == Event.DROP or event == Event.PICKUP:
        player[Player.HAND] = cell[Cell.CONTENT]
        cell[Cell.CONTENT] = hand
    elif event == Event.POTTING:
        player[Player.HAND] = 0
        cell[Cell.CONTENT] += hand
        if explicit == 0 and count_ingredients(cell[Cell.CONTENT]) == MAX_INGREDIENTS:
            cell[Cell.TIMER] = COOK_TIME
    elif event == Event.START:
        cell[Cell.TIMER] = COOK_TIME
    elif event == Event.SOUP_PICKUP:
        player[Player.HAND] = cell[Cell.CONTENT] | PLATE
        cell[Cell.CONTENT] = 0
    elif event == Event.PRESS:
        cell[Cell.TIMER] = BUTTON_TIME
    elif event != Event.NONE:
        player[Player.HAND] = 0


@kernel
def reward_for(event, wrong_pays):
    """The recipe pays 20 points, another soup nothing or -20, and a button costs 5; pressing it again costs again."""
    if event == Event.SOUP_DELIVERY:
        return DELIVERY_PAYS
    if event == Event.WRONG_DELIVERY:
        return wrong_pays
    return BUTTON_PAYS if event == Event.PRESS else 0


@kernel
def shaped_for(event, hand, content, recipe, explicit):
    """Shaped reward is paid for an ingredient that the pot lacks, the right soup on a plate, and its manual start.

    ``hand`` and ``content`` are those before the interact.
    """
    if event == Event.POTTING:
        lacks = content & (hand * COUNT) < recipe & (hand * COUNT)
        return POTTING_SHAPED if lacks else 0
    if event == Event.SOUP_PICKUP:
        return SOUP_SHAPED if content == recipe | COOKED else 0
    return START_SHAPED if event == Event.START and explicit == 1 and content == recipe else 0


@kernel
def is_plate_wanted(held, cells, terrain, object_cells):
    """A plate is useful if none lies on a counter and hands hold fewer plates than there are pots that need one."""
    return held < count_used_pots(cells, terrain, object_cells) and not lies_on_counter(PLATE, cells, terrain)


@kernel
def interact_in_turn(tables, env, out):
    """Interacts come after moves, in seat order, each on the state left by the earlier ones.

    Mutates: env, out. Returns: whether the recipe was delivered.
    """
    players, cells, events, sparse, shaped = env.players, env.cells, out.events, out.sparse, out.shaped
    params, terrain, recipe, delivered = tables.params, tables.terrain, env.clock[Clock.RECIPE], False
    explicit, held = params[Param.EXPLICIT], count_held_plates(players)
    for i in range(players.shape[0]):
        if events[i, EventColumn.PRIMITIVE] != Action.INTERACT:
            continue
        x, y = cell_ahead(players[i, Player.X], players[i, Player.Y], players[i, Player.FACING])
        hand, content, kind = players[i, Player.HAND], cells[y, x, Cell.CONTENT], terrain[y, x]
        event = judge_interact(hand, cells[y, x], kind, recipe, explicit)
        if event == Event.NONE:
            events[i, EventColumn.REASON] = Reason.NO_EFFECT
            continue
        if event == Event.PLATE_PICKUP and is_plate_wanted(held, cells, terrain, tables.object_cells):
            shaped[i] = PLATE_SHAPED
        else:
            shaped[i] = shaped_for(event, hand, content, recipe, explicit)
        apply_interact(event, players[i], cells[y, x], kind, explicit)
        events[i, EventColumn.CODE] = event
        sparse[i] = reward_for(event, params[Param.WRONG_PAYS])
        delivered = delivered or event == Event.SOUP_DELIVERY
    return delivered


# ------------------------------------------------------------------------------------------- what goes on by itself


@kernel
def tick_cell(cell, kind):
    """Pots and buttons count down, also in the step that starts them; a pot at 0 is cooked. Mutates: cell."""
    if cell[Cell.TIMER] > 0:
        cell[Cell.TIMER] -= 1
        if cell[Cell.TIMER] == 0 and kind == Terrain.POT:
            cell[Cell.CONTENT] |= COOKED


@kernel
def draw_recipe(recipes, rng):
    """Recipes are drawn uniformly, the same one again too. Mutates: rng."""
    return recipes[draw_below(rng, recipes.shape[0])]


# ------------------------------------------------------------------------------------------- who knows the recipe


@kernel
def is_in_view(x, y, player, radius):
    """A player sees the square around it, or all."""
    near_x, near_y = abs(x - player[Player.X]) <= radius, abs(y - player[Player.Y]) <= radius
    return radius == NOTHING or (near_x and near_y)


@kernel
def shows_recipe(cell, kind):
    """Indicators always show the recipe, buttons after they were pressed."""
    return kind == Terrain.INDICATOR or (kind == Terrain.BUTTON and cell[Cell.TIMER] > 0)


@kernel
def learn_recipe(tables, env):
    """A player knows the recipe once it sees a cell that shows it, until it is drawn anew; a single one is known.

    Mutates: env.players.
    """
    players, cells, terrain, object_cells = env.players, env.cells, tables.terrain, tables.object_cells
    radius = tables.params[Param.RADIUS]
    for i in range(players.shape[0]):
        if tables.recipes.shape[0] == 1:
            players[i, Player.KNOWS] = 1
        for h in range(object_cells.shape[0] if players[i, Player.KNOWS] == 0 else 0):
            x, y = object_cells[h, 0], object_cells[h, 1]
            if shows_recipe(cells[y, x], terrain[y, x]) and is_in_view(x, y, players[i], radius):
                players[i, Player.KNOWS] = 1


# ------------------------------------------------------------------------------------------- starting


@kernel
def draw_ingredients(count, kinds, rng):
    """Random ingredients are drawn one by one. Mutates: rng."""
    content = 0
    for _ in range(count):
        content += FIRST << 2 * draw_below(rng, kinds)
    return content


@kernel
def draw_thing(plates, ingredients, dishes, recipes, kinds, rng):
    """Random things are a plate, an ingredient or the dish of some recipe, by their shares of 20. Mutates: rng."""
    ticket = draw_below(rng, 20)
    if ticket < plates:
        return PLATE
    if ticket < plates + ingredients:
        return draw_ingredients(1, kinds, rng)
    return draw_recipe(recipes, rng) | DISH if ticket < plates + ingredients + dishes else 0


@kernel
def fill_pot(pot, kinds, rng):
    """A random pot is empty (8 of 20), idle with one to three ingredients (7), cooking (3) or cooked (2).

    Mutates: pot, rng.
    """
    ticket = draw_below(rng, 20)
    if ticket < 8:
        return
    count = 1 + draw_below(rng, MAX_INGREDIENTS) if ticket < 15 else MAX_INGREDIENTS
    pot[Cell.CONTENT] = draw_ingredients(count, kinds, rng)
    if ticket >= 18:
        pot[Cell.CONTENT] |= COOKED
    elif ticket >= 15:
        pot[Cell.TIMER] = 1 + draw_below(rng, COOK_TIME)


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
