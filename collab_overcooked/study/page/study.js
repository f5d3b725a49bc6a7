// The waiting room: asks for news until there is a game, or nobody came.
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
