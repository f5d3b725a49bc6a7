// A turn: what can be done and asked for, plans, messages, and the answer to the server.

import { closePick, goOn, markCells, placesOf } from "/page/board.js";
import { showFacts, showMessageRules } from "/page/cards.js";
import { send } from "/page/connection.js";
import { writing } from "/page/keys.js";
import { phrase, words } from "/page/language.js";
import { noteAnswer } from "/page/news.js";
import { $, address, make, nameOf, now, say, show } from "/page/page.js";

export const MOST_ACTIONS = 60;
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
export const requests = () => (now.me.talks ? (now.question?.requests ?? {}) : {});
export const teammate = () => (now.me.names.length === 2 ? nameOf(1 - now.me.seat) : words.teammates);
// Nothing is asked: what was asked in the round before is over.
export function forgetTurn() {
  draftOf = -1;
  document.body.classList.remove("picking");
  for (const id of ["attempt", "told", "refused"]) show(id, false);
  for (const id of ["plan", "say", "filter"]) $(id).value = "";
}

const draft = () => `${address}:${now.question.turn}`;

export function showQuestion() {
  $("planning").after($("refused")); // which may stand at an action of the question before
  const { kind, error, attempt, earlier, feedback } = now.question;
  $("turn-title").textContent =
    words[
      kind === "act"
        ? "your_turn"
        : kind === "reply"
          ? "their_words"
          : now.question.actions.length
            ? "order_turn"
            : "voice_turn"
    ];
  $("status").textContent = $("turn-title").textContent;
  // who writes actions needs their spelling
  const why = error && (now.me.menu === "none" ? error[1] : phrase(error[1]));
  $("attempt").textContent = error ? say("refused_by_game", { action: phrase(attempt), why }) : "";
  show("attempt", Boolean(error));
  const told = [
    phrase(feedback ?? ""),
    earlier?.length
      ? `${words.earlier}: ${earlier.map(([seat, text]) => `${nameOf(seat)}: ${phrase(text)}`).join(", ")}`
      : "",
  ].filter(Boolean);
  $("told").textContent = told.join(" ");
  show("told", told.length > 0);
  show("refused", false);
  // asked anew while writing
  const same = now.question.timestep === draftOf && writing() ? { plan: $("plan").value, say: $("say").value } : {};
  const saved = JSON.parse(sessionStorage.getItem(draft()) ?? "null") ?? same;
  draftOf = now.question.timestep;
  $("plan").value = saved.plan ?? "";
  $("say").value = saved.say ?? "";
  $("filter").value = "";
  showMessageRules(now.question.chars_left);
  const acts = kind !== "voice" || now.question.actions.length > 0; // a voice may order where the game takes orders
  for (const entry of [...now.question.actions, ...now.question.legal, ...Object.values(requests())]) inWords(entry);
  show("menu", now.question.actions.length > 0);
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
  goOn();
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
  if (!now.question) return;
  const { kind } = now.question,
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

export function unlock(on) {
  for (const element of $("answer").querySelectorAll("button, input, textarea")) element.disabled = !on;
  if (!on) closePick();
  document.body.classList.toggle("picking", on && clickable());
}

export const clickable = () => Boolean(now.question) && now.question.kind === "act" && now.question.legal.length > 0;

// What is done first, then walks, requests, and what only spoils or undoes something; each by its place on the board,
// so that entries stay where they are while the game goes on.
function byPlace(actions) {
  const { walks = [], late = [] } = now.question,
    places = placesOf(actions),
    asked = Object.values(requests());
  const kind = (action) => (late.includes(action) ? 3 : asked.includes(action) ? 2 : walks.includes(action) ? 1 : 0);
  return actions
    .map((action) => [kind(action), places.get(action), action])
    .sort(([kindA, placeA], [kindB, placeB]) => kindA - kindB || placeA - placeB)
    .map(([, , action]) => action);
}

function showActions() {
  const wanted = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const waits = now.question.waits?.[1] ? now.question.waits : [];
  const offered = [
    ...now.question.actions.filter((text) => !waits.includes(text) && text !== now.question.idle),
    ...Object.values(requests()),
  ];
  const legal = new Set([...now.question.legal, ...Object.values(requests())]);
  const found = byPlace(offered).filter((text) =>
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
    : words[now.me.talks ? "only_talk" : "only_wait"];
  show("more-actions", found.length > MOST_ACTIONS || !offered.length);
}

export const askedIn = (entry) => Object.keys(requests()).find((action) => requests()[action] === entry);

export function actionButton(entry, text) {
  const button = make("button", text, { type: "button" });
  button.dataset.action = entry;
  return button;
}

export function choose(entry) {
  const alone = !$("planning").open && (now.question.kind === "act" || Object.values(requests()).includes(entry));
  $("plan").value = [$("plan").value.trim().replace(/;$/, ""), inWords(entry)].filter(Boolean).join("; ");
  keepDraft();
  if (alone) {
    answer($("plan").value);
    return;
  }
  $("planning").open = true;
  showPlan();
}

export function answer(plan, words_ = $("say").value, last = false) {
  if (!now.question || $("send").disabled) return;
  const { kind, turn } = now.question,
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
  noteAnswer();
  $("status").textContent = words.sent;
}

const keepDraft = () =>
  now.question && sessionStorage.setItem(draft(), JSON.stringify({ plan: $("plan").value, say: $("say").value }));
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
    if (now.question) keepDraft();
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
  $("refused").textContent = phrase(now.question.blocked[button.dataset.action] ?? words.nothing_here);
  show("refused", true);
  button.after($("refused"));
};
$("wait-go").onclick = () =>
  choose(now.question.waits[Math.min(now.question.waits.length, Math.max(1, Number($("wait-for").value) || 1)) - 1]);
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
  if (!now.question || $("turn").hidden || writing() || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape" && !$("pick").hidden) {
    closePick();
    $("stage").focus({ preventScroll: true });
  }
  if (!/^[1-9]$/.test(event.key)) return;
  const from = $("pick").hidden ? $("actions") : $("pick");
  from.querySelectorAll("button")[Number(event.key) - 1]?.click();
});
