// One line that says what has just happened: who did what, and why it paid or cost.

import { phrase } from "/page/language.js";
import { $, make, nameOf, say, turns } from "/page/page.js";
import { sound } from "/page/talk.js";

const STAYS = 4000; // milliseconds for which what paid or cost stays in real time
let told = [], // entries that the line shows
  answered = true, // since the line was written
  until = 0;

export function forgetNews() {
  told = [];
  answered = true;
  until = 0;
  $("news").replaceChildren();
}

export function noteAnswer() {
  answered = true;
}

// entries: change, seat (null for an order), label and consequence; gains: what the counts beside the clock gained or
// lost. In turns all since the last answer is told, the last action of each seat; in real time the latest.
export function showNews(entries, gains) {
  const kinds = gains.map(({ kind }) => kind);
  if (kinds.length) sound(kinds.includes("bad") ? "loss" : kinds.includes("good") ? "gain" : "order");
  const counts = gains.map(({ gain, text, kind }) => ({
    kind,
    text: gain ? text.replace(/ \(.*/, "").replace(/:?( ?)-?\d+/, `$1${gain > 0 ? "+" : ""}${gain}`) : text,
  }));
  const fresh = [...counts, ...entries.map(entryOf)],
    weighty = fresh.some(({ kind }) => kind);
  if (turns()) {
    if (answered) told = [];
    answered = false;
  } else if (!fresh.length || (!weighty && performance.now() < until)) return;
  else told = [];
  if (weighty) until = performance.now() + STAYS;
  for (const entry of fresh) {
    const same = told.find(({ text, kind }) => kind && text === entry.text); // such as two deliveries in a row
    if (same) {
      same.times = (same.times ?? 1) + 1;
      continue;
    }
    told = told.filter(({ seat, kind }) => kind || seat === undefined || seat !== entry.seat);
    told.push(entry);
  }
  told.sort((a, b) => Number(Boolean(b.kind)) - Number(Boolean(a.kind)));
  $("news").setAttribute("aria-live", turns() || weighty ? "polite" : "off");
  $("news").replaceChildren(
    ...told.map(({ text, kind, times }) =>
      make("span", times ? `${times} × ${text}` : text, kind ? { class: kind } : {}),
    ),
  );
}

function entryOf([change, seat, label, why]) {
  const kind = change > 0 ? "good" : change < 0 ? "bad" : "";
  if (seat === null) return { kind, text: change < 0 ? say("too_late", { order: phrase(label) }) : phrase(label) };
  const reason = why ? `. ${phrase(why)}` : "";
  return { kind, seat, text: `${nameOf(seat)}: ${phrase(label)}${reason}` };
}
