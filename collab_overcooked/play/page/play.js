// The page of one person: shows what the server sends, sends what the person does. No rule of any game is here.
const $ = (id) => document.getElementById(id);
const words = await (await fetch("/page/words.json")).json();
const address = location.pathname.replace(/\/$/, "");
const KEYS = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", w: "up", s: "down", a: "left", d: "right", " ": "act", e: "act", x: "stay" };
const MOST_ACTIONS = 60;
const tiles = new Map();
const down = new Set();
let phase = "", me = null, question = null, frame = null, socket = null, wait = 500, state = null, final = false, own = {};

const say = (name, values = {}) => words[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
const show = (id, on) => { $(id).hidden = !on; };
const send = (message) => { if (socket?.readyState === 1) socket.send(JSON.stringify(message)); };
const nameOf = (seat) => (seat === null ? words.a_voice : me?.names[seat] ?? `agent_${seat}`);
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

// ------------------------------------------------------------------------------------------- the connection

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${address}/socket`);
  socket.onopen = () => { wait = 500; tiles.clear(); notice(""); };
  socket.onmessage = (event) => { const message = JSON.parse(event.data); HANDLERS[message.type]?.(message); };
  socket.onclose = () => {
    down.clear();
    if (final) return;
    notice(words.lost);
    setTimeout(connect, wait);
    wait = Math.min(5000, wait * 2);
  };
}

const HANDLERS = {
  welcome(message) {
    me = message;
    $("title").textContent = me.goal ? `${me.game}: ${words.practice}` : me.game;
    $("goal").textContent = me.goal ? words.goals[me.goal] : "";
    show("practice", Boolean(me.goal) && me.role === "seat");
    document.title = me.game;
    const others = me.names.map((name, seat) => [name, seat]).filter(([, seat]) => seat !== me.seat)
      .map(([name, seat]) => `${name} (${me.team[seat] === "?" ? words.partner : me.team[seat] === "person" ? words.a_person : me.team[seat]})`).join(", ");
    const post = me.post ? ` (${me.post})` : "";
    $("who").textContent = me.role === "seat" ? `${say("you_are", { name: me.names[me.seat] + post })}${others ? `, ${say("beside", { others })}` : ""}` : words[me.role === "voice" ? "voice" : "watching"];
    $("manual").textContent = me.manual;
    $("manual").setAttribute("aria-label", words.rules);
    show("rules", Boolean(me.manual));
    show("sight", me.show !== "picture" && me.role === "seat");
    $("sight-title").textContent = words[me.role === "seat" ? "sight" : "last_step"];
    show("chat", me.clock === "ticks" && me.role !== "watcher");
    show("leave", me.role !== "watcher");
    show("asking-row", me.requests);
    $("text").setAttribute("aria-live", me.clock === "ticks" ? "off" : "polite");
    $("at-once").checked = me.menu === "legal";
    makePad();
  },
  state(message) {
    state = message;
    const names = Object.keys(state.here).filter((agent) => !state.here[agent]).map((agent) => (/_\d+$/.test(agent) ? nameOf(Number(agent.split("_")[1])) : agent));
    const mine = me && (me.role === "seat" ? `agent_${me.seat}` : me.role);
    const asked = state.state === "ready" && me?.role !== "watcher" && !state.ready[mine];
    $("status").textContent = state.state === "closed" ? words.closed : names.length ? say("waiting", { names: names.join(", ") }) : asked ? words.get_ready : state.state === "ready" ? words.waiting_ready : words[state.state] ?? "";
    const between = !$("over").hidden;
    show("start", asked && !between);
    show("again", asked && between);
    if (asked && !between) $("start-words").textContent = me?.keys.length ? keysText() : words.get_ready;
    show("pause", me?.clock === "ticks" && me.role === "seat" && ["playing", "paused"].includes(state.state) && Object.keys(state.here).length === 1);
    $("pause").textContent = state.state === "paused" ? words.go_on : words.pause;
    if (state.state !== phase) $("rules").open = state.state === "waiting" || (asked && !between);  // read them before, not while it runs
    phase = state.state;
    if (state.state === "playing") { show("over", false); if (me?.keys.length && !focused()) $("stage").focus(); }
    if (state.state === "closed") { final = true; show("turn", false); show("leave", false); show("chat", false); show("pad", false); }
    if (me && me.episodes > 1) document.title = `${me.game}: ${say("episode", { n: state.number, all: me.episodes })}`;
  },
  countdown(message) {
    show("over", false);
    for (let left = Math.ceil(message.seconds); left > 0; left -= 1) setTimeout(() => { $("status").textContent = say("begins", { n: left }); }, (message.seconds - left) * 1000);
    $("stage").focus();
  },
  frame(message) {
    document.body.classList.remove("no-frame");
    frame = { ...frame, ...message };
    $("clock").textContent = say("step", { n: message.timestep }) + (message.limit ? ` ${say("of", { n: message.limit })}` : "");
    if (message.text && me?.role !== "seat") show("sight", true);  // before the first step there is none
    if (message.text !== undefined) { if ($("text").textContent !== message.text) $("text").textContent = message.text; showFacts(); }
    document.body.classList.toggle("no-picture", !frame.board && !message.board);
    if (message.board) { frame.board = message.board; drawBoard(); }
    for (const each of message.said ?? []) if (!shown.has(`${message.timestep}:${each.agent}:${each.say}`)) addTalk(each);
    shown.clear();
    if (message.timestep === 0) $("said").replaceChildren();
  },
  ask(message) {
    question = message;
    hear(message.inbox ?? []);
    showQuestion();
  },
  wait(message) {
    hear(message.inbox);
    $("status").textContent = say(message.inbox.length ? "answering" : "thinking", { name: nameOf(message.agent) });
  },
  refused(message) { $("refused").textContent = message.message; show("refused", true); if (question) unlock(true); },
  over(message) {
    question = null;
    show("turn", false);
    $("outcome").textContent = message.outcome;
    $("metrics").tBodies[0].replaceChildren(...Object.entries(message.metrics).map(([name, value]) => { const row = make("tr", ""); row.append(make("th", name, { scope: "row" }), make("td", Number.isInteger(value) ? value : value.toFixed(3))); return row; }));
    show("metrics", Object.keys(message.metrics).length > 0);
    show("replay", Boolean(message.replay));
    $("replay").href = `${address}/${message.replay}`;
    show("onward", Boolean(message.next));
    if (/^(https?:\/\/|\/)/.test(message.next)) $("onward").href = message.next;
    show("over", true);
    $("over").focus();
  },
  closing(message) { final = true; notice(message.why || words.closed); },
  taken_over() {
    final = true;
    const button = make("button", words.here);
    button.onclick = () => { final = false; connect(); };
    notice(words.taken_over, button);
  },
};

// ------------------------------------------------------------------------------------------- the picture

function drawBoard() {
  const { board } = frame, canvas = $("board");
  if (!board) return;
  for (const [name, data] of Object.entries(board.tiles)) {
    const image = new Image();
    image.onload = () => requestAnimationFrame(drawBoard);
    image.src = data;
    tiles.set(name, image);
  }
  board.tiles = {};
  const [width, height] = board.size;
  const side = Math.max(16, Math.min(104, ($("kitchen").clientWidth - 30) / width, innerHeight * 0.62 / height));
  const ratio = devicePixelRatio || 1;
  canvas.style.width = `${side * width}px`;
  canvas.width = Math.round(side * width * ratio);
  canvas.height = Math.round(side * height * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(side * ratio, side * ratio);
  pen.fillStyle = board.ground;
  pen.fillRect(0, 0, width, height);
  pen.fillStyle = "#e0d9c9";
  for (const [x, y, w, h] of board.patches) pen.fillRect(x, y, w, h);
  for (const link of board.links) drawLink(pen, link);
  const put = (name, x, y, size) => { const image = tiles.get(name); if (image?.complete) pen.drawImage(image, x, y, size, size); };
  pen.textAlign = "center";
  for (const [x, y, name, caption] of board.cells) {
    put(name, x, y, 1);
    if (caption) { pen.fillStyle = "#2b2a28"; pen.font = "0.22px system-ui, sans-serif"; pen.fillText(caption, x + 0.5, y + 1.25, 1.7); }
  }
  for (const [x, y, name] of board.cooks) put(name, x, y, board.cook_size);
}
function drawLink(pen, [x, y, endX, endY, colour, arrow, crossed]) {
  const length = Math.hypot(endX - x, endY - y) || 1, along = [(endX - x) / length, (endY - y) / length];
  const point = (forward, side) => [(x + endX) / 2 + 0.12 * (forward * along[0] - side * along[1]), (y + endY) / 2 + 0.12 * (forward * along[1] + side * along[0])];
  const path = (...points) => { pen.beginPath(); points.forEach((p, i) => (i ? pen.lineTo(...p) : pen.moveTo(...p))); };
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 0.06;
  path([x, y], [endX, endY]); pen.stroke();
  if (arrow) { path(point(1.2, 0), point(-1, 1), point(-1, -1)); pen.fill(); }
  if (crossed) { pen.lineWidth = 0.12; path(point(0, 1.5), point(0, -1.5)); pen.stroke(); }
}
addEventListener("resize", () => frame && drawBoard());

function showFacts() {
  const facts = [];
  const told = (text) => frame.text?.includes(text.split("\n")[0]);  // many games say it in their text
  if (frame.orders?.length && !frame.orders.every(told)) facts.push([words.orders, frame.orders.join(", ")]);
  if (frame.recipe && !told(frame.recipe)) facts.push([words.recipe, frame.recipe]);
  if (question?.plan?.length) facts.push([words.plan_left, question.plan.join("; ")]);
  (question?.announced ?? []).forEach((plan, seat) => { if (plan.length) facts.push([say("announced", { name: nameOf(seat) }), plan.join("; ")]); });
  $("facts").replaceChildren(...facts.flatMap(([name, text]) => [make("dt", name), make("dd", text)]));
}

// ------------------------------------------------------------------------------------------- talk

const shown = new Set();
function hear(inbox) {
  for (const message of inbox) {
    const key = `${(question?.timestep ?? frame?.timestep ?? 0) + 1}:${message.agent}:${message.say}`;
    if (!shown.has(key)) { shown.add(key); addTalk(message); }
  }
}
function addTalk({ agent, say: text, plan }) {
  if (!text) return;
  const item = make("p", "");
  item.append(make("b", `${agent !== null && agent === me?.seat ? `${nameOf(agent)} (${words.you})` : nameOf(agent)}:`), text);
  if (plan && me?.clock === "turns") item.append(" ", make("i", `[${plan}]`));
  $("said").append(item);
  while ($("said").children.length > 200) $("said").firstChild.remove();
  $("said").scrollTop = $("said").scrollHeight;
}
$("chat").onsubmit = (event) => {
  event.preventDefault();
  const text = $("chat-words").value.trim();
  if (text) send({ type: "say", say: text });
  $("chat-words").value = "";
  $("stage").focus();
};

// ------------------------------------------------------------------------------------------- a turn

const draft = () => `${address}:${question.turn}`;
function showQuestion() {
  const { kind, error, attempt, earlier, feedback } = question;
  $("turn-title").textContent = words[kind === "act" ? "your_turn" : kind === "reply" ? "their_words" : question.actions.length ? "order_turn" : "voice_turn"];
  $("status").textContent = $("turn-title").textContent;
  $("attempt").textContent = error ? say("refused_by_game", { action: attempt, why: error[1] }) : "";
  show("attempt", Boolean(error));
  const told = [feedback, earlier?.length ? `${words.earlier}: ${earlier.map(([seat, text]) => `${nameOf(seat)}: ${text}`).join(", ")}` : ""].filter(Boolean);
  $("told").textContent = told.join(" ");
  show("told", told.length > 0);
  show("refused", false);
  const saved = JSON.parse(sessionStorage.getItem(draft()) ?? "{}");
  $("plan").value = saved.plan ?? "";
  $("say").value = saved.say ?? "";
  $("filter").value = "";
  const acts = kind !== "voice" || question.actions.length > 0;  // a voice may order where the game takes orders
  show("menu", question.actions.length > 0);
  $("plan").parentElement.hidden = !acts;
  show("undo", acts);
  $("send").textContent = words[kind === "reply" ? "reply" : "send"];
  $("idle").textContent = words[kind === "act" ? "idle" : "silent"];
  show("done", kind === "reply");
  showFacts();
  showActions();
  show("turn", true);
  unlock(true);
  const first = $("menu").hidden ? (kind === "act" ? $("plan") : $("say")) : kind === "act" ? $("actions").querySelector("button:not([aria-disabled=true])") : $("say");
  if (!document.activeElement || document.activeElement === document.body || $("turn").contains(document.activeElement)) first?.focus();
}
function unlock(on) { for (const element of $("answer").querySelectorAll("button, input, textarea")) element.disabled = !on; }
function showActions() {
  const wanted = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const asking = $("asking").checked, offered = asking ? question.askable : question.actions;
  const legal = new Set(asking ? offered : question.legal);
  const found = offered.filter((text) => wanted.every((word) => text.toLowerCase().includes(word)));
  show("filter-row", offered.length > 12);
  $("actions").replaceChildren(...found.slice(0, MOST_ACTIONS).map((text, i) => {
    const item = make("li", ""), button = make("button", "", { type: "button" });
    if (i < 9) button.append(make("kbd", `${i + 1}`, { "aria-hidden": "true" }));
    button.append(text);
    button.dataset.action = text;
    if (!legal.has(text)) button.setAttribute("aria-disabled", "true");
    item.append(button);
    return item;
  }));
  $("more-actions").textContent = say("more_actions", { n: found.length - MOST_ACTIONS });
  show("more-actions", found.length > MOST_ACTIONS);
}
function choose(text) {
  const entry = $("asking").checked ? `request('${text}')` : text;
  const alone = $("at-once").checked && !$("asking").checked && !$("plan").value.trim();
  $("plan").value = [$("plan").value.trim().replace(/;$/, ""), entry].filter(Boolean).join("; ");
  keepDraft();
  if (alone && question.kind === "act") answer($("plan").value);
}
function answer(plan, words_ = $("say").value, last = false) {
  if (!question) return;
  const { kind, turn } = question;
  show("refused", false);
  send(kind === "act" ? { type: "act", turn, plan: plan.trim(), say: words_.trim() } : { type: "reply", turn, plan: plan.trim(), say: words_.trim(), last });
  unlock(false);
  $("status").textContent = words.playing;
}
const keepDraft = () => question && sessionStorage.setItem(draft(), JSON.stringify({ plan: $("plan").value, say: $("say").value }));
$("answer").oninput = keepDraft;
$("answer").onsubmit = (event) => { event.preventDefault(); answer($("plan").value); };
$("filter").oninput = showActions;
$("asking").onchange = showActions;
$("filter").onkeydown = (event) => { if (event.key === "Enter") { event.preventDefault(); $("actions").querySelector("button")?.click(); } };
$("plan").onkeydown = (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); answer($("plan").value); } };
$("actions").onclick = (event) => { const button = event.target.closest("button"); if (button && button.getAttribute("aria-disabled") !== "true") choose(button.dataset.action); };
$("undo").onclick = () => { $("plan").value = $("plan").value.split(";").slice(0, -1).join(";").trim(); keepDraft(); };
$("idle").onclick = () => answer("", question.kind === "act" ? $("say").value : "");
$("done").onclick = () => answer($("plan").value, $("say").value, true);
$("turn").onkeydown = (event) => {  // number keys, but not while somebody writes
  if (/^[1-9]$/.test(event.key) && !event.target.matches("input:not([type=checkbox]), textarea") && !event.ctrlKey && !event.altKey && !event.metaKey) $("actions").querySelectorAll("button")[Number(event.key) - 1]?.click();
};

// ------------------------------------------------------------------------------------------- keys and touch

const stored = () => { try { return JSON.parse(localStorage.getItem("keys") ?? "{}"); } catch { return {}; } };
const focused = () => $("chat").contains(document.activeElement) || document.activeElement?.closest?.("footer");
const label = (key) => words.key_names[key] ?? key.toUpperCase();
const keysFor = (action) => [...Object.keys(own).filter((key) => own[key] === action), ...Object.keys(KEYS).filter((key) => KEYS[key] === action && !(key in own))];
const keysText = () => say("hint_keys", { keys: me.keys.map((action) => `${words.actions[action]}: ${keysFor(action).map(label).join(` ${words.or} `)}`).join(", ") });
function press(action, on) {
  if (!me?.keys.includes(action) || down.has(action) === on) return;
  if (on) down.add(action); else down.delete(action);
  $("pad").querySelector(`[data-key=${action}]`)?.classList.toggle("on", on);
  send({ type: "key", key: action, down: on });
}
function makePad() {
  own = stored();
  show("pad", me.keys.length > 0);
  show("keys-hint", me.keys.length > 0);
  show("key-details", me.keys.length > 0);
  if (!me.keys.length) { $("stage").removeAttribute("tabindex"); return; }
  $("stage").tabIndex = 0;
  $("stage").setAttribute("role", "application");
  $("stage").setAttribute("aria-label", keysText());
  $("keys-hint").textContent = keysText();
  $("pad").replaceChildren(...me.keys.map((action) => make("button", words.signs[action], { "data-key": action, "aria-label": words.actions[action], type: "button" })));
  $("key-list").replaceChildren(...me.keys.map((action) => {
    const item = make("li", `${words.actions[action]}: `), button = make("button", keysFor(action).map(label).join(` ${words.or} `));
    button.onclick = () => {
      button.textContent = words.press_key;
      addEventListener("keydown", (event) => {
        event.preventDefault();
        if (event.key.length === 1 || event.key.startsWith("Arrow")) localStorage.setItem("keys", JSON.stringify({ ...stored(), [event.key]: action }));
        makePad();
      }, { once: true, capture: true });
    };
    item.append(button);
    return item;
  }));
}
const actionOf = (event) => { const key = event.key.length === 1 ? event.key.toLowerCase() : event.key; return own[key] ?? KEYS[key]; };
$("stage").onkeydown = (event) => { const action = actionOf(event); if (action && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); if (!event.repeat) press(action, true); } };
addEventListener("keyup", (event) => { const action = actionOf(event); if (action) press(action, false); });
$("pad").onpointerdown = (event) => { const key = event.target.dataset.key; if (key) { event.preventDefault(); event.target.setPointerCapture?.(event.pointerId); press(key, true); } };
for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) $("pad").addEventListener(name, (event) => { if (event.target.dataset.key) press(event.target.dataset.key, false); });
addEventListener("blur", () => { down.clear(); send({ type: "blur" }); });

// ------------------------------------------------------------------------------------------- the rest

for (const button of [$("ready"), $("again")]) button.onclick = () => { send({ type: "ready" }); button.hidden = true; };
$("skip").onclick = () => send({ type: "skip" });
$("pause").onclick = () => send({ type: "pause", on: state.state !== "paused" });
$("leave").onclick = () => { if (confirm(words.leave_sure)) send({ type: "leave" }); };
document.documentElement.lang = words.language;
for (const element of document.querySelectorAll("[data-word]")) element.textContent = words[element.dataset.word];
connect();
