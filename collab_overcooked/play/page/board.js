// The picture and what is done at its places: clicks, taps and arrow keys.

import { send } from "/page/connection.js";
import { phrase, words } from "/page/language.js";
import { $, KEYS, MOVES, make, now, STEPS, say, show, touched, turns } from "/page/page.js";
import { Picture } from "/page/picture.js";
import { sound } from "/page/talk.js";
import { actionButton, answer, askedIn, choose, clickable, MOST_ACTIONS, requests, teammate } from "/page/turn.js";

export const picture = new Picture({
  stage: $("stage"),
  panel: $("panel"),
  hud: $("hud"),
  orders: $("orders"),
  phrase,
  counted: (gains) => now.gains.push(...gains),
});
picture.room = () => {
  const beside = getComputedStyle($("kitchen")).position === "sticky",
    top = $("frame").getBoundingClientRect().top + scrollY;
  const low = touched() && matchMedia("(orientation: landscape) and (max-height: 32rem)").matches;
  const height = beside
    ? innerHeight - Math.min(top, 0.4 * innerHeight) - (low ? 10 : 60)
    : low
      ? innerHeight - top - 6
      : Math.min(innerHeight * 0.6, now.me?.keys.length ? innerHeight - top - $("pad").offsetHeight - 30 : Infinity);
  return { width: $("frame").clientWidth - 1, height: Math.max(low ? 120 : 170, height), low };
};
picture.ordered = () => sound("order");
picture.time = () =>
  turns() || !now.frame
    ? ""
    : say(now.frame.limit ? "seconds_left" : "seconds_gone", {
        n: Math.ceil(Math.abs((now.frame.limit ?? 0) - now.frame.timestep) * now.me.tick),
      });
picture.inTime = (text) =>
  turns() ? text : text.replace(/\d+/, (steps) => say("seconds", { n: Math.ceil(steps * now.me.tick) }));
export const redraw = () => {
  if (picture.size) {
    picture.resize();
    if (now.me) markCells();
  }
};
// What stands above the board, not beside it, keeps the height that it once had in a round, so that the board stays
// where it is.
const ABOVE = ["hud", "orders", "news"];
const letShrink = () => {
  for (const id of ABOVE) $(id).style.minHeight = "";
};
function keepHeights() {
  if (turns() && $("frame").getBoundingClientRect().top < $("news").getBoundingClientRect().bottom) return;
  for (const id of ABOVE) {
    const kept = Number.parseFloat($(id).style.minHeight) || 0;
    const { height } = $(id).getBoundingClientRect();
    if (height > kept) $(id).style.minHeight = `${height}px`;
  }
}
addEventListener("resize", () => {
  letShrink();
  redraw();
});
// Cards above the board take room from it; it never grows by itself, as agents shall not change their size all the
// time.
const above = new ResizeObserver(() => {
  if (now.phase === "playing") keepHeights();
  if (picture.size && picture.room().height < picture.height - 2) redraw();
});
for (const id of ABOVE) above.observe($(id));

const named = (action, target) =>
  new RegExp(`(^|[^a-z0-9])${target.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}($|[),;(])`, "i").test(action);
const isAt = (cell) => (action) => (cell?.t ?? []).some((target) => named(action, target));

// The rank of each action by the first place that it names, row by row from the top left; last those that name none.
export function placesOf(actions) {
  const first = new Map();
  for (const [key, cell] of picture.values)
    if (key.startsWith("c:"))
      for (const target of cell.t ?? [])
        first.set(target, Math.min(1000 * cell.y + cell.x, first.get(target) ?? Infinity));
  const ranks = (action) => [...first].filter(([target]) => named(action, target)).map(([, rank]) => rank);
  return new Map(actions.map((action) => [action, Math.min(...ranks(action), 1e6)]));
}

// What a seat can do at a place, or else what it can ask a teammate to do there.
function actionsAt(cell) {
  const own = clickable() ? now.question.legal.filter(isAt(cell)) : [];
  return own.length ? own : Object.values(requests()).filter(isAt(cell));
}

export function markCells() {
  picture.mark("can", (cell) => actionsAt(cell).length > 0 || (turns() && Boolean(route(cell)?.length)));
  // all places of the next step until this seat is to act, then those where it can do something
  const idle = now.phase !== "playing" || (turns() && (!now.question || $("send").disabled));
  const usable = (cell) => idle || actionsAt(cell).length > 0 || Boolean(route(cell, true)?.length);
  picture.mark("aim", (cell, key) => now.tutorial.at.includes(key) && usable(cell));
}

// The keys that walk to a cell; a station is used from beside it. Teammates block the way unless they may step aside.
function route(cell, aside = false) {
  const own = picture.values.get(`a:${now.me.seat}`),
    keys = now.me.keys.length ? now.me.keys : Object.keys(now.me.moves);
  if (!cell || !own || !keys.length) return null;
  const taken = new Set(
    [...picture.values]
      .filter(([key]) => !aside && key.startsWith("a:") && key !== `a:${now.me.seat}`)
      .map(([, cook]) => `${cook.x},${cook.y}`),
  );
  const queue = [[own.x, own.y, []]],
    seen = new Set([`${own.x},${own.y}`]);
  while (queue.length) {
    const [x, y, path] = queue.shift();
    for (const [key, [dx, dy]] of Object.entries(STEPS)) {
      const at = `${x + dx},${y + dy}`,
        next = picture.cellAt(x + dx, y + dy);
      if (!next || seen.has(at)) continue;
      if (next === cell && !next.w)
        return [
          ...path,
          ...(own.f === MOVES[key] && !path.length ? [] : [key]),
          ...(keys.includes("act") ? ["act"] : []),
        ];
      if (next === cell) return [...path, key];
      seen.add(at);
      if (next.w && !taken.has(at)) queue.push([x + dx, y + dy, [...path, key]]);
    }
  }
  return null;
}

// In real time a click walks on with every frame, until a key is pressed or the place is reached and used.
let goal = null,
  going = null,
  whyTimer = 0;
export const stopWalking = () => {
  goal = null;
};

export function walk() {
  if (!goal || now.phase !== "playing") return;
  const path = route(picture.cellAt(goal.x, goal.y));
  if (!path?.length) {
    goal = null;
    return;
  }
  send({ type: "tap", key: path[0] });
  if (STEPS[path[0]]) picture.foresee(MOVES[path[0]], STEPS[path[0]], now.me.tick, 2 * now.me.tick + 0.3);
  if (path.length === 1) goal = null;
}

// In turns a click on a place that is still to be reached goes on there: by the only thing to do, or by a choice.
export function goOn() {
  if (!going) return;
  const cell = picture.cellAt(going.x, going.y);
  going = null;
  const actions = now.question.legal.filter(isAt(cell)).filter((action) => !now.question.walks.includes(action));
  if (now.question.error || now.question.inbox?.length || !actions.length) return;
  if (actions.length === 1) choose(actions[0]);
  else {
    const box = $("board").getBoundingClientRect();
    openPick(cell, actions, box.left + (cell.x + 0.5) * picture.tile, box.top + (cell.y + 0.5) * picture.tile);
  }
}

export function closePick() {
  show("pick", false);
  show("why", false);
}

// What was pointed at on the board of the round before.
export function clearBoard() {
  closePick();
  letShrink();
  goal = going = pointed = null;
}

function placeAt(id, x, y) {
  const box = $("frame").getBoundingClientRect();
  $(id).style.left = `${Math.max(4, Math.min(x - box.left, box.width - $(id).offsetWidth - 4))}px`;
  $(id).style.top = `${Math.max(4, Math.min(y - box.top, box.height - Math.min($(id).offsetHeight, 120)))}px`;
}

// Why nothing can be done at a place: reasons of the game for what would be done there, or who can do it instead.
function refuse(cell) {
  const at = isAt(cell),
    reasons = [
      ...new Set(
        Object.entries(now.question?.blocked ?? {})
          .filter(([action]) => at(action))
          .map(([, reason]) => phrase(reason)),
      ),
    ];
  $("why").textContent =
    !now.question || $("send").disabled ? $("status").textContent : reasons.slice(0, 2).join(" ") || words.nothing_here;
  showWhy();
}

function showWhy() {
  show("why", true);
  clearTimeout(whyTimer);
  whyTimer = setTimeout(() => show("why", false), 4000); // it stands where news stand
}

function openPick(cell, actions, x, y) {
  const asks = askedIn(actions[0]) ? [make("p", say("ask", { name: teammate(), action: "" }))] : [];
  $("pick").replaceChildren(
    ...asks,
    ...actions.slice(0, MOST_ACTIONS).map((entry) => actionButton(entry, phrase(askedIn(entry) ?? entry))),
  );
  show("pick", true);
  const box = $("frame").getBoundingClientRect(),
    below = y - box.top < box.height / 2; // the place itself stays in view
  placeAt("pick", x, below ? y + picture.tile / 2 : y - picture.tile / 2 - $("pick").offsetHeight);
  $("pick").setAttribute("aria-label", phrase(cell.n ?? cell.l?.[0] ?? cell.t[0]));
  $("pick").querySelector("button").focus({ preventScroll: true });
}

$("stage").onclick = ({ clientX, clientY }) => tap(picture.at(clientX, clientY), clientX, clientY);

function tap(cell, x, y) {
  closePick();
  const actions = actionsAt(cell);
  if (!turns() && now.me?.role === "seat" && cell) {
    goal = { x: cell.x, y: cell.y };
    if (!route(cell)) {
      $("why").textContent = words.no_way;
      showWhy();
    }
    walk();
    return;
  }
  if (now.me?.role !== "seat" || !cell || (now.question && !clickable() && !actions.length)) return;
  if (!now.question || $("send").disabled) {
    refuse(cell);
    return;
  }
  if (!actions.length) {
    const path = route(cell);
    if (path?.length) answer(path.map((key) => now.me.moves[key]).join("; "));
    else refuse(cell);
    return;
  }
  going = actions.every((action) => now.question.walks.includes(action)) ? { x: cell.x, y: cell.y } : null;
  if (actions.length === 1 && !$("planning").open && now.question.legal.includes(actions[0])) choose(actions[0]);
  else openPick(cell, actions, x, y);
}

// Arrow keys go through the places of the board where something can be done, and Enter is a tap.
let pointed = null;
$("stage").onkeydown = (event) => {
  const facing = event.key.startsWith("Arrow") && KEYS[event.key],
    press = event.key === "Enter" || event.key === " ";
  if (!turns() || !(facing || press)) return;
  event.preventDefault();
  const cells = [...picture.cells]
    .filter(([, group]) => group.classList.contains("can"))
    .map(([key]) => picture.values.get(key));
  const from = picture.values.get(pointed) ?? picture.values.get(`a:${now.me.seat}`) ?? { x: 0, y: 0 };
  if (press) {
    const box = $("board").getBoundingClientRect();
    if (picture.values.has(pointed))
      tap(from, box.left + (from.x + 0.5) * picture.tile, box.top + (from.y + 0.5) * picture.tile);
    return;
  }
  const [dx, dy] = STEPS[facing],
    ahead = ({ x, y }) => (x - from.x) * dx + (y - from.y) * dy,
    off = ({ x, y }) => Math.abs((x - from.x) * dy + (y - from.y) * dx);
  const [next] = cells.filter((cell) => ahead(cell) > 0).sort((a, b) => ahead(a) + 2 * off(a) - ahead(b) - 2 * off(b));
  if (next) pointed = `c:${next.x},${next.y}`;
  for (const [key, group] of picture.cells) group.classList.toggle("pointed", key === pointed);
  picture.name(picture.values.get(pointed));
  picture.cells.get(pointed)?.scrollIntoView({ block: "nearest", inline: "nearest" });
};
$("pick").onclick = (event) => {
  const button = event.target.closest("button");
  if (button) {
    closePick();
    choose(button.dataset.action);
  }
};
$("names").onclick = () => $("names").setAttribute("aria-pressed", $("board").classList.toggle("named"));
for (const button of document.querySelectorAll("[data-zoom]"))
  button.onclick = () => {
    picture.zoom = Math.min(4, Math.max(0.5, picture.zoom * Number(button.dataset.zoom)));
    redraw();
  };
