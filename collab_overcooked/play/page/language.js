// The words of pages in one language: words.LANGUAGE.json. Games write in English; labels.json rewords their short
// texts.
import { Wording } from "/page/wording.js";
export const LANGUAGES = { en: "English", de: "Deutsch" };
const wording = new Wording(await (await fetch("/page/labels.json")).json());
let data = null;
export let words = null; // of the page

const stored = () => {
  try {
    return localStorage.getItem("language");
  } catch {
    return null;
  }
};
export const preferred = () =>
  [new URLSearchParams(location.search).get("language"), stored(), navigator.language?.slice(0, 2), "en"].find(
    (each) => each in LANGUAGES,
  );
export const keep = (language) => {
  try {
    localStorage.setItem("language", language);
  } catch {
    /* private windows keep nothing */
  }
};

export async function load(language) {
  data = await (await fetch(`/page/words.${language}.json`)).json();
  document.documentElement.lang = data.language;
  for (const each of document.querySelectorAll("[data-word]")) each.textContent = data.page[each.dataset.word];
  for (const each of document.querySelectorAll("[data-label]"))
    each.setAttribute("aria-label", data.page[each.dataset.label]);
  words = data.page;
}

export const phrase = (text) => wording.phrase(text);
export const setSingle = (names) => wording.setSingle(names);
export const language = () => data.language;
export const game = (id) => data.games[id];
export const fill = (text, values = {}) => text.replace(/\{(\w+)\}/g, (placeholder, key) => values[key] ?? placeholder);
