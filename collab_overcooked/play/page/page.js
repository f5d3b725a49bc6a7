// What the parts of the page of one person share: what the server has said so far, and short ways to read and write.

import { fill, words } from "/page/language.js";

export const now = {
  phase: "",
  me: null,
  question: null,
  frame: null,
  state: null,
  rematch: null,
  final: false, // the connection is not made again
  gains: [], // what counts gained or lost with the frame that is read
  tutorial: { steps: [], done: [], at: [] }, // of practice: where the next step is taken is marked
  ending: {}, // of a round
};
export const $ = (id) => document.getElementById(id);
export const address = location.pathname.replace(/\/$/, "");
export const KEYS = {
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
export const MOVES = { up: "north", down: "south", left: "west", right: "east" };
export const STEPS = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] };
export const say = (name, values = {}) => fill(words[name], values);
export const show = (id, on) => {
  $(id).hidden = !on;
};
export const nameOf = (seat) => (seat === null ? words.a_voice : (now.me?.names[seat] ?? ""));
export const turns = () => now.me?.clock === "turns";
export const touched = () => matchMedia("(pointer: coarse)").matches; // no keyboard

export function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export function notice(text, button) {
  $("notice").replaceChildren(text);
  if (button) $("notice").append(" ", button);
  show("notice", Boolean(text));
}

export const recall = (key, otherwise) => {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
};
export const remember = (key, value) => {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    /* private windows keep nothing */
  }
};
