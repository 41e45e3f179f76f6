"use strict";
// The width of a chart is measured from the page, because its container may be hidden.
const ERRORS_ONLY = 1;
const ROW = 23;
const charts = {};
// Functions that return the rows of charts that depend on the reader's choice.
const fillers = {};

function roomFor(place) {
  const main = byId("main");
  const style = getComputedStyle(main);
  const whole = main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const columns = place.closest(".columns") && whole > 820 ? 2 : 1;
  return Math.floor((whole - 40 * (columns - 1)) / columns);
}

// The chart library uses values as keys of plain objects, where a word such as "constructor" already exists.
const nameInChart = (text) => (text in Object.prototype ? text + "\u200b" : text);
const rowInChart = (row) =>
  Object.fromEntries(Object.entries(row).map(([key, value]) => [key, typeof value === "string" ? nameInChart(value) : value]));
const rowsOf = (name) => fillers[name]().map(rowInChart);

function fitted(spec, whole) {
  const { widest = Infinity, columns = 0 } = spec.usermeta || {};
  // A table of many columns is drawn wider than the page rather than unreadable: its container scrolls.
  const room = Math.max(Math.min(whole, widest), columns ? 170 + 22 * columns : 0);
  const narrow = room < 560;
  const copy = JSON.parse(JSON.stringify(spec), (key, value) => {
    if (key === "labelLimit") return Math.min(value, Math.max(90, 0.42 * room));
    if (typeof value === "string") return nameInChart(value);
    // Below each other, names have the whole width.
    if (key === "legend" && value && value.columns && narrow) return { ...value, columns: 1, labelLimit: room - 40 };
    return value;
  });
  // Cells too small for their numbers show only shades; the numbers are in the tooltip and the table.
  if (columns && (room - 170) / columns < 34) copy.layer = copy.layer.filter((layer) => layer.name !== "cell");
  if (copy.facet) {
    copy.columns = narrow ? 1 : room < 900 ? 2 : copy.columns;
    copy.spec.width = Math.floor((room - 48 - 22 * (copy.columns - 1)) / copy.columns) - 4;
    copy.facet.header.labelLimit = copy.spec.width;
  } else {
    copy.width = room;
    copy.autosize = { type: "fit-x", contains: "padding" };
  }
  const text = { labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 };
  copy.config = {
    background: null,
    // The font of the page, so that labels are measured in the font they are shown in.
    font: getComputedStyle(document.body).fontFamily,
    axis: { ...text, titlePadding: 8 },
    legend: { ...text, symbolSize: 90 },
    header: { labelFontSize: 12, labelFontWeight: 600, labelAnchor: "start", labelLimit: room },
    view: { stroke: null },
    ...(copy.config || {}),
  };
  return copy;
}

async function drawChart(place) {
  const name = place.dataset.chart;
  const spec = data.charts[name];
  const caption = place.parentElement.querySelector("figcaption");
  const drawn = fitted({ ...spec, description: caption ? caption.textContent : name }, roomFor(place));
  if (fillers[name]) {
    drawn.data.values = rowsOf(name);
    drawn.height = ROW * Math.max(1, (spec.usermeta || {}).rows || drawn.data.values.length);
  }
  // ast: expressions are interpreted, so that the page's policy can forbid eval.
  const options = { renderer: "svg", actions: false, ast: true, mode: "vega-lite", logLevel: ERRORS_ONLY };
  const old = charts[name];
  charts[name] = await vegaEmbed(place, drawn, options);
  if (old) old.finalize();
}

async function drawAll() {
  for (const place of document.querySelectorAll(".chart")) await drawChart(place);
  document.documentElement.dataset.drawn = "yes";
}

async function refill(name) {
  const chart = charts[name];
  if (!chart) return;
  const rows = rowsOf(name);
  if (rows.length === chart.spec.data.values.length) await chart.view.data(chart.spec.data.name, rows).runAsync();
  else await drawChart(document.querySelector(`[data-chart="${name}"]`));
}
