// The words of pages and games in one language: words.LANGUAGE.json. Texts of games are found by patterns.
export const LANGUAGES = { en: "English", de: "Deutsch" };
let data = null, patterns = [];

const stored = () => { try { return localStorage.getItem("language"); } catch { return null; } };
export const preferred = () => [new URLSearchParams(location.search).get("language"), stored(), navigator.language?.slice(0, 2), "en"].find((each) => each in LANGUAGES);
export const keep = (language) => { try { localStorage.setItem("language", language); } catch { /* private windows keep nothing */ } };

export async function load(language) {
  data = await (await fetch(`/page/words.${language}.json`)).json();
  patterns = data.patterns.map(([from, to]) => [new RegExp(`^(?:${from})$`), to]);
  known.clear();
  document.documentElement.lang = data.language;
  for (const each of document.querySelectorAll("[data-word]")) each.textContent = data.page[each.dataset.word];
  for (const each of document.querySelectorAll("[data-label]")) each.setAttribute("aria-label", data.page[each.dataset.label]);
  return data.page;
}

export const language = () => data.language;
export const game = (id) => data.games[id];
export const fill = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

// A name of the game as people write it: bell_pepper, pot0 and tomatoSlice become words, known words are translated.
function term(name) {
  const whole = data.terms[name] ?? data.terms[name.toLowerCase()];
  if (whole !== undefined) return whole;
  const spaced = name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/_/g, " ").replace(/([a-z])(\d+)$/i, "$1 $2");
  return data.terms[spaced.toLowerCase()] ?? spaced.split(" ").map((word) => data.terms[word.toLowerCase()] ?? word).join(" ");
}

// A text of a game in this language; what no pattern knows stays as it is, names apart.
const known = new Map();
export function tr(text) {
  if (!known.has(text)) {
    if (known.size > 5000) known.clear();
    known.set(text, translated(text));
  }
  return known.get(text);
}
function translated(text) {
  for (const [from, to] of patterns) {
    const found = from.exec(text);
    if (found) return to.replace(/\{(\d)(\??)\}/g, (_, n, inner) => (found[n] === undefined ? "" : inner ? translated(found[n]) : term(found[n])));
  }
  return data.terms[text] ?? (/^[a-z]+([ _][a-z]+)+$|^[a-z]+[A-Z]\w*$|^[a-z]+\d+$/.test(text) || data.terms[text.toLowerCase()] ? term(text) : text);
}
