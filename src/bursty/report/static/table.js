"use strict";
function startTable() {
  const { columns, begins, keywords, total } = data.documents;
  const words = data.vocabulary || [];
  const KEYWORDS = data.units ? say("Key words") : "Keywords";
  const count = columns[0].values.length;
  const cell = (column, row) => {
    const value = column.values[row];
    if (value === null) return "";
    if (column.type === "code") return column.names[value];
    if (column.type === "share") return percent(value);
    return column.type === "number" ? value.toLocaleString("en") : String(value);
  };
  const keywordsOf = (row) => keywords[row].map((word) => words[word]).join(", ");
  let texts = null;
  const textOf = () => {
    const searched = columns.filter((column) => ["text", "code", "plain"].includes(column.type));
    texts ||= Array.from({ length: count }, (_, row) =>
      fold(
        searched.map((column) => cell(column, row)).join("\n") + (keywords ? "\n" + keywordsOf(row) : "") + (begins ? "\n" + begins[row] : ""),
      ),
    );
    return texts;
  };
  const state = { query: "", filter: "", sort: -1, down: false, page: 0, size: 25 };
  const compare = (column) => (a, b) => {
    const x = column.values[a], y = column.values[b];
    if (x === y) return a - b;
    if (x === null || y === null) return x === null ? 1 : -1;
    const order = typeof x === "string" ? x.localeCompare(y) : x - y;
    return state.down ? -order : order;
  };
  const narrowed = columns.findIndex((column) => column.filter);
  let rows = [];
  const choose = () => {
    const parts = fold(state.query).split(/\s+/).filter(Boolean);
    const only = state.filter === "" ? null : Number(state.filter);
    rows = [];
    const haystack = parts.length ? textOf() : null;
    for (let row = 0; row < count; row++) {
      if (only !== null && columns[narrowed].values[row] !== only) continue;
      if (haystack && !parts.every((part) => haystack[row].includes(part))) continue;
      rows.push(row);
    }
    if (state.sort >= 0) rows.sort(compare(columns[state.sort]));
    state.page = 0;
    show();
  };
  const body = byId("table").tBodies[0];
  const numeric = (column) => ["number", "share", "plain"].includes(column.type);
  const show = () => {
    const first = state.page * state.size;
    const shown = rows.slice(first, first + state.size);
    body.replaceChildren(
      ...shown.map((row) => {
        // A cell without content has no child either: on phones such cells are not shown.
        const td = (className, title, text) => make("td", { className, "data-title": title }, ...(text ? [bdi(text)] : []));
        const cells = columns.map((column) => td(numeric(column) ? "n" : column.type, column.title, cell(column, row)));
        if (begins && begins[row]) cells[0].append(make("small", { className: "begins" }, bdi(begins[row])));
        if (keywords) cells.push(td("wide", KEYWORDS, keywordsOf(row)));
        return make("tr", {}, ...cells);
      }),
    );
    const pages = Math.max(1, Math.ceil(rows.length / state.size));
    const range = rows.length ? `${(first + 1).toLocaleString("en")} to ${(first + shown.length).toLocaleString("en")} of ` : "";
    byId("table-status").textContent = `${range}${say(counted(rows.length, "document"))}`;
    byId("table-page").textContent = `Page ${state.page + 1} of ${pages}`;
    byId("table-back").disabled = state.page === 0;
    byId("table-next").disabled = state.page >= pages - 1;
  };
  const heads = columns.map((column, i) => {
    const button = make("button", { type: "button" }, column.title);
    const head = make("th", { scope: "col", className: numeric(column) ? "n" : "" }, button);
    button.addEventListener("click", () => {
      state.down = state.sort === i ? !state.down : column.type === "share" || column.type === "number";
      state.sort = i;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      choose();
    });
    return head;
  });
  const extra = keywords ? [make("th", { scope: "col" }, KEYWORDS)] : [];
  byId("table").tHead.append(make("tr", {}, ...heads, ...extra));
  byId("table-search").addEventListener("input", later(120, (event) => {
    state.query = event.target.value;
    choose();
  }));
  byId("table-size").addEventListener("change", (event) => {
    state.size = Number(event.target.value);
    state.page = 0;
    show();
  });
  const turn = (step) => () => {
    state.page += step;
    show();
  };
  byId("table-back").addEventListener("click", turn(-1));
  byId("table-next").addEventListener("click", turn(1));
  if (narrowed >= 0) {
    const filter = byId("table-filter");
    filter.append(make("option", { value: "" }, "all"));
    columns[narrowed].names.forEach((name, i) => filter.append(make("option", { value: String(i) }, name)));
    filter.addEventListener("change", () => {
      state.filter = filter.value;
      choose();
    });
  }
  byId("table-filter-label").hidden = narrowed < 0;
  byId("table-part").hidden = count === total;
  byId("table-part").textContent = say(`The table has ${count.toLocaleString("en")} of ${total.toLocaleString("en")} documents: the least certain ` +
    "of all, and the most certain of each group. All of them are in documents.csv (--out of the command line), or come from predict in Python.");
  choose();
}
