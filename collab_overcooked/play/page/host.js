// The host's page: a link for each person, where every session stands, and buttons to pause and end it.
const address = location.pathname.replace(/\/$/, "");
function make(tag, text, ...children) {
  const element = document.createElement(tag);
  element.textContent = text;
  element.append(...children);
  return element;
}
async function act(session, what) {
  const answer = await (await fetch(`${address}/${session}/${what}`, { method: "POST" })).json();
  if (what === "watch") document.getElementById("status").replaceChildren(answer?.error ? answer.error : "Link to look on: ", answer?.error ? "" : link(answer));
  else await refresh();
}
function link(path) {
  const element = make("a", location.origin + path);
  element.href = path;
  return element;
}
function card(session) {
  const rows = session.people.map((person) => make("tr", "", make("th", person.agent), make("td", "", link(person.link)), make("td", person.here ? "here" : "not here")));
  const table = make("table", "", make("tbody", "", ...rows));
  table.className = "links";
  const buttons = session.state === "closed" ? [] : ["pause", "continue", "watch", "stop"].map((what) => {
    const button = make("button", { pause: "Pause", continue: "Continue", watch: "Link to look on", stop: "End" }[what]);
    button.onclick = () => act(session.id, what);
    return button;
  });
  const row = make("div", "", ...buttons);
  row.className = "row";
  return make("section", "", make("h2", session.game), make("p", `${session.state}, step ${session.timestep}, ${session.played} of ${session.episodes} episodes played`), table, row);
}
let before = "";
async function refresh() {
  const text = await (await fetch(`${address}/sessions`)).text();
  if (text === before) return;  // a screen reader would begin anew
  before = text;
  document.getElementById("sessions").replaceChildren(...JSON.parse(text).map(card));
}
await refresh();
setInterval(refresh, 2000);
