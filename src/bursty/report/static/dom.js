"use strict";
// Text from the data is inserted as text nodes, never as HTML.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in element && !name.includes("-")) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}
const byId = (id) => document.getElementById(id);
const bdi = (text) => make("bdi", {}, String(text));
const passage = (parts) =>
  make("blockquote", { className: "excerpt" }, ...parts.map(([text, kind]) => (kind ? make("mark", { className: kind }, text) : text)));
const percent = (share) =>
  share >= 0.995 && share < 1 ? "over 99%" : (share >= 0.0995 ? (100 * share).toFixed(0) : (100 * share).toFixed(1)) + "%";
const later = (wait, action) => {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...args), wait);
  };
};
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const data = JSON.parse(byId("data").textContent);
const counted = (number, thing, things) => `${number.toLocaleString("en")} ${number === 1 ? thing : things || thing + "s"}`;
// A text of ours about documents, words and tokens, in the units of the corpus.
const DEFAULT = ["document", "word", "token"];
const say = (text) =>
  !data.units ? text : text.replace(/\b(a )?(document|word|token)(s?)\b/gi, (_, article, word, many) => {
    const name = data.units[many ? "plural" : "singular"][DEFAULT.indexOf(word.toLowerCase())];
    const first = article && "aeiou".includes(name[0].toLowerCase()) ? article.trim() + "n " : article || "";
    return first + (word[0] === word[0].toUpperCase() ? name[0].toUpperCase() + name.slice(1) : name);
  });
