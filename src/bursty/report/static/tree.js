"use strict";
function startTree() {
  const { merges, heights, shares, order, titles, words, kept, colours } = data.tree;
  const count = titles.length;
  const slider = byId("branches");
  const below = (node) => (node < count ? [node] : merges[node - count].flatMap(below));
  const place = [];
  order.forEach((leaf, row) => (place[leaf] = row));
  merges.forEach(([i, j], t) => (place[count + t] = (place[i] + place[j]) / 2));
  const height = (node) => (node < count ? 0 : heights[node - count]);
  const cut = () => {
    const last = 2 * count - Number(slider.value);
    const gone = new Set(merges.slice(0, last - count).flat());
    return Array.from({ length: last }, (_, node) => node).filter((node) => !gone.has(node)).sort((a, b) => place[a] - place[b]);
  };
  const segments = () => {
    const colour = Array(2 * count - 1).fill("#8a8a8a");
    const paint = (node, value) => {
      colour[node] = value;
      if (node >= count) merges[node - count].forEach((child) => paint(child, value));
    };
    cut().forEach((node, i) => paint(node, colours[i % (colours.length - 1)]));
    return merges.flatMap(([i, j], t) => {
      const node = count + t;
      const line = (child) => ({ x: height(child), x2: heights[t], y: place[child], y2: place[child], colour: colour[child] });
      return [line(i), line(j), { x: heights[t], x2: heights[t], y: place[i], y2: place[j], colour: colour[node] }];
    });
  };
  fillers.tree = segments;
  const show = () => {
    const nodes = cut();
    byId("branches-value").textContent = slider.value;
    byId("branches-kept").textContent = `With ${nodes.length} of ${count}, ${kept[nodes.length - 1]} of the differences are kept.`;
    byId("branch-list").replaceChildren(...nodes.map((node) =>
      make("article", { className: "card" },
        make("h3", {}, bdi(node < count ? titles[node] : words[node])),
        make("p", { className: "size" }, make("strong", {}, shares[node])),
        make("ul", { className: "names" }, ...(node < count ? [] : below(node)).map((leaf) => make("li", {}, bdi(titles[leaf]), ` ${shares[leaf]}`))),
      )));
  };
  slider.addEventListener("input", () => {
    show();
    refill("tree");
  });
  show();
}
