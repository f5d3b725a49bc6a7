// The words of pages and games in one language: words.LANGUAGE.json. Texts of games are found by patterns.
export const LANGUAGES = { en: "English", de: "Deutsch" };
let data = null, patterns = [], sentences = [];

const stored = () => { try { return localStorage.getItem("language"); } catch { return null; } };
export const preferred = () => [new URLSearchParams(location.search).get("language"), stored(), navigator.language?.slice(0, 2), "en"].find((each) => each in LANGUAGES);
export const keep = (language) => { try { localStorage.setItem("language", language); } catch { /* private windows keep nothing */ } };

export async function load(language) {
  data = await (await fetch(`/page/words.${language}.json`)).json();
  patterns = data.patterns.map(([from, to]) => [new RegExp(`^(?:${from})$`), to]);
  const literal = ([from]) => from.replace(HOLE, "").length;  // the most specific template first
  sentences = Object.entries(data.sentences ?? {}).sort((a, b) => literal(b) - literal(a)).map(([from, to]) => [new RegExp(sentenceSource(from), "y"), from.match(HOLE) ?? [], to]);
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
  if (/^[a-z]\d+$/.test(name)) return name;  // a letter on the map
  const whole = data.terms[name] ?? data.terms[name.toLowerCase()];
  if (whole !== undefined) return whole;
  const spaced = name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/_/g, " ").replace(/([a-z])(\d+)$/i, "$1 $2");
  const words = spaced.split(" "), made = [];
  for (let i = 0; i < words.length;) {  // the longest known phrase first
    let end = words.length;
    while (end > i + 1 && data.terms[words.slice(i, end).join(" ").toLowerCase()] === undefined) end -= 1;
    const phrase = words.slice(i, end).join(" ");
    made.push(data.terms[phrase.toLowerCase()] ?? phrase);
    i = end;
  }
  return made.join(" ");
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
  return data.terms[text] ?? (/^[a-z]+([ _][a-z]+)+\d*$|^[a-z]+[A-Z]\w*$|^[a-z]+\d+$/.test(text) || data.terms[text.toLowerCase()] ? term(text) : text);
}

// Sentences of games (rules, observations, refusals) by templates with {holes}; {holes*} are lists. A hole ends with its
// sentence, blanks match line breaks, and a template that ends with a hole or a word takes the rest of its line.
const HOLE = /\{\w+\*?\}/g;
function sentenceSource(template) {
  const holes = template.match(HOLE) ?? [], parts = template.split(HOLE).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ /g, "\\s+"));
  const hole = (name) => `((?:(?!\\.\\s)[^\\n${name?.endsWith("*}") ? "" : ";"}])+?)`;
  return parts.map((part, i) => part + (i < holes.length ? hole(holes[i]) : "")).join("") + (/[.:?]$/.test(template) ? "(?=\\s|$)" : "(?=\\n|; |$)");
}
const list = (text) => text.split(/(, |; | and | with )(?![^(]*\))/).map((part, i) => (i % 2 ? part.replace(/\w+/, tr) : tr(part))).join("");

// A text of a game, sentence by sentence; a line that no template knows stays as it is.
export function translate(text) {
  if (!sentences.length) return text.includes("\n") ? text : tr(text);
  let at = 0, made = "";
  while (at < text.length) {
    const [hit, holes, to] = sentences.map(([from, ...rest]) => { from.lastIndex = at; return [from.exec(text), ...rest]; }).find(([match]) => match) ?? [];
    if (hit) {
      const values = Object.fromEntries(holes.map((hole, i) => [hole, hole.endsWith("*}") ? list(hit[i + 1]) : tr(hit[i + 1])]));
      made += to.replace(HOLE, (hole) => values[hole]);
      at = hit.index + hit[0].length;
    } else if (!at && tr(text) !== text) return tr(text);
    else {
      const line = /.*/y;
      line.lastIndex = at;
      const rest = line.exec(text)[0];
      made += rest.endsWith(":") ? tr(rest) : rest.split(": ").map(tr).join(": ");
      at += rest.length;
    }
    const blank = /(; )?\s*/y;
    blank.lastIndex = at;
    made += blank.exec(text)[0];
    at = blank.lastIndex;
  }
  return made;
}
