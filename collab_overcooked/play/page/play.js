// The page of one person: shows what the server sends, sends what the person does. No rule of any game is here.

import { fill, game, keep, LANGUAGES, language, load, phrase, preferred, setSingle } from "/page/language.js";
import { Picture } from "/page/picture.js";
import { sound, Talk } from "/page/talk.js";

const $ = (id) => document.getElementById(id);
let words = await load(preferred());
const address = location.pathname.replace(/\/$/, "");
const KEYS = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
  w: "up",
  s: "down",
  a: "left",
  d: "right",
  " ": "act",
  e: "act",
  x: "stay",
};
const MOVES = { up: "north", down: "south", left: "west", right: "east" };
const STEPS = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] };
const MOST_ACTIONS = 60;
const down = new Set();
let phase = "",
  me = null,
  question = null,
  frame = null,
  socket = null,
  wait = 500,
  state = null,
  rematch = null,
  final = false,
  count = null;

const say = (name, values = {}) => fill(words[name], values);
const show = (id, on) => {
  $(id).hidden = !on;
};
const send = (message) => {
  if (socket?.readyState === 1) socket.send(JSON.stringify(message));
};
const nameOf = (seat) => (seat === null ? words.a_voice : (me?.names[seat] ?? ""));
// the server keeps its size class and counts losses of focus
const sendWindow = (lost) => send({ type: "window", width: innerWidth, lost });
const turns = () => me?.clock === "turns";
const touched = () => matchMedia("(pointer: coarse)").matches; // no keyboard
function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
function notice(text, button) {
  $("notice").replaceChildren(text);
  if (button) $("notice").append(" ", button);
  show("notice", Boolean(text));
}
const recall = (key, otherwise) => {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
};
const remember = (key, value) => {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    /* private windows keep nothing */
  }
};

const picture = new Picture({
  stage: $("stage"),
  panel: $("panel"),
  hud: $("hud"),
  orders: $("orders"),
  phrase,
  flash,
});
picture.room = () => {
  const beside = getComputedStyle($("kitchen")).position === "sticky",
    top = $("frame").getBoundingClientRect().top + scrollY;
  const low = touched() && matchMedia("(orientation: landscape) and (max-height: 32rem)").matches;
  const height = beside
    ? innerHeight - Math.min(top, 0.4 * innerHeight) - (low ? 10 : 60)
    : low
      ? innerHeight - top - 6
      : Math.min(innerHeight * 0.6, me?.keys.length ? innerHeight - top - $("pad").offsetHeight - 30 : Infinity);
  return { width: $("frame").clientWidth - 1, height: Math.max(low ? 120 : 170, height), low };
};
const talk = new Talk({ picture, say: (name, values) => say(name, values), nameOf, own: () => me?.seat });
picture.ordered = () => sound("order");
picture.time = () =>
  turns() || !frame
    ? ""
    : say(frame.limit ? "seconds_left" : "seconds_gone", {
        n: Math.ceil(Math.abs((frame.limit ?? 0) - frame.timestep) * me.tick),
      });
const redraw = () => {
  if (picture.size) {
    picture.resize();
    if (me) markCells();
  }
};
addEventListener("resize", redraw);
// Cards above the board take room from it; it never grows by itself, as agents shall not change their size all the
// time.
const above = new ResizeObserver(() => {
  if (picture.size && picture.room().height < picture.height - 2) redraw();
});
for (const id of ["hud", "orders"]) above.observe($(id));
let causes = []; // of what changes with the frame that is read
function flash(changes) {
  sound(changes.some(({ kind }) => kind === "bad") ? "loss" : "gain");
  const lines = changes.map(({ gain, text, kind }) => {
    const line = make("span", text.replace(/ \(.*/, "").replace(/:?( ?)-?\d+/, `$1${gain > 0 ? "+" : ""}${gain}`), {
      class: kind,
    });
    const known = causes
      .filter(([change]) => change > 0 === (kind === "good"))
      .map(([change, seat, label]) =>
        seat !== null
          ? `${nameOf(seat)}: ${phrase(label)}`
          : change < 0
            ? say("too_late", { order: phrase(label) })
            : phrase(label),
      );
    if (known.length) line.append(make("small", known.join("; ")));
    return line;
  });
  const big = $("flash");
  big.replaceChildren(...lines);
  big.className = "";
  void big.offsetWidth; // so that the animation starts anew
  big.className = "on";
}

// ------------------------------------------------------------------------------------------- the connection

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${address}/socket`);
  socket.onopen = () => {
    wait = 500;
    picture.clear();
    notice("");
    sendWindow(false);
    if ($("text-on").checked) send({ type: "text", on: true });
  };
  socket.onmessage = (event) => {
    const message = JSON.parse(event.data);
    HANDLERS[message.type]?.(message);
  };
  socket.onclose = () => {
    down.clear();
    if (final) return;
    notice(words.lost);
    setTimeout(connect, wait);
    wait = Math.min(5000, wait * 2);
  };
}

const HANDLERS = {
  async welcome(message) {
    me = message;
    show("loading", false);
    if (me.language && me.language !== language()) words = await load(me.language);
    show("language-row", !me.language);
    document.body.classList.toggle("ticks", !turns());
    picture.own = me.seat;
    picture.letters = me.role !== "watcher" && !me.keys.length && !Object.keys(me.moves).length;
    setSingle(me.single);
    welcome();
  },
  loading(message) {
    show("loading", true);
    $("status").textContent = say("loading_status", message);
  },
  state(message) {
    state = message;
    showState();
  },
  countdown(message) {
    show("over", false);
    show("big", true);
    clearInterval(count);
    let left = Math.ceil(message.seconds);
    const tell = () => {
      $("status").textContent = say("begins", { n: left });
      $("big").textContent = left;
    };
    tell();
    count = setInterval(() => {
      left -= 1;
      if (left > 0) tell();
      else {
        clearInterval(count);
        show("big", false);
      }
    }, 1000);
    $("stage").focus({ preventScroll: true });
  },
  frame(message) {
    const first = document.body.classList.contains("no-frame");
    document.body.classList.remove("no-frame");
    document.body.dataset.step = message.timestep;
    const next = frame && message.timestep === frame.timestep + 1;
    if (message.timestep === 0 && frame?.timestep) {
      show("big", false);
      for (const done of document.querySelectorAll(".did")) done.remove();
    }
    frame = { ...frame, ...message };
    document.body.classList.toggle("no-picture", !message.picture);
    show("clock", !message.picture);
    $("clock").textContent =
      say("step", { n: message.timestep }) + (message.limit ? ` ${say("of", { n: message.limit })}` : "");
    causes = message.causes ?? [];
    if (message.picture) picture.apply(message.picture, next ? (turns() ? 0.3 : me.tick) : 0);
    if (first) redraw();
    show("names", Boolean(document.querySelector("#board .quiet")));
    walk();
    if (message.text && me?.role !== "seat") show("sight", true); // before the first step there is none
    if (message.text !== undefined) {
      if ($("text").textContent !== message.text) $("text").textContent = message.text;
      showFacts();
    }
    for (const [seat, label] of message.done ?? []) showDone(seat, label);
    for (const each of message.said ?? [])
      if (!shown.has(`${message.timestep}:${each.agent}:${each.say}`)) talk.add(turns() ? each : { ...each, plan: "" });
    shown.clear();
    if (message.timestep === 0) $("said").replaceChildren();
    showAway();
  },
  ask(message) {
    question = message;
    hear(message.inbox ?? []);
    showQuestion();
  },
  wait(message) {
    hear(message.inbox);
    if (!question)
      $("status").textContent = say(message.inbox.length ? "answering" : "thinking", { name: nameOf(message.agent) });
  },
  refused(message) {
    $("refused").textContent = message.message;
    show("refused", true);
    if (question) unlock(true);
    if (message.code === "busy") $("busy").textContent = message.message;
  },
  progress(message) {
    lesson = message;
    showSteps();
  },
  over(message) {
    question = null;
    closePick();
    show("turn", false);
    $("over-title").textContent = words[message.practice ? "practice" : "over"];
    $("outcome").textContent = phrase(message.outcome) || (message.practice ? words.practice_next : "");
    $("again").textContent = words[message.practice ? "onward" : "next"];
    if (message.more) $("rematch-asked").textContent = "";
    show("big", false);
    show("practice", false);
    $("metrics")
      .querySelector("tbody")
      .replaceChildren(
        ...Object.entries(message.metrics).map(([name, value]) => {
          const row = make("tr", "");
          row.append(
            make("th", phrase(name), { scope: "row" }),
            make("td", Number.isInteger(value) ? value : value.toFixed(3)),
          );
          return row;
        }),
      );
    show("metrics", Object.keys(message.metrics).length > 0);
    for (const [id, path] of [
      ["replay", message.replay],
      ["keep-page", message.replay],
      ["keep-gif", message.replay && `${message.replay}.gif`],
    ]) {
      show(id, Boolean(path));
      $(id).href = `${address}/${path}`;
    }
    ending = message;
    showEnding();
    show("onward", Boolean(message.next));
    if (/^(https?:\/\/|\/)/.test(message.next)) $("onward").href = message.next;
    show("over", true);
    $("over").focus({ preventScroll: true });
    $("over").scrollIntoView({ block: "nearest" });
  },
  rematch(message) {
    if (message.link) {
      location.replace(message.link);
      return;
    }
    rematch = message;
    if (me) showRematch();
  },
  par(message) {
    ending = { ...ending, par: message.par };
    showEnding();
  },
  closing(message) {
    final = true;
    notice(message.why || words.closed);
  },
  taken_over() {
    final = true;
    const button = make("button", words.here);
    button.onclick = () => {
      final = false;
      connect();
    };
    notice(words.taken_over, button);
  },
};

function welcome() {
  const own = game(me.game),
    name = own?.name ?? me.game;
  $("title").textContent = me.goal ? `${name}: ${words.practice}` : name;
  $("goal").textContent = me.goal ? (words.goals[me.goal] ?? "") : "";
  show("practice", Boolean(me.goal) && me.role === "seat");
  $("steps").replaceChildren();
  lesson = { steps: [], done: [], at: [] };
  $("skip").disabled = false;
  document.title = name;
  const others = me.names
    .map((each, seat) => [each, seat])
    .filter(([, seat]) => seat !== me.seat)
    .map(([each, seat]) => `${each} (${words.kinds[me.team[seat]] ?? words.partner})`)
    .join(", ");
  const post = me.post ? ` (${phrase(me.post)})` : "";
  $("who").textContent =
    me.role === "seat"
      ? `${say("you_are", { name: nameOf(me.seat) + post })}${others ? `, ${say("beside", { others })}` : ""}`
      : words[me.role === "voice" ? "voice" : "watching"];
  $("how").replaceChildren(...(own?.how ?? []).map((line) => make("p", line)));
  $("manual").textContent = me.manual;
  $("manual").setAttribute("aria-label", words.rules);
  show("rules", Boolean(me.manual));
  show("sight", me.show !== "picture" && me.role === "seat");
  show("text-row", me.show === "both" || me.role !== "seat");
  $("text-on").checked = me.show === "words" || recall("text", false);
  show("in-words", $("text-on").checked);
  if ($("text-on").checked) send({ type: "text", on: true });
  $("sight-title").textContent = words[me.role === "seat" ? "sight" : "last_step"];
  show("chat", !turns() && me.role !== "watcher" && me.talks);
  show("say-row", me.talks);
  show("talk", me.talks || me.role === "watcher");
  show("leave", me.role !== "watcher");
  $("text").setAttribute("aria-live", turns() ? "polite" : "off");
  $("planning").open = me.menu !== "legal";
  makePad();
}

// The card before the first step: the goal, with whom, for how long, and how to act.
function showStart() {
  const own = game(me.game),
    long =
      me.limit &&
      (turns()
        ? fill(own?.limit ?? words.steps_long, { n: me.limit })
        : say("seconds_long", { n: Math.round(me.limit * me.tick) }));
  $("start-goal").textContent = own?.goal ?? "";
  $("start-aim").textContent = phrase(me.aim);
  const facts = [
    $("who").textContent,
    long,
    ...(own?.how ?? []),
    me.role !== "seat"
      ? ""
      : me.keys.length
        ? touched()
          ? say("press_pad", { act: words.signs.act })
          : keysText()
        : say(me.menu === "none" ? "press_write" : "press_button"),
  ];
  $("start-facts").replaceChildren(...facts.filter(Boolean).map((text) => make("li", text)));
  show("read-rules", Boolean(me.manual));
}
$("read-rules").onclick = () => {
  $("rules").open = true;
  $("rules").scrollIntoView({ block: "start" });
};

// What happened, how good programs are on the same seed, the best so far, and what everybody did.
let ending = {};
function showEnding() {
  const { happened = [], par = [], best = "", did = [] } = ending;
  $("happened").replaceChildren(...happened.map((sentence) => make("li", phrase(sentence))));
  const rows = [
    ...(best ? [[words.your_best, best]] : []),
    ...par.map(([policy, outcome]) => [say("par", { policy }), outcome]),
  ];
  $("par").replaceChildren(...rows.flatMap(([name, outcome]) => [make("dt", name), make("dd", phrase(outcome))]));
  const row = (tag, cells) => {
    const made = make("tr", "");
    made.append(...cells.map((text) => make(tag, text)));
    return made;
  };
  $("did").tHead.replaceChildren(row("th", [words.who, words.acted, words.waited, words.said]));
  $("did").tBodies[0].replaceChildren(...did.map((counts, seat) => row("td", [nameOf(seat), ...counts])));
  show("did", did.length > 0);
}

// What can be played next, who has asked for it, and who has still to answer.
function showRematch() {
  const { offers, wishes, waiting, missing } = rematch,
    names = (seats) => seats.map(nameOf).join(", ");
  const asked = me.role !== "watcher" && wishes.some(([seat]) => seat === me.seat);
  if (asked) $("busy").textContent = "";
  $("rematch-asked").textContent = missing.length
    ? say("not_here_any_more", { names: names(missing) })
    : asked
      ? say("waiting_for", { names: names(waiting) })
      : wishes.map(([seat, how]) => say(`asks_${how}`, { name: nameOf(seat) })).join(" ");
  show("rematch", offers.length > 0);
  for (const button of document.querySelectorAll("[data-rematch]"))
    button.hidden = !offers.includes(button.dataset.rematch);
  showState();
}

function showState() {
  const absent = Object.keys(state.here)
    .filter((agent) => !state.here[agent])
    .map((agent) => (/_\d+$/.test(agent) ? nameOf(Number(agent.split("_")[1])) : agent));
  const mine = me && (me.role === "seat" ? `agent_${me.seat}` : me.role);
  const asked = state.state === "ready" && me && me.role !== "watcher" && !state.ready[mine];
  const started = state.state === "playing" || state.state === "paused";
  const who = { names: absent.join(", ") };
  $("status").textContent =
    state.state === "closed"
      ? $("rematch").hidden || $("over").hidden
        ? words.closed
        : words.may_go_on
      : !me
        ? words.loading
        : absent.length && !absent.every((name) => !name)
          ? say(started ? "cut_off" : "waiting_for", who)
          : asked
            ? $("over").hidden
              ? words.get_ready
              : say("get_next", { button: $("again").textContent })
            : state.state === "ready"
              ? words.waiting_ready
              : ({ playing: words.playing, paused: words.paused, over: words.over }[state.state] ?? words.loading);
  const between = !$("over").hidden;
  show("start", asked && !between);
  show("again", asked && between);
  if (asked && !between) showStart();
  show("pause", !turns() && me?.role === "seat" && started && Object.keys(state.here).length === 1);
  $("pause").textContent = state.state === "paused" ? words.go_on : words.pause;
  // read them before, not while it runs
  if (state.state !== phase) $("rules").open = state.state === "waiting" && Boolean(me);
  const changed = phase !== state.state;
  phase = state.state;
  document.body.classList.toggle("playing", phase === "playing");
  if (phase === "playing") {
    show("over", false);
    show("big", false);
    if (changed && me?.keys.length && !writing()) $("stage").focus({ preventScroll: true });
  }
  if (changed) redraw(); // cards above the board have come or gone
  if (phase === "closed") {
    final = true;
    show("turn", false);
    show("leave", false);
    show("chat", false);
    show("talk", $("said").hasChildNodes());
    show("pad", false);
    show("practice", false);
  }
  if (me && me.episodes > 1)
    document.title = `${game(me.game)?.name ?? me.game}: ${say("episode", { n: state.number, all: me.episodes })}`;
  if (question && phase === "playing") $("status").textContent = $("turn-title").textContent;
  showAway();
}

function showAway() {
  // a partner whose connection is cut off
  for (const card of $("panel").querySelectorAll("[data-seat]")) {
    const away = state?.here[`agent_${card.dataset.seat}`] === false;
    card.classList.toggle("away", away);
    card.querySelector(".cut")?.remove();
    if (away) {
      const line = make("p", words.is_cut_off);
      line.className = "did cut";
      card.querySelector(".lines").append(line);
    }
    const done = dones.get(Number(card.dataset.seat));
    if (done && !card.querySelector(".did:not(.cut)")) {
      const line = make("p", done);
      line.className = "did";
      card.querySelector(".lines").append(line);
    }
  }
}
const dones = new Map();
function showDone(seat, label) {
  dones.set(seat, `${words.last_done}: ${phrase(label)}`);
  for (const line of $("panel").querySelectorAll(`[data-seat="${seat}"] .did:not(.cut)`)) line.remove();
}

function showFacts() {
  const facts = [];
  const told = (text) => frame.text?.includes(text.split("\n")[0]); // many games say it in their text
  if (frame.orders?.length && !frame.orders.every(told))
    facts.push([words.orders, frame.orders.map(phrase).join(", ")]);
  if (frame.recipe && !told(frame.recipe)) facts.push([words.recipe, phrase(frame.recipe)]);
  if (question?.plan?.length) facts.push([words.plan_left, question.plan.map(phrase).join("; ")]);
  (question?.announced ?? []).forEach((plan, seat) => {
    if (plan.length) facts.push([say("announced", { name: nameOf(seat) }), plan.map(phrase).join("; ")]);
  });
  $("known-recipe").textContent = (frame.recipe ?? "").split("\n").map(phrase).join("\n");
  $("known-supplies").textContent = me?.supplies.length
    ? say("supplies", { things: me.supplies.map(phrase).join(", ") })
    : "";
  show("known", me?.show !== "picture" && Boolean(frame.recipe || me?.supplies.length));
  $("facts").replaceChildren(...facts.flatMap(([name, text]) => [make("dt", name), make("dd", text)]));
}
$("text-on").onchange = () => {
  const on = $("text-on").checked;
  remember("text", on);
  show("in-words", on);
  send({ type: "text", on });
};

// ------------------------------------------------------------------------------------------- talk

const shown = new Set();
function hear(inbox) {
  for (const message of inbox) {
    const key = `${(question?.timestep ?? frame?.timestep ?? 0) + 1}:${message.agent}:${message.say}`;
    if (!shown.has(key)) {
      shown.add(key);
      talk.add(message);
    }
  }
}
$("chat").onsubmit = (event) => {
  event.preventDefault();
  const text = $("chat-words").value.trim();
  if (text) send({ type: "say", say: text });
  $("chat-words").value = "";
  $("stage").focus({ preventScroll: true });
};

// ------------------------------------------------------------------------------------------- a turn

let draftOf = -1;
// A plan stands on the page as people read it; what is written otherwise goes to the game as it is.
const entries = new Map();
function inWords(entry) {
  const text = phrase(entry);
  if (!entries.has(text)) entries.set(text, entry);
  return entries.get(text) === entry ? text : entry;
}
const entriesOf = (plan) =>
  plan
    .split(";")
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => entries.get(part) ?? part);
// What teammates can be asked for now, where somebody reads it.
const requests = () => (me.talks ? (question?.requests ?? {}) : {});
const teammate = () => (me.names.length === 2 ? nameOf(1 - me.seat) : words.teammates);
const draft = () => `${address}:${question.turn}`;
function showQuestion() {
  $("planning").after($("refused")); // which may stand at an action of the question before
  const { kind, error, attempt, earlier, feedback } = question;
  $("turn-title").textContent =
    words[
      kind === "act"
        ? "your_turn"
        : kind === "reply"
          ? "their_words"
          : question.actions.length
            ? "order_turn"
            : "voice_turn"
    ];
  $("status").textContent = $("turn-title").textContent;
  $("attempt").textContent = error ? say("refused_by_game", { action: phrase(attempt), why: error[1] }) : "";
  show("attempt", Boolean(error));
  const told = [
    feedback,
    earlier?.length
      ? `${words.earlier}: ${earlier.map(([seat, text]) => `${nameOf(seat)}: ${phrase(text)}`).join(", ")}`
      : "",
  ].filter(Boolean);
  $("told").textContent = told.join(" ");
  show("told", told.length > 0);
  show("refused", false);
  // asked anew while writing
  const same = question.timestep === draftOf && writing() ? { plan: $("plan").value, say: $("say").value } : {};
  const saved = JSON.parse(sessionStorage.getItem(draft()) ?? "null") ?? same;
  draftOf = question.timestep;
  $("plan").value = saved.plan ?? "";
  $("say").value = saved.say ?? "";
  $("filter").value = "";
  const acts = kind !== "voice" || question.actions.length > 0; // a voice may order where the game takes orders
  for (const entry of [...question.actions, ...question.legal, ...Object.values(requests())]) inWords(entry);
  show("menu", question.actions.length > 0);
  $("menu").disabled = kind === "reply";
  show("planning", acts);
  if ($("plan").value) $("planning").open = true;
  show("done", kind === "reply");
  showFacts();
  showActions();
  showPlan();
  show("turn", true);
  unlock(true);
  markCells();
  if (going) goOn();
  const first = $("menu").hidden
    ? kind === "act"
      ? $("plan")
      : $("say")
    : kind === "act"
      ? $("actions").querySelector("button:not([aria-disabled=true])")
      : $("say");
  const active = document.activeElement;
  if (!active || active === document.body || ($("turn").contains(active) && !writing()))
    first?.focus({ preventScroll: true });
}
// An action is taken as soon as it is chosen, but for those who plan several steps. One button sends the rest: what is
// planned, what is said, or that nothing is done.
function showPlan() {
  if (!question) return;
  const { kind } = question,
    plan = $("plan").value.trim(),
    text = $("say").value.trim();
  const name =
    kind === "act"
      ? plan
        ? "send"
        : text
          ? "say_and_wait"
          : "wait_for"
      : plan || text
        ? kind === "reply"
          ? "reply"
          : "send"
        : "silent";
  $("send").textContent = words[name];
  show("send", name !== "wait_for" || $("wait-row").hidden);
}
function unlock(on) {
  for (const element of $("answer").querySelectorAll("button, input, textarea")) element.disabled = !on;
  if (!on) closePick();
  document.body.classList.toggle("picking", on && clickable());
}
const clickable = () => Boolean(question) && question.kind === "act" && question.legal.length > 0;
function showActions() {
  const wanted = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const waits = question.waits?.[1] ? question.waits : [];
  const offered = [
    ...question.actions.filter((text) => !waits.includes(text) && text !== question.idle),
    ...Object.values(requests()),
  ];
  const legal = new Set([...question.legal, ...Object.values(requests())]);
  const found = offered.filter((text) =>
    wanted.every((word) => `${text} ${phrase(text)}`.toLowerCase().includes(word)),
  );
  show("filter-row", offered.length > 12);
  $("wait-for").max = waits.length;
  show("wait-row", waits.length > 0);
  $("actions").replaceChildren(
    ...found.slice(0, MOST_ACTIONS).map((text, i) => {
      const item = make("li", ""),
        asked = askedIn(text),
        button = actionButton(text, asked ? say("ask", { name: teammate(), action: phrase(asked) }) : phrase(text));
      if (i < 9) button.prepend(make("kbd", `${i + 1}`, { "aria-hidden": "true" }));
      if (!legal.has(text)) button.setAttribute("aria-disabled", "true");
      item.append(button);
      return item;
    }),
  );
  $("more-actions").textContent = offered.length
    ? say("more_actions", { n: found.length - MOST_ACTIONS })
    : words.only_wait;
  show("more-actions", found.length > MOST_ACTIONS || !offered.length);
}
const askedIn = (entry) => Object.keys(requests()).find((action) => requests()[action] === entry);
function actionButton(entry, text) {
  const button = make("button", text, { type: "button" });
  button.dataset.action = entry;
  return button;
}
function choose(entry) {
  const alone = !$("planning").open && (question.kind === "act" || Object.values(requests()).includes(entry));
  $("plan").value = [$("plan").value.trim().replace(/;$/, ""), inWords(entry)].filter(Boolean).join("; ");
  keepDraft();
  if (alone) {
    answer($("plan").value);
    return;
  }
  $("planning").open = true;
  showPlan();
}
function answer(plan, words_ = $("say").value, last = false) {
  if (!question || $("send").disabled) return;
  const { kind, turn } = question,
    steps = entriesOf(plan);
  const asked = Object.entries(requests())
    .filter(([, entry]) => steps.includes(entry))
    .map(([action]) => phrase(action));
  // nobody hears a plan without a message
  const text = words_.trim() || (asked.length ? say("please", { actions: asked.join("; ") }) : "");
  show("refused", false);
  send({
    type: kind === "act" ? "act" : "reply",
    turn,
    plan: steps.join("; "),
    say: text,
    ...(kind === "act" ? {} : { last }),
  });
  unlock(false);
  $("status").textContent = words.sent;
}
const keepDraft = () =>
  question && sessionStorage.setItem(draft(), JSON.stringify({ plan: $("plan").value, say: $("say").value }));
$("answer").oninput = () => {
  keepDraft();
  showPlan();
};
$("answer").onsubmit = (event) => {
  event.preventDefault();
  answer($("plan").value);
};
$("filter").oninput = showActions;
$("planning").ontoggle = () => {
  if (!$("planning").open) {
    $("plan").value = "";
    if (question) keepDraft();
  }
  showPlan();
};
$("filter").onkeydown = (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    $("actions").querySelector("button")?.click();
  }
};
$("plan").onkeydown = (event) => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    answer($("plan").value);
  }
};
$("actions").onclick = (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.getAttribute("aria-disabled") !== "true") {
    choose(button.dataset.action);
    return;
  }
  $("refused").textContent = question.blocked[button.dataset.action] ?? words.nothing_here;
  show("refused", true);
  button.after($("refused"));
};
$("wait-go").onclick = () =>
  choose(question.waits[Math.min(question.waits.length, Math.max(1, Number($("wait-for").value) || 1)) - 1]);
$("wait-for").onkeydown = (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    $("wait-go").click();
  }
};
$("undo").onclick = () => {
  $("plan").value = $("plan").value.split(";").slice(0, -1).join(";").trim();
  keepDraft();
  showPlan();
};
$("done").onclick = () => answer($("plan").value, $("say").value, true);
addEventListener("keydown", (event) => {
  // number keys, but not while somebody writes
  if (!question || $("turn").hidden || writing() || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape" && !$("pick").hidden) {
    closePick();
    $("stage").focus({ preventScroll: true });
  }
  if (!/^[1-9]$/.test(event.key)) return;
  const from = $("pick").hidden ? $("actions") : $("pick");
  from.querySelectorAll("button")[Number(event.key) - 1]?.click();
});

let lesson = { steps: [], done: [], at: [] }; // of practice: where the next step is taken is marked
// ------------------------------------------------------------------------------------------- clicks on the picture

const named = (action, target) =>
  new RegExp(`(^|[^a-z0-9])${target.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}($|[),;(])`, "i").test(action);
const isAt = (cell) => (action) => (cell?.t ?? []).some((target) => named(action, target));
// What a seat can do at a place, or else what it can ask a teammate to do there.
function actionsAt(cell) {
  const own = clickable() ? question.legal.filter(isAt(cell)) : [];
  return own.length ? own : Object.values(requests()).filter(isAt(cell));
}
function markCells() {
  picture.mark("can", (cell) => actionsAt(cell).length > 0 || (turns() && Boolean(route(cell)?.length)));
  // all places of the next step until this seat is to act, then those where it can do something
  const idle = phase !== "playing" || (turns() && (!question || $("send").disabled));
  const usable = (cell) => idle || actionsAt(cell).length > 0 || Boolean(route(cell, true)?.length);
  picture.mark("aim", (cell, key) => lesson.at.includes(key) && usable(cell));
}

// The keys that walk to a cell; a station is used from beside it. Teammates block the way unless they may step aside.
function route(cell, aside = false) {
  const own = picture.values.get(`a:${me.seat}`),
    keys = me.keys.length ? me.keys : Object.keys(me.moves);
  if (!cell || !own || !keys.length) return null;
  const taken = new Set(
    [...picture.values]
      .filter(([key]) => !aside && key.startsWith("a:") && key !== `a:${me.seat}`)
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
function walk() {
  if (!goal || phase !== "playing") return;
  const path = route(picture.cellAt(goal.x, goal.y));
  if (!path?.length) {
    goal = null;
    return;
  }
  send({ type: "tap", key: path[0] });
  if (STEPS[path[0]]) picture.foresee(MOVES[path[0]], STEPS[path[0]], me.tick, 2 * me.tick + 0.3);
  if (path.length === 1) goal = null;
}
// In turns a click on a place that is still to be reached goes on there: by the only thing to do, or by a choice.
function goOn() {
  const cell = going && picture.cellAt(going.x, going.y);
  going = null;
  const actions = question.legal.filter(isAt(cell)).filter((action) => !question.walks.includes(action));
  if (question.error || question.inbox?.length || !actions.length) return;
  if (actions.length === 1) choose(actions[0]);
  else {
    const box = $("board").getBoundingClientRect();
    openPick(cell, actions, box.left + (cell.x + 0.5) * picture.tile, box.top + (cell.y + 0.5) * picture.tile);
  }
}
function closePick() {
  show("pick", false);
  show("why", false);
}
function placeAt(id, x, y) {
  const box = $("frame").getBoundingClientRect();
  $(id).style.left = `${Math.max(4, Math.min(x - box.left, box.width - $(id).offsetWidth - 4))}px`;
  $(id).style.top = `${Math.max(4, Math.min(y - box.top, box.height - Math.min($(id).offsetHeight, 120)))}px`;
}
// Why nothing can be done at a place: reasons of the game for what would be done there, or who can do it instead.
function refuse(cell, x, y) {
  const at = isAt(cell),
    reasons = [
      ...new Set(
        Object.entries(question?.blocked ?? {})
          .filter(([action]) => at(action))
          .map(([, reason]) => reason),
      ),
    ];
  $("why").textContent =
    !question || $("send").disabled ? $("status").textContent : reasons.slice(0, 2).join(" ") || words.nothing_here;
  showWhy(x, y);
}
function showWhy(x, y) {
  show("why", true);
  placeAt("why", x, y);
  clearTimeout(whyTimer);
  whyTimer = setTimeout(() => show("why", false), 4000); // it covers the board
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
  if (!turns() && me?.role === "seat" && cell) {
    goal = { x: cell.x, y: cell.y };
    if (!route(cell)) {
      $("why").textContent = words.no_way;
      showWhy(x, y);
    }
    walk();
    return;
  }
  if (me?.role !== "seat" || !cell || (question && !clickable() && !actions.length)) return;
  if (!question || $("send").disabled) {
    refuse(cell, x, y);
    return;
  }
  if (!actions.length) {
    const path = route(cell);
    if (path?.length) answer(path.map((key) => me.moves[key]).join("; "));
    else refuse(cell, x, y);
    return;
  }
  going = actions.every((action) => question.walks.includes(action)) ? { x: cell.x, y: cell.y } : null;
  if (actions.length === 1 && !$("planning").open && question.legal.includes(actions[0])) choose(actions[0]);
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
  const from = picture.values.get(pointed) ?? picture.values.get(`a:${me.seat}`) ?? { x: 0, y: 0 };
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

// ------------------------------------------------------------------------------------------- keys and touch

const FIELD = "input:not([type=checkbox]), textarea, select, [contenteditable]";
const writing = () => document.activeElement?.matches?.(FIELD) ?? false;
const keyOf = (event) => (event.key.length === 1 ? event.key.toLowerCase() : event.key); // Caps Lock changes nothing
const ownKeys = () => recall("keys", {});
const label = (key) => words.key_names[key] ?? key.toUpperCase();
const keysFor = (action) => {
  const own = ownKeys();
  return [
    ...Object.keys(own).filter((key) => own[key] === action),
    ...Object.keys(KEYS).filter((key) => KEYS[key] === action && !(key in own)),
  ];
};
const keysText = () =>
  say("hint_keys", {
    keys: me.keys
      .map((action) => `${words.actions[action]}: ${keysFor(action).map(label).join(` ${words.or} `)}`)
      .join(", "),
  });
const actionOf = (event) => ownKeys()[keyOf(event)] ?? KEYS[keyOf(event)];
function press(action, on) {
  if (!me?.keys.includes(action) || down.has(action) === on) return;
  goal = null;
  if (on) down.add(action);
  else down.delete(action);
  $("pad").querySelector(`[data-key=${action}]`)?.classList.toggle("on", on);
  send({ type: "key", key: action, down: on });
  if (on && STEPS[action] && !turns() && phase === "playing")
    picture.foresee(MOVES[action], STEPS[action], me.tick, 2 * me.tick + 0.3);
}
function makePad() {
  const keyed = me.keys.length > 0;
  show("pad", keyed);
  show("key-details", keyed);
  $("stage").setAttribute("aria-label", keyed ? keysText() : words.kitchen);
  $("keys-hint").textContent = keyed ? keysText() : turns() && me.role === "seat" ? words.hint_click : "";
  if (!keyed) return;
  $("stage").setAttribute("role", "application");
  $("pad").replaceChildren(
    ...me.keys.map((action) =>
      make("button", words.signs[action], { "data-key": action, "aria-label": words.actions[action], type: "button" }),
    ),
  );
  $("key-list").replaceChildren(
    ...me.keys.map((action) => {
      const item = make("li", `${words.actions[action]}: `),
        button = make("button", keysFor(action).map(label).join(` ${words.or} `), { type: "button" });
      button.onclick = () => {
        button.textContent = words.press_key;
        addEventListener(
          "keydown",
          (event) => {
            event.preventDefault();
            event.stopImmediatePropagation();
            if (event.key.length === 1 || event.key.startsWith("Arrow"))
              remember("keys", { ...ownKeys(), [keyOf(event)]: action });
            makePad();
          },
          { once: true, capture: true },
        );
      };
      item.append(button);
      return item;
    }),
  );
}
$("keys-reset").onclick = () => {
  localStorage.removeItem("keys");
  makePad();
};
// Keys play wherever the focus is, but for fields in which somebody writes; Enter and Space still press a focused
// button.
addEventListener("keydown", (event) => {
  if (
    !me?.keys.length ||
    phase !== "playing" ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    event.defaultPrevented
  )
    return;
  const action = actionOf(event),
    onButton = document.activeElement?.matches?.("button, summary, a, input[type=checkbox]");
  if (!action || writing() || (onButton && (event.key === " " || event.key === "Enter"))) return;
  event.preventDefault();
  if (!event.repeat) press(action, true);
});
addEventListener("keyup", (event) => {
  const action = actionOf(event);
  if (action) press(action, false);
});
addEventListener("focusin", () => {
  // the page says when keys cannot play
  if (!me?.keys.length) return;
  if (writing()) {
    down.clear();
    send({ type: "blur" });
  }
  $("keys-hint").textContent = writing() ? words.keys_off : keysText();
});
addEventListener("focusout", () => {
  if (me?.keys.length)
    setTimeout(() => {
      $("keys-hint").textContent = writing() ? words.keys_off : document.hasFocus() ? keysText() : words.keys_away;
    });
});
for (const id of ["chat-words"])
  $(id).addEventListener("keydown", (event) => {
    if (event.key === "Escape") $("stage").focus({ preventScroll: true });
  });
$("pad").onpointerdown = (event) => {
  const key = event.target.dataset.key;
  if (key) {
    event.preventDefault();
    event.target.setPointerCapture?.(event.pointerId);
    press(key, true);
  }
};
for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
  $("pad").addEventListener(name, (event) => {
    if (event.target.dataset.key) press(event.target.dataset.key, false);
  });
addEventListener("blur", () => {
  down.clear();
  send({ type: "blur" });
  sendWindow(true);
  if (me?.keys.length) $("keys-hint").textContent = words.keys_away;
});
addEventListener("focus", () => {
  if (me?.keys.length) $("keys-hint").textContent = keysText();
});

// ------------------------------------------------------------------------------------------- the rest

function showSteps() {
  const { steps, done } = lesson;
  markCells();
  const next = steps.find((step) => !done.includes(step));
  $("steps").replaceChildren(
    ...steps.map((step) => {
      const item = make("li", words.lessons[step] ?? step);
      if (done.includes(step)) item.className = "ok";
      else if (step === next) item.className = "next";
      return item;
    }),
  );
  $("goal").textContent = next ? (words.lessons[next] ?? "") : words.practice_done;
}
for (const button of [$("ready"), $("again")])
  button.onclick = () => {
    if (me?.fullscreen && !document.fullscreenElement) document.documentElement.requestFullscreen?.().catch(() => {});
    send({ type: "ready" });
    button.hidden = true;
  };
for (const button of document.querySelectorAll("[data-rematch]"))
  button.onclick = () => {
    send({ type: "rematch", how: button.dataset.rematch });
  };
$("skip").onclick = () => {
  send({ type: "skip" });
  $("skip").disabled = true;
  lesson.at = [];
  markCells();
  $("goal").textContent = words.skipped;
};
$("pause").onclick = () => send({ type: "pause", on: state.state !== "paused" });
$("leave").onclick = () => {
  if (confirm(words.leave_sure)) send({ type: "leave" });
};
$("language").append(
  ...Object.entries(LANGUAGES).map(([code, name]) => make("option", name, { value: code, lang: code })),
);
$("language").value = language();
$("language").onchange = async () => {
  keep($("language").value);
  words = await load($("language").value);
  if (!me) return;
  welcome();
  if (state) showState();
  if (rematch) showRematch();
  if (question && !$("turn").hidden) showQuestion();
};
$("sound").checked = recall("sound", false);
$("sound").onchange = () => {
  remember("sound", $("sound").checked);
  sound("message");
};
connect();
