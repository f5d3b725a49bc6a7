// The words of pages in one language: words.LANGUAGE.json. Games write in English; labels.json rewords their short texts.
export const LANGUAGES = { en: "English", de: "Deutsch" };
const labels = await (await fetch("/page/labels.json")).json();
const patterns = labels.patterns.map(([from, to]) => [new RegExp(`^(?:${from})$`), to]);
let data = null;

const stored = () => { try { return localStorage.getItem("language"); } catch { return null; } };
export const preferred = () => [new URLSearchParams(location.search).get("language"), stored(), navigator.language?.slice(0, 2), "en"].find((each) => each in LANGUAGES);
export const keep = (language) => { try { localStorage.setItem("language", language); } catch { /* private windows keep nothing */ } };

export async function load(language) {
  data = await (await fetch(`/page/words.${language}.json`)).json();
  document.documentElement.lang = data.language;
  for (const each of document.querySelectorAll("[data-word]")) each.textContent = data.page[each.dataset.word];
  for (const each of document.querySelectorAll("[data-label]")) each.setAttribute("aria-label", data.page[each.dataset.label]);
  return data.page;
}

export const language = () => data.language;
export const game = (id) => data.games[id];
export const fill = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

// A name of the game as people write it: bell_pepper, pot0 and tomatoSlice become words.
let single = new Set();  // names whose number tells nothing, as there is one such thing only
export const setSingle = (names) => { single = new Set(names); known.clear(); };
function spell(name) {
  if (single.has(name)) return spell(name.replace(/\d+$/, ""));
  if (/^[a-z]\d+$/.test(name)) return name;  // a letter on the map
  const whole = labels.terms[name] ?? labels.terms[name.toLowerCase()];
  if (whole !== undefined) return whole;
  const spaced = name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/_/g, " ").replace(/([a-z])(\d+)$/i, "$1 $2");
  return spaced.split(" ").map((word) => labels.terms[word.toLowerCase()] ?? word).join(" ");
}

// An action or label of a game as people read it; what no pattern knows stays as it is, names apart.
const known = new Map();
export function phrase(text) {
  if (!known.has(text)) {
    if (known.size > 5000) known.clear();
    known.set(text, reworded(text));
  }
  return known.get(text);
}
function reworded(text) {
  for (const [from, to] of patterns) {
    const found = from.exec(text);
    if (found) return to.replace(/\{(\d)(\??)\}/g, (_, n, inner) => (found[n] === undefined ? "" : inner ? reworded(found[n]) : spell(found[n])));
  }
  return /^[a-z]+([ _][a-z]+)+\d*$|^[a-z]+[A-Z]\w*$|^[a-z]+\d+$/.test(text) || labels.terms[text.toLowerCase()] ? spell(text) : text.replace(/\b[a-z]+(_[a-z]+)+\b/g, spell);
}
