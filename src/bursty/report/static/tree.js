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
  // The last colour is grey, that of merges which are not made.
  const hue = (i) => colours[i % (colours.length - 1)];
  const segments = () => {
    const colour = Array(2 * count - 1).fill("#8a8a8a");
    const paint = (node, value) => {
      colour[node] = value;
      if (node >= count) merges[node - count].forEach((child) => paint(child, value));
    };
    cut().forEach((node, i) => paint(node, hue(i)));
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
    byId("branch-list").replaceChildren(...nodes.map((node) => {
      const leaves = node < count ? [] : below(node).map((leaf) => make("li", {}, bdi(titles[leaf]), make("small", {}, ` ${shares[leaf]}`)));
      const head = make("strong", {}, bdi(node < count ? titles[node] : words[node]));
      const mark = make("span", { className: "swatch", "aria-hidden": "true" }, "■");
      mark.style.color = hue(nodes.indexOf(node));
      return make("li", {}, mark, head, make("small", {}, ` ${shares[node]}`), ...(leaves.length ? [make("ul", {}, ...leaves)] : []));
    }));
  };
  slider.addEventListener("input", () => {
    show();
    refill("tree");
  });
  show();
}
