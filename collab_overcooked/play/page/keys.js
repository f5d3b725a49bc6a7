// Keys and the pad of phones, in games that run in real time.

import { picture, stopWalking } from "/page/board.js";
import { send, sendWindow } from "/page/connection.js";
import { words } from "/page/language.js";
import { $, KEYS, MOVES, make, now, recall, remember, STEPS, say, show, turns } from "/page/page.js";

const down = new Set();
export function release() {
  down.clear();
  for (const button of $("pad").querySelectorAll(".on")) button.classList.remove("on");
}
const FIELD = "input:not([type=checkbox]), textarea, select, [contenteditable]";
export const writing = () => document.activeElement?.matches?.(FIELD) ?? false;
const keyOf = (event) => (event.key.length === 1 ? event.key.toLowerCase() : event.key); // Caps Lock changes nothing
const ownKeys = () => recall("keys", {});
export const label = (key) => words.key_names[key] ?? key.toUpperCase();
const keysFor = (action) => {
  const own = ownKeys();
  return [
    ...Object.keys(own).filter((key) => own[key] === action),
    ...Object.keys(KEYS).filter((key) => KEYS[key] === action && !(key in own)),
  ];
};
export const keysText = () =>
  say("hint_keys", {
    keys: now.me.keys
      .map((action) => `${words.actions[action]}: ${keysFor(action).map(label).join(` ${words.or} `)}`)
      .join(", "),
  });
const actionOf = (event) => ownKeys()[keyOf(event)] ?? KEYS[keyOf(event)];

export function press(action, on) {
  if (!now.me?.keys.includes(action) || down.has(action) === on) return;
  stopWalking();
  if (on) down.add(action);
  else down.delete(action);
  $("pad").querySelector(`[data-key=${action}]`)?.classList.toggle("on", on);
  send({ type: "key", key: action, down: on });
  if (on && STEPS[action] && !turns() && now.phase === "playing")
    picture.foresee(MOVES[action], STEPS[action], now.me.tick, 2 * now.me.tick + 0.3);
}

export function makePad() {
  const keyed = now.me.keys.length > 0;
  show("pad", keyed);
  show("key-details", keyed);
  $("stage").setAttribute("aria-label", keyed ? keysText() : words.kitchen);
  $("keys-hint").textContent = keyed ? keysText() : turns() && now.me.role === "seat" ? words.hint_click : "";
  if (!keyed) return;
  $("stage").setAttribute("role", "application");
  $("pad").replaceChildren(
    ...now.me.keys.map((action) =>
      make("button", words.signs[action], { "data-key": action, "aria-label": words.actions[action], type: "button" }),
    ),
  );
  $("key-list").replaceChildren(
    ...now.me.keys.map((action) => {
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
    !now.me?.keys.length ||
    now.phase !== "playing" ||
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
  if (!now.me?.keys.length) return;
  if (writing()) {
    down.clear();
    send({ type: "blur" });
  }
  $("keys-hint").textContent = writing() ? words.keys_off : keysText();
});
addEventListener("focusout", () => {
  if (now.me?.keys.length)
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
  if (now.me?.keys.length) $("keys-hint").textContent = words.keys_away;
});
addEventListener("focus", () => {
  if (now.me?.keys.length) $("keys-hint").textContent = keysText();
});
