// The host's page: games of which rooms can be opened, a link and a QR code for each person, and where every session
// stands.

import { fill, game, keep, LANGUAGES, language, load, phrase, preferred, words } from "/page/language.js";
import { draw } from "/page/picture.js";

const $ = (id) => document.getElementById(id);
const address = location.pathname.replace(/\/$/, "");
await load(preferred());
function make(tag, text, ...children) {
  const element = document.createElement(tag);
  element.textContent = text;
  element.append(...children);
  return element;
}
const titled = (id) => game(id)?.name ?? id;
async function act(session, what) {
  const answer = await (await fetch(`${address}/${session}/${what}`, { method: "POST" })).json();
  if (what === "watch")
    $("status").replaceChildren(
      answer?.error ? answer.error : `${words.host_buttons.watch}: `,
      answer?.error ? "" : link(answer),
    );
  else await refresh();
}
function link(path) {
  const element = make("a", location.origin + path);
  element.href = path;
  return element;
}
function code(markup, name) {
  const details = make("details", "", make("summary", words.qr_code));
  const picture = make("div", "");
  draw(picture, markup);
  picture.className = "qr";
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", fill(words.qr_of, { name }));
  details.append(picture);
  return details;
}
function card(session) {
  const rows = session.people.map((person) =>
    make(
      "tr",
      "",
      make("th", phrase(person.agent)),
      make("td", "", link(person.link), ...(person.qr ? [code(person.qr, phrase(person.agent))] : [])),
      make("td", person.here ? words.is_here : words.not_here),
    ),
  );
  const table = make("table", "", make("tbody", "", ...rows));
  table.className = "links";
  const buttons =
    session.state === "closed"
      ? []
      : ["pause", "continue", "watch", "stop"].map((what) => {
          const button = make("button", words.host_buttons[what]);
          button.onclick = () => act(session.id, what);
          return button;
        });
  const row = make("div", "", ...buttons);
  row.className = "row";
  return make(
    "article",
    "",
    make("h3", titled(session.game)),
    make(
      "p",
      fill(words.session_state, {
        state: words.states[session.state] ?? session.state,
        step: session.timestep === null ? "" : fill(words.at_step, { n: session.timestep }),
        played: session.played,
        episodes: session.episodes,
      }),
    ),
    table,
    row,
  );
}
let before = "";
async function refresh() {
  const text = await (await fetch(`${address}/sessions`)).text();
  if (text === before) return; // a screen reader would begin anew
  before = text;
  const open = [...$("sessions").querySelectorAll("details")].map((each) => each.open);
  const sessions = JSON.parse(text);
  $("sessions-part").hidden = !sessions.length;
  $("sessions").replaceChildren(...sessions.reverse().map(card));
  if (open.length === $("sessions").querySelectorAll("details").length)
    $("sessions")
      .querySelectorAll("details")
      .forEach((each, i) => {
        each.open = open[i];
      });
}
function choice(name, options) {
  const select = make(
    "select",
    "",
    ...options.map(([value, text]) => {
      const option = make("option", text);
      option.value = value;
      return option;
    }),
  );
  return [make("label", `${name} `, select), select];
}
// The film of a game: its first picture, and all of it while somebody points at it.
function film(own, article) {
  const image = make("img", ""),
    still = make("canvas", "");
  image.src = `/page/films/${own.game}.gif`;
  image.alt = "";
  image.hidden = still.hidden = true;
  image.onload = () => {
    [still.width, still.height] = [image.naturalWidth, image.naturalHeight];
    still.getContext("2d").drawImage(image, 0, 0);
    still.hidden = false;
  };
  const play = (on) => {
    if (image.naturalWidth) {
      image.hidden = !on;
      still.hidden = on;
    }
  };
  article.onpointerenter = () => play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  article.onpointerleave = () => play(false);
  still.setAttribute("aria-hidden", "true");
  const frame = make("div", "", still, image);
  frame.className = "film";
  image.onerror = () => {
    frame.hidden = true;
  };
  return frame;
}
function factsOf(own) {
  const seats =
    own.seats === undefined
      ? []
      : [fill(words.players, { n: own.seats }), own.real_time ? words.real_time : words.in_turns];
  return [
    ...seats,
    own.minutes ? fill(words.minutes_about, { n: own.minutes }) : "",
    words.difficulties[own.difficulty - 1] ?? "",
  ]
    .filter(Boolean)
    .join(" · ");
}
function offer(own) {
  const facts = make("p", factsOf(own));
  facts.className = "hint";
  if (own.seats === undefined) {
    // the game is still being imported
    const wait = make("p", own.error ?? words.game_loading);
    wait.className = "hint";
    return framed(own, make("p", game(own.title)?.goal ?? ""), facts, wait);
  }
  const [tasks, task] = choice(words.layout, [["any", words.any], ...own.choices.map((each) => [each, phrase(each)])]);
  const [people, count] = choice(
    words.people,
    Array.from({ length: own.seats }, (_, k) => [
      k + 1,
      k + 1 === own.seats ? fill(words.people_only, { n: k + 1 }) : fill(words.people_and, { n: k + 1 }),
    ]),
  );
  const practice = make("input", "");
  practice.type = "checkbox";
  const label = make("label", "", practice, ` ${words.practise_first}`);
  label.className = "check";
  const open = async (button, number) => {
    button.disabled = true;
    $("status").textContent = fill(words.opening, { name: titled(own.title) });
    const order = { game: own.game, task: task.value, people: number, practice: practice.checked };
    const answer = await (await fetch(`${address}/rooms`, { method: "POST", body: JSON.stringify(order) })).json();
    button.disabled = false;
    return answer;
  };
  const alone = make("button", words.play_alone),
    button = make("button", words.open_room);
  alone.className = "main";
  alone.onclick = async () => {
    const answer = await open(alone, 1);
    if (answer.link) location.href = answer.link;
    else $("status").textContent = answer.error;
  };
  button.onclick = async () => {
    const answer = await open(button, Number(count.value));
    $("status").textContent = answer.error ?? fill(words.room_opened, { name: titled(own.title) });
    await refresh();
    if (!answer.error) $("sessions-part").scrollIntoView({ block: "start" });
  };
  const more = make("details", "", make("summary", words.with_others), tasks, people, label, button);
  return framed(own, make("p", game(own.title)?.goal ?? ""), facts, alone, more);
}
function framed(own, ...parts) {
  const article = make("article", "");
  article.append(film(own, article), make("h3", titled(own.title)), ...parts);
  article.dataset.game = own.game;
  return article;
}
let offers = [];
function showGames() {
  $("games-part").hidden = !offers.length;
  $("games").replaceChildren(...offers.map(offer));
}
$("language").append(
  ...Object.entries(LANGUAGES).map(([value, name]) => {
    const option = make("option", name);
    option.value = value;
    return option;
  }),
);
$("language").value = language();
$("language").onchange = async () => {
  keep($("language").value);
  await load($("language").value);
  before = "";
  showGames();
  await refresh();
};
await refresh();
setInterval(refresh, 2000);
offers = await (await fetch(`${address}/games`)).json();
showGames();
for (const [k, own] of offers.entries()) {
  // each card is complete as soon as its game is imported
  offers[k] = { ...own, ...(await (await fetch(`${address}/games/${own.game}`)).json()) };
  $("games").children[k].replaceWith(offer(offers[k]));
}
