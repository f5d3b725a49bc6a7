// Games need this language: who has it can agree, if the window and the pointer are those that the study needs.
const needs = document.getElementById("needs");
function admit() {
  const lacks = {
    unfit: needs && window.innerWidth < Number(needs.dataset.width),
    "no-mouse": needs && needs.dataset.mouse === "1" && !matchMedia("(any-pointer: fine)").matches,
  };
  for (const button of document.querySelectorAll("button[name=agree][value=yes]"))
    button.disabled = lacks.unfit || lacks["no-mouse"];
  for (const text of document.querySelectorAll("#unfit, #no-mouse")) text.hidden = !lacks[text.id];
}
admit();
window.addEventListener("resize", admit);

// Pages report the width of the window and how often it lost the focus, also before the page was loaded again.
const losses = document.querySelector("[name=focus_losses]");
if (losses) {
  const width = document.querySelector("[name=window]");
  const key = `focus:${location.pathname}:${document.querySelector("[name=step]").value}`;
  const count = (more) => {
    try {
      losses.value = Number(sessionStorage.getItem(key) ?? 0) + more;
      sessionStorage.setItem(key, losses.value);
    } catch {
      losses.value = Number(losses.value) + more;
    }
  };
  const measure = () => {
    width.value = window.innerWidth;
  };
  count(0);
  measure();
  window.addEventListener("resize", measure);
  window.addEventListener("blur", () => count(1));
}

// A slider counts as answered once it was moved.
for (const slider of document.querySelectorAll("input[type=range]")) {
  const name = slider.name,
    shown = slider.parentElement.querySelector("output");
  if (slider.dataset.moved === "0") slider.removeAttribute("name");
  for (const event of ["input", "pointerup", "keyup"])
    slider.addEventListener(event, (happened) => {
      if (happened.key === "Tab") return;
      slider.name = name;
      shown.value = slider.value;
    });
}

// Questions that depend on answers of the same page; what is hidden is not sent.
const dependent = document.querySelectorAll("[data-show-if]");
function branch() {
  for (const item of dependent) {
    const data = new FormData(item.closest("form"));
    item.hidden = !Object.entries(JSON.parse(item.dataset.showIf)).every(([name, values]) =>
      data.getAll(name).some((value) => values.includes(value)),
    );
    for (const field of item.querySelectorAll("input, select, textarea")) field.disabled = item.hidden;
  }
}
if (dependent.length) {
  branch();
  dependent[0].closest("form").addEventListener("input", branch);
}

// A page that is to be read holds its button until the time is over; a questionnaire is then sent as it is.
for (const timer of document.querySelectorAll("[data-timer]")) {
  const end = performance.now() + 1000 * Number(timer.dataset.left);
  const form = timer.closest("form");
  const button = form.querySelector("button");
  const holds = timer.dataset.timer === "least";
  button.disabled = holds;
  const show = () => {
    const left = Math.ceil((end - performance.now()) / 1000);
    if (left > 0) {
      timer.textContent = timer.dataset.text.replace("{seconds}", left);
      window.setTimeout(show, 250);
      return;
    }
    timer.textContent = "";
    button.disabled = false;
    if (!holds) form.submit();
  };
  show();
}

// The waiting room: polls for news until there is a game or the wait is over.
const news = document.getElementById("news");
const EVERY = 2000; // milliseconds
let shown = "";

function say(text) {
  if (text !== shown) {
    shown = text;
    news.textContent = text;
  }
}

async function ask() {
  try {
    const answer = await fetch(news.dataset.news, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.statusText);
    const found = await answer.json();
    if (found.go) {
      say(found.text);
      window.location.assign(found.go);
      return;
    }
    say(found.text);
  } catch {
    say(news.dataset.offline);
  }
  window.setTimeout(ask, EVERY);
}

if (news) ask();
