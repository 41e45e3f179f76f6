"use strict";
// Numbers of the words that can be looked up, and a function that looks one up; pages without a lookup have none.
const numberOfWord = new Map();
let lookUp = () => {};

// Words in lists become buttons that look them up.
function linkWords(root) {
  for (const item of root.querySelectorAll(".chips li > bdi, .bursts bdi")) {
    const word = numberOfWord.get(item.textContent);
    if (word === undefined) continue;
    const button = make("button", { type: "button", className: "word", title: "Look up" });
    item.replaceWith(button);
    button.append(item);
    button.addEventListener("click", () => lookUp(word));
  }
}

function startWords() {
  const { lookup, vocabulary } = data;
  const folded = vocabulary.map(fold);
  const input = byId("word");
  const list = byId("word-suggestions");
  let chosen = -1;
  const mean = lookup.tokens ? lookup.tokens.reduce((a, b) => a + b, 0) / lookup.documents.reduce((a, b) => a + b, 0) : 0;
  const bursts = (word) => lookup.tokens[word] / lookup.documents[word];

  const burstiest = () => {
    if (!lookup.tokens) return vocabulary.slice(0, 10).map((_, i) => i);
    // Neither rare words, which one document can make bursty, nor words that occur in most documents.
    const total = data.documents.total;
    const common = vocabulary.map((_, i) => i).filter((i) => lookup.documents[i] >= Math.max(3, 0.05 * total) && lookup.documents[i] <= 0.5 * total);
    return common.sort((a, b) => bursts(b) - bursts(a) || a - b).slice(0, 10);
  };
  const matches = (query) => {
    const starts = [], inside = [];
    for (let i = 0; i < folded.length && starts.length < 12; i++) {
      if (folded[i].startsWith(query)) starts.push(i);
      else if (inside.length < 12 && folded[i].includes(query)) inside.push(i);
    }
    return [...starts, ...inside].slice(0, 12);
  };
  const suggest = (words) => {
    list.replaceChildren(
      ...words.map((word) => {
        const button = make("button", { type: "button" }, bdi(vocabulary[word]));
        button.addEventListener("click", () => {
          input.value = vocabulary[word];
          choose(word);
        });
        return make("li", {}, button);
      }),
    );
  };
  const sentence = (word) => {
    if (!lookup.tokens) return "";
    const times = bursts(word);
    const kind = times > 1.25 * mean ? "burstier than most" : times < 0.8 * mean ? "less bursty than most" : "as bursty as most";
    return say(` occurs ${counted(lookup.tokens[word], "time")}, in ${counted(lookup.documents[word], "document")}: ` +
      `${times.toFixed(2)} times per document that contains it (${kind}; the mean is ${mean.toFixed(2)}).`);
  };
  const groupRows = () => {
    const pairs = lookup.groups[chosen] || [];
    const rows = [];
    for (let i = 0; i < pairs.length; i += 2) rows.push({ group: lookup.titles[pairs[i]], share: pairs[i + 1] });
    return rows;
  };
  fillers["word-groups"] = groupRows;
  const choose = (word) => {
    chosen = word;
    const marks = lookup.marks ? ` It is discriminative with probability ${lookup.marks[word].toFixed(2)}.` : "";
    byId("word-answer").replaceChildren(make("p", {}, make("strong", {}, bdi(vocabulary[word])), sentence(word) + marks));
    const lines = (lookup.contexts && lookup.contexts[word]) || [];
    byId("word-contexts").replaceChildren(...lines.map(([before, it, after]) => make("li", {}, before, make("mark", {}, it), after)));
    byId("word-caption").textContent = `Share of its occurrences in each ${lookup.what}.`;
    byId("word-figure").hidden = false;
    refill("word-groups");
  };
  input.addEventListener("input", later(80, () => {
    const query = fold(input.value.trim());
    if (!query) return suggest(burstiest());
    const found = matches(query);
    suggest(found);
    const exact = folded.indexOf(query);
    if (exact >= 0) choose(exact);
    else if (!found.length) {
      byId("word-figure").hidden = true;
      byId("word-answer").replaceChildren(make("p", {}, say("No matching words.")));
    }
  }));
  vocabulary.forEach((word, i) => numberOfWord.set(word, i));
  lookUp = (word) => {
    input.value = vocabulary[word];
    suggest(matches(folded[word]));
    choose(word);
    byId("tab-words").click();
    scrollTo(0, 0);
  };
  linkWords(document);
  const first = burstiest();
  suggest(first);
  if (first.length) choose(first[0]);
}
