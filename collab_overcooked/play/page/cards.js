// The cards around the picture: the start, the partners, what is known, practice, and the end of a round.

import { markCells, redraw } from "/page/board.js";
import { send } from "/page/connection.js";
import { keysText, makePad, writing } from "/page/keys.js";
import { fill, game, language, phrase, words } from "/page/language.js";
import { $, make, nameOf, now, recall, remember, say, show, touched, turns } from "/page/page.js";

const MOST = 1000; // characters of a message

export function welcome() {
  const own = game(now.me.game),
    name = own?.name ?? now.me.game;
  $("title").textContent = now.me.goal ? `${name}: ${words.practice}` : name;
  $("goal").textContent = now.me.goal ? (words.goals[now.me.goal] ?? "") : "";
  show("practice", Boolean(now.me.goal) && now.me.role === "seat");
  $("steps").replaceChildren();
  now.tutorial = { steps: [], done: [], at: [] };
  $("skip").disabled = false;
  document.title = name;
  const others = now.me.names
    .map((each, seat) => [each, seat])
    .filter(([, seat]) => seat !== now.me.seat)
    .map(([each, seat]) => `${each} (${words.kinds[now.me.team[seat]] ?? words.partner})`)
    .join(", ");
  const post = now.me.post ? ` (${phrase(now.me.post)})` : "";
  $("who").textContent =
    now.me.role === "seat"
      ? `${say("you_are", { name: nameOf(now.me.seat) + post })}${others ? `, ${say("beside", { others })}` : ""}`
      : words[now.me.role === "voice" ? "voice" : "watching"];
  $("how").replaceChildren(...[...(own?.how ?? []), howToAct()].filter(Boolean).map((line) => make("p", line)));
  const written = now.me.show === "words" || now.me.menu === "none"; // then rules name things as texts of the game do
  const lines = now.me.manual.replace(/\n(?=[a-z])/g, " ").split("\n"); // a sentence is broken by the width of the page
  $("manual").textContent = written ? now.me.manual : lines.map(phrase).join("\n");
  $("manual").setAttribute("aria-label", words.rules);
  show("rules", Boolean(now.me.manual));
  show("sight", now.me.show !== "picture" && now.me.role === "seat");
  show("text-row", now.me.show === "both" || now.me.role !== "seat");
  $("text-on").checked = now.me.show === "words" || recall("text", false);
  show("in-words", $("text-on").checked);
  if ($("text-on").checked) send({ type: "text", on: true });
  $("sight-title").textContent = words[now.me.role === "seat" ? "sight" : "last_step"];
  show("chat", !turns() && now.me.role !== "watcher" && now.me.talks);
  show("say-row", now.me.talks);
  showMessageRules();
  show("talk", now.me.talks || now.me.role === "watcher");
  show("leave", now.me.role !== "watcher");
  $("text").setAttribute("aria-live", turns() ? "polite" : "off");
  if (now.me.menu !== "legal") $("planning").open = true; // what is planned stays when the connection is made again
  makePad();
}

// What holds for messages: their length, who hears them, when, and whether some are lost. left: the characters that
// the seat may still write in this episode.
export function showMessageRules(left) {
  const tell = ([name, values]) => {
    const n = name === "chars_left" ? (left ?? values.n) : values.n;
    return fill(words.message_rules[name], { n: n?.toLocaleString(language()), names: values.names?.join(", ") });
  };
  const text = now.me.message_rules.map(tell).join(" ");
  if ($("message-rules").textContent !== text) $("message-rules").textContent = text;
  show("message-rules", Boolean(text));
  for (const id of ["say", "chat-words"]) $(id).maxLength = Math.min(now.me.max_chars ?? MOST, left ?? MOST, MOST);
}

const howToAct = () =>
  now.me.role !== "seat"
    ? ""
    : now.me.keys.length
      ? touched()
        ? say("press_pad", { act: words.signs.act })
        : keysText()
      : say(now.me.menu === "none" ? "press_write" : "press_button");

// The card before the first step, which can be opened again: the goal, with whom, for how long, how to act, and
// practice for those who are new.
let asksReady = false;
function showStart() {
  const played = ["playing", "paused"].includes(now.state.state) && now.me?.role === "seat",
    opened = $("goal-open").getAttribute("aria-expanded") === "true";
  show("goal-open", played);
  show("start", asksReady || (played && opened));
  if ($("start").hidden) return;
  show("ready", asksReady);
  const own = game(now.me.game),
    long =
      now.me.limit &&
      (turns()
        ? fill(own?.limit ?? words.steps_long, { n: now.me.limit })
        : say("seconds_long", { n: Math.round(now.me.limit * now.me.tick) }));
  $("start-goal").textContent = own?.goal ?? "";
  $("start-objective").textContent = phrase(now.me.objective);
  const facts = [$("who").textContent, long, ...(own?.how ?? []), howToAct()];
  $("start-facts").replaceChildren(...facts.filter(Boolean).map((text) => make("li", text)));
  show("read-rules", Boolean(now.me.manual));
  const offered = asksReady && now.me.offers_practice && !recall("offered", {})[now.me.game];
  for (const id of ["new-here", "practise-first"]) show(id, offered);
}

$("goal-open").onclick = () => {
  const open = $("start").hidden;
  $("goal-open").setAttribute("aria-expanded", open);
  showStart();
  redraw();
  if (open) $("start").scrollIntoView({ block: "nearest" });
};

$("read-rules").onclick = () => {
  $("rules").open = true;
  $("rules").scrollIntoView({ block: "start" });
};

export function showEnding() {
  const { happened = [], par = "", best = "", did = [] } = now.ending;
  $("happened").replaceChildren(...happened.map((sentence) => make("li", phrase(sentence))));
  const rows = [...(best ? [[words.your_best, best]] : []), ...(par ? [[words.par, par]] : [])];
  $("par").replaceChildren(...rows.flatMap(([name, outcome]) => [make("dt", name), make("dd", phrase(outcome))]));
  const row = (tag, cells) => {
    const made = make("tr", "");
    made.append(...cells.map((text) => make(tag, text)));
    return made;
  };
  const columns = [words.acted, words.waited, ...(now.me.talks ? [words.said] : [])];
  $("did").tHead.replaceChildren(row("th", [words.who, ...columns]));
  $("did").tBodies[0].replaceChildren(
    ...did.map((counts, seat) => row("td", [nameOf(seat), ...counts.slice(0, columns.length)])),
  );
  show("did", did.length > 0);
}

// What can be played next, who has asked for it, and who has still to answer.
export function showRematch() {
  const { offers, wishes, waiting, missing } = now.rematch,
    names = (seats) => seats.map(nameOf).join(", ");
  const asked = now.me.role !== "watcher" && wishes.some(([seat]) => seat === now.me.seat);
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

export function showState() {
  const started = now.state.state === "playing" || now.state.state === "paused";
  const absent = Object.keys(now.state.here)
    .filter((agent) => !now.state.here[agent] && (started || !now.state.lost.includes(agent))) // nobody waits for them
    .map((agent) => (/_\d+$/.test(agent) ? nameOf(Number(agent.split("_")[1])) : agent));
  const mine = now.me && (now.me.role === "seat" ? `agent_${now.me.seat}` : now.me.role);
  const asked = now.state.state === "ready" && now.me && now.me.role !== "watcher" && !now.state.ready[mine];
  const who = { names: absent.join(", ") };
  $("status").textContent =
    now.state.state === "closed"
      ? $("rematch").hidden || $("over").hidden
        ? words.closed
        : words.may_go_on
      : !now.me
        ? words.loading
        : absent.length && !absent.every((name) => !name)
          ? say(started ? "cut_off" : "waiting_for", who)
          : asked
            ? $("over").hidden
              ? words.get_ready
              : say("get_next", { button: $("again").textContent })
            : now.state.state === "ready"
              ? words.waiting_ready
              : ({ playing: words.playing, paused: words.paused, over: words.over }[now.state.state] ?? words.loading);
  const between = !$("over").hidden,
    before = $("start").hidden;
  asksReady = asked && !between;
  show("again", asked && between);
  showStart();
  show("pause", !turns() && now.me?.role === "seat" && started && Object.keys(now.state.here).length === 1);
  $("pause").textContent = now.state.state === "paused" ? words.go_on : words.pause;
  // read them before, not while it runs
  if (now.state.state !== now.phase) $("rules").open = now.state.state === "waiting" && Boolean(now.me);
  const changed = now.phase !== now.state.state;
  now.phase = now.state.state;
  document.body.classList.toggle("playing", now.phase === "playing");
  if (now.phase === "playing") {
    show("over", false);
    show("big", false);
    if (changed && now.me?.keys.length && !writing()) $("stage").focus({ preventScroll: true });
  }
  if (changed || before !== $("start").hidden) redraw(); // cards above the board have come or gone
  if (now.phase === "closed") {
    now.final = true;
    show("turn", false);
    show("leave", false);
    show("chat", false);
    show("talk", $("said").hasChildNodes());
    show("pad", false);
    show("practice", false);
  }
  if (now.me && now.me.episodes > 1)
    document.title = `${game(now.me.game)?.name ?? now.me.game}: ${say("episode", { n: now.state.number, all: now.me.episodes })}`;
  if (now.question && now.phase === "playing") $("status").textContent = $("turn-title").textContent;
  showAway();
}

export function showAway() {
  // a partner whose connection is cut off
  for (const card of $("panel").querySelectorAll("[data-seat]")) {
    const away = now.state?.here[`agent_${card.dataset.seat}`] === false;
    card.classList.toggle("away", away);
    card.querySelector(".cut")?.remove();
    if (away) {
      const lost = now.state.lost.includes(`agent_${card.dataset.seat}`);
      const line = make("p", words[lost ? "is_lost" : "is_cut_off"]);
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

const dones = new Map(); // what each seat did last in this round

export function forgetDone() {
  dones.clear();
  for (const line of document.querySelectorAll(".did")) line.remove();
}

export function showDone(seat, label) {
  dones.set(seat, `${words.last_done}: ${phrase(label)}`);
  for (const line of $("panel").querySelectorAll(`[data-seat="${seat}"] .did:not(.cut)`)) line.remove();
}

export function showFacts() {
  const facts = [];
  const told = (text) => now.frame.text?.includes(text.split("\n")[0]); // many games say it in their text
  if (now.frame.orders?.length && !now.frame.orders.every(told))
    facts.push([words.orders, now.frame.orders.map(phrase).join(", ")]);
  if (now.frame.recipe && !told(now.frame.recipe)) facts.push([words.recipe, phrase(now.frame.recipe)]);
  if (now.question?.plan?.length) facts.push([words.plan_left, now.question.plan.map(phrase).join("; ")]);
  (now.question?.announced ?? []).forEach((plan, seat) => {
    if (plan.length) facts.push([say("announced", { name: nameOf(seat) }), plan.map(phrase).join("; ")]);
  });
  $("known-recipe").textContent = (now.frame.recipe ?? "").split("\n").map(phrase).join("\n");
  $("known-supplies").textContent = now.me?.supplies.length
    ? say("supplies", { things: now.me.supplies.map(phrase).join(", ") })
    : "";
  show("known", now.me?.show !== "picture" && Boolean(now.frame.recipe || now.me?.supplies.length));
  $("facts").replaceChildren(...facts.flatMap(([name, text]) => [make("dt", name), make("dd", text)]));
}

$("text-on").onchange = () => {
  const on = $("text-on").checked;
  remember("text", on);
  show("in-words", on);
  send({ type: "text", on });
};

export function showSteps() {
  const { steps, done } = now.tutorial;
  markCells();
  const next = steps.find((step) => !done.includes(step));
  $("steps").replaceChildren(
    ...steps.map((step) => {
      const item = make("li", words.tutorials[step] ?? step);
      if (done.includes(step)) item.className = "ok";
      else if (step === next) item.className = "next";
      return item;
    }),
  );
  $("goal").textContent = next ? (words.tutorials[next] ?? "") : words.practice_done;
}
