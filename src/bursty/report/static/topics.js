"use strict";
function startTopics() {
  const { topics, vocabulary } = data;
  const select = byId("topic");
  const slider = byId("relevance");
  const ranked = () => {
    const topic = topics[Number(select.value)];
    const weight = Number(slider.value);
    const relevance = (i) => {
      const p = Math.log(Math.max(topic.p[i], 1e-300));
      return weight * p + (1 - weight) * (p - Math.log(Math.max(topic.overall[i], 1e-300)));
    };
    return topic.words
      .map((word, i) => ({ word: vocabulary[word], topic: topic.p[i], corpus: topic.overall[i], score: relevance(i) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 20);
  };
  fillers["topic-words"] = ranked;
  const fill = () => refill("topic-words");
  const facts = () => {
    const topic = topics[Number(select.value)];
    const parts = [make("p", {}, make("strong", {}, topic.share), say(" of a document on average"), topic.bursts ? `; ${topic.bursts}` : "")];
    if (topic.bursty_words.length) {
      const [[first, again, plain], ...others] = topic.bursty_words;
      parts.push(make("h3", {}, say("Burstiest words")));
      parts.push(make("p", { className: "words bursts" }, bdi(first), say(`: used again in ${again} of the documents that have it (by chance ${plain})`), ...others.flatMap(([word, more, less], i) => [i ? ", " : "; ", bdi(word), ` ${more} (${less})`])));
    }
    if (topic.similar.length) {
      parts.push(make("h3", {}, "Similar topics"));
      parts.push(make("ul", { className: "chips" }, ...topic.similar.map(([other, share]) => {
        const button = make("button", { type: "button" }, bdi(topics[other].title));
        button.addEventListener("click", () => {
          select.value = String(other);
          change();
        });
        return make("li", {}, button, make("small", {}, ` ${share} in common `));
      })));
    }
    parts.push(make("h3", {}, say("Top documents")));
    parts.push(make("ul", { className: "names" }, ...topic.documents.map(([name, share, parts]) => make("li", {}, bdi(name), make("small", {}, ` (${share})`), ...(parts.length ? [passage(parts)] : [])))));
    byId("topic-facts").replaceChildren(...parts);
    linkWords(byId("topic-facts"));
  };
  const change = () => {
    facts();
    fill();
  };
  select.addEventListener("change", change);
  slider.addEventListener("input", () => {
    byId("relevance-value").textContent = Number(slider.value).toFixed(2).replace(/0$/, "");
    fill();
  });
  // So does a click on a bar or on its word.
  const chart = document.querySelector('[data-chart="topic-words"]');
  chart.addEventListener("click", (event) => {
    const top = chart.querySelector("svg").getBoundingClientRect().top + charts["topic-words"].view.origin()[1];
    const row = ranked()[Math.floor((event.clientY - top) / ROW)];
    if (row) lookUp(numberOfWord.get(row.word));
  });
  facts();
}
