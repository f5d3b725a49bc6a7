// The page of one person: shows what the server sends, sends what the person does. No rule of any game is here.

import { clearBoard, closePick, markCells, picture, redraw, walk } from "/page/board.js";
import {
  forgetDone,
  showAway,
  showDone,
  showEnding,
  showFacts,
  showMessageRules,
  showRematch,
  showState,
  showSteps,
  welcome,
} from "/page/cards.js";
import { connect, send, sendWindow } from "/page/connection.js";
import { release } from "/page/keys.js";
import { keep, LANGUAGES, language, load, phrase, preferred, setSingle, words } from "/page/language.js";
import { forgetNews, showNews } from "/page/news.js";
import { $, address, make, nameOf, notice, now, recall, remember, say, show, turns } from "/page/page.js";
import { sound, Talk } from "/page/talk.js";
import { forgetTurn, showQuestion, unlock } from "/page/turn.js";

await load(preferred());
let count = null; // of the countdown
const talk = new Talk({ picture, say: (name, values) => say(name, values), nameOf, own: () => now.me?.seat });
const HANDLERS = {
  opened() {
    notice("");
    sendWindow(false);
    if ($("text-on").checked) send({ type: "text", on: true });
  },
  lost() {
    release();
    if (!now.final) notice(words.lost);
  },
  async welcome(message) {
    now.me = message;
    show("loading", false);
    if (now.me.language && now.me.language !== language()) await load(now.me.language);
    show("language-row", !now.me.language);
    document.body.classList.toggle("ticks", !turns());
    picture.own = now.me.seat;
    picture.mine = `(${words.you})`;
    picture.letters = now.me.role !== "watcher" && !now.me.keys.length && !Object.keys(now.me.moves).length;
    setSingle(now.me.single);
    welcome();
  },
  loading(message) {
    show("loading", true);
    $("status").textContent = say("loading_status", message);
  },
  state(message) {
    now.state = message;
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
    if (message.whole) beginAnew();
    const first = document.body.classList.contains("no-frame");
    document.body.classList.remove("no-frame");
    document.body.dataset.step = message.timestep;
    const next = now.frame && message.timestep === now.frame.timestep + 1;
    now.frame = { ...now.frame, ...message };
    document.body.classList.toggle("no-picture", !message.picture);
    show("clock", !message.picture);
    $("clock").textContent =
      picture.time() ||
      say("step", { n: message.timestep }) + (message.limit ? ` ${say("of", { n: message.limit })}` : "");
    now.gains = [];
    if (message.picture) picture.apply(message.picture, next ? (turns() ? 0.3 : now.me.tick) : 0);
    if (first) redraw();
    show("names", Boolean(document.querySelector("#board .quiet")));
    walk();
    if (message.text && now.me?.role !== "seat") show("sight", true); // before the first step there is none
    if (message.text !== undefined) {
      // in real time pages count seconds
      const text = turns() ? message.text : message.text.replace(/\bstep \d+ of \d+/i, picture.time());
      if ($("text").textContent !== text) $("text").textContent = text;
      showFacts();
    }
    showMessageRules(message.chars_left);
    const news = message.news ?? [];
    if (news.length || !message.whole) showNews(news, now.gains);
    for (const [, seat, label] of news) if (seat !== null) showDone(seat, label);
    for (const each of message.said ?? [])
      if (!shown.has(`${message.timestep}:${each.agent}:${each.say}`))
        talk.add(turns() ? each : { ...each, plan: "" }, !message.whole);
    shown.clear();
    showAway();
  },
  ask(message) {
    now.question = message;
    hear(message.inbox ?? []);
    showQuestion();
  },
  wait(message) {
    hear(message.inbox);
    if (!now.question)
      $("status").textContent = say(message.inbox.length ? "answering" : "thinking", { name: nameOf(message.agent) });
  },
  refused(message) {
    $("refused").textContent = message.message;
    show("refused", true);
    if (now.question) unlock(true);
    if (message.code === "busy") $("busy").textContent = message.message;
  },
  progress(message) {
    now.tutorial = message;
    showSteps();
  },
  over(message) {
    now.question = null;
    closePick();
    show("turn", false);
    $("over-title").textContent = words[message.practice ? "practice" : "over"];
    $("outcome").className = message.lost ? "bad" : "";
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
    ]) {
      show(id, Boolean(path));
      $(id).href = `${address}/${path}`;
    }
    now.ending = message;
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
    now.rematch = message;
    if (now.me) showRematch();
  },
  par(message) {
    now.ending = { ...now.ending, par: message.par };
    showEnding();
  },
  closing(message) {
    now.final = true;
    notice(message.why || words.closed);
  },
  taken_over() {
    now.final = true;
    const button = make("button", words.here);
    button.onclick = () => {
      now.final = false;
      connect(HANDLERS);
    };
    notice(words.taken_over, button);
  },
};
const shown = new Set();

// Before the first frame of a round, and when the connection is made again: nothing of before stays.
function beginAnew() {
  Object.assign(now, { frame: null, question: null, gains: [] });
  shown.clear();
  release();
  picture.clear();
  clearBoard();
  forgetTurn();
  forgetDone();
  forgetNews();
  talk.clear();
  $("text").textContent = "";
}

function hear(inbox) {
  for (const message of inbox) {
    const key = `${(now.question?.timestep ?? now.frame?.timestep ?? 0) + 1}:${message.agent}:${message.say}`;
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
for (const id of ["ready", "practise-first", "again"])
  $(id).onclick = () => {
    if (now.me?.fullscreen && !document.fullscreenElement)
      document.documentElement.requestFullscreen?.().catch(() => {});
    if (now.me.offers_practice) remember("offered", { ...recall("offered", {}), [now.me.game]: true });
    send({ type: id === "practise-first" ? "practise" : "ready" });
    $("goal-open").setAttribute("aria-expanded", false);
    show(id, false);
  };
for (const button of document.querySelectorAll("[data-rematch]"))
  button.onclick = () => {
    send({ type: "rematch", how: button.dataset.rematch });
  };
$("skip").onclick = () => {
  send({ type: "skip" });
  $("skip").disabled = true;
  now.tutorial.at = [];
  markCells();
  $("goal").textContent = words.skipped;
};
$("pause").onclick = () => send({ type: "pause", on: now.state.state !== "paused" });
$("leave").onclick = () => {
  if (confirm(now.me?.leaving_text || words.leave_sure)) send({ type: "leave" });
};
$("language").append(
  ...Object.entries(LANGUAGES).map(([code, name]) => make("option", name, { value: code, lang: code })),
);
$("language").value = language();
$("language").onchange = async () => {
  keep($("language").value);
  await load($("language").value);
  if (!now.me) return;
  welcome();
  if (now.state) showState();
  if (now.rematch) showRematch();
  if (now.question && !$("turn").hidden) showQuestion();
};
$("sound").checked = recall("sound", false);
$("sound").onchange = () => {
  remember("sound", $("sound").checked);
  sound("message");
};
connect(HANDLERS);
