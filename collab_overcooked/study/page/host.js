// The host's page of a study: asks for its state every two seconds, and sends what its buttons say.
const address = location.pathname.replace(/\/$/, "");
const $ = (id) => document.getElementById(id);
const CONNECTIONS = {
  game: "in the game",
  lost: "connection lost",
  waiting: "in the waiting room",
  page: "at a page",
  idle: "idle",
};
let before = "";

function make(tag, text, ...children) {
  const element = document.createElement(tag);
  element.textContent = text;
  element.append(...children);
  return element;
}

function fill(table, heads, rows) {
  const head = make(
    "thead",
    "",
    make("tr", "", ...heads.map((text) => Object.assign(make("th", text), { scope: "col" }))),
  );
  table.replaceChildren(head, make("tbody", "", ...rows));
}

function row(cells) {
  const [first, ...others] = cells;
  return make(
    "tr",
    "",
    Object.assign(make("th", first), { scope: "row" }),
    ...others.map((cell) => (cell instanceof Node ? make("td", "", cell) : make("td", cell ?? ""))),
  );
}

function button(label, what, person, question) {
  const made = make("button", label);
  made.className = "second small";
  made.setAttribute("aria-label", `${label} ${person.id}`);
  made.onclick = () => {
    if (window.confirm(question)) act(what, { id: person.id });
  };
  return made;
}

function buttons(person) {
  const end = `End taking part for ${person.id}? A game that ${person.id} plays ends for all who play it.`;
  const forget = `Delete the identity and the answers of ${person.id} for good? Taking part ends.`;
  return make(
    "span",
    "",
    ...(person.end ? [] : [button("End", "end", person, end), " "]),
    button("Forget", "forget", person, forget),
  );
}

async function act(what, fields) {
  const answer = await fetch(`${address}/${what}`, { method: "POST", body: new URLSearchParams(fields) });
  $("status").textContent = answer.ok ? "Done." : await answer.text();
  await refresh();
}

function show(study) {
  const focused = document.activeElement?.getAttribute("aria-label");
  $("title").textContent = study.title;
  $("sessions").href = study.sessions;
  $("bar").max = study.limit;
  $("bar").value = Math.min(study.completed, study.limit);
  const ends = Object.entries(study.ends)
    .map(([end, count]) => `${count} ${end.replace("_", " ")}`)
    .join(", ");
  const facts = {
    Completed: `${study.completed} of ${study.limit}`,
    "Under way": study.under_way,
    "Free places": Math.max(0, study.limit + study.margin - study.completed - study.under_way),
    "Idle, place released": study.idle,
    Ended: ends || "none",
    Declined: study.declined,
    Refused:
      Object.entries(study.refused)
        .map(([why, count]) => `${count} ${why.replace("_", " ")}`)
        .join(", ") || "none",
    "Personal data are kept until": study.retention || "no date in the study file",
    "Failed attention checks": study.failed_checks,
    "New participants": study.open ? "can join" : "cannot join now",
  };
  $("facts").replaceChildren(
    ...Object.entries(facts).map(([name, value]) => make("div", "", make("dt", name), make("dd", value))),
  );
  const heads = [
    "Participant",
    "Group",
    "Conditions",
    "Step",
    "At",
    "Connection",
    "Minutes",
    "Checks failed",
    "End",
    "Action",
  ];
  fill(
    $("people"),
    heads,
    study.people.map((own) =>
      row([
        own.id,
        own.group,
        own.conditions.join(", ") || own.condition,
        `${own.step} of ${own.steps}`,
        own.doing,
        CONNECTIONS[own.connection] ?? "",
        own.minutes,
        own.failed_checks || "",
        own.end.replace("_", " "),
        buttons(own),
      ]),
    ),
  );
  const pools = study.waiting.map((pool) =>
    make(
      "li",
      `${pool.group === null ? "For a group" : `Group ${pool.group}`}: ${pool.here} of ${pool.needed} are here, the first one for ${pool.seconds} s`,
    ),
  );
  $("waiting").replaceChildren(...(pools.length ? pools : [make("li", "No participants are waiting.")]));
  fill(
    $("cells"),
    ["Condition", "Allocated", "Under way", "Completed", "Quota"],
    study.cells.map((own) => row([own.condition, own.allocated, own.under_way, own.completed, own.quota ?? "none"])),
  );
  const chosen = $("limit").value;
  $("limit").replaceChildren(
    ...Object.entries(study.limits).map(([name, value]) =>
      Object.assign(make("option", `${name} (now ${value})`), { value: name, selected: name === chosen }),
    ),
  );
  $("medians").hidden = !study.medians.length;
  fill(
    $("medians"),
    ["Step", "People", "Minutes"],
    study.medians.map((own) => row([own.step === "all" ? "Whole study" : own.step, own.people, own.minutes])),
  );
  if (focused) document.querySelector(`button[aria-label="${CSS.escape(focused)}"]`)?.focus(); // the buttons are new ones
}

async function refresh() {
  try {
    const answer = await fetch(`${address}/data`, { cache: "no-store" });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    if (text === before) return; // a screen reader would begin anew
    before = text;
    show(JSON.parse(text));
  } catch {
    $("status").textContent = "The server does not answer.";
    before = "";
  }
}

$("raise").onsubmit = (event) => {
  event.preventDefault();
  act("raise", { name: $("limit").value, value: $("value").value });
};
$("export").href = `${address}/export`;
$("anonymous").href = `${address}/export?anonymous=yes`;
await refresh();
setInterval(refresh, 2000);
