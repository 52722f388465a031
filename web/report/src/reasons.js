// Does a model name the right reason? Compared with people, with images whose reason is known, and with the amount of data.
import * as Plot from "@observablehq/plot";
import { axisNumber, chart, legend, lineMarks } from "./chart.js";
import { h } from "./elements.js";
import { fixed, lineStyle, percent } from "./names.js";

const verdicts = [["accept", "sure"], ["ambiguous", "ambiguous"], ["unfamiliar", "unfamiliar"], ["undecided", "undecided"]];
const unique = (values) => [...new Set(values)];

function people(rows) {
  const models = unique(rows.map((row) => row.model));
  const measures = unique(rows.map((row) => row.label));
  const style = (row) => measures.indexOf(row.label);
  const colour = (row) => lineStyle(style(row)).stroke;
  // One line per model and measure; the lines of a model stand together.
  const place = (row) => models.indexOf(row.model) + 0.16 * (style(row) - (measures.length - 1) / 2);
  const marks = rows.map((row) => ({ ...row, y: place(row) }));
  const box = chart("Rank correlation with the entropy of people’s labels", (width) => ({
    height: 52 + 56 * models.length,
    marginLeft: Math.min(150, 0.3 * width),
    x: { label: "rank correlation with people →", grid: true, nice: true, zero: true, ticks: 5, tickFormat: axisNumber },
    y: { domain: [models.length - 0.4, -0.6], ticks: models.map((_, i) => i), tickFormat: (i) => models[i] ?? "", tickSize: 0, label: null },
    marks: [
      Plot.ruleX([0], { stroke: "var(--line-strong)" }),
      ...measures.map((label, i) => Plot.line(marks.filter((row) => row.label === label)
        .flatMap(({ model, low, high, y }) => [{ x: low, y, model }, { x: high, y, model }]), { x: "x", y: "y", z: "model", ...lineStyle(i) })),
      Plot.dot(marks, { x: "value", y: "y", r: 4, fill: colour }),
      Plot.tip(marks, Plot.pointer({ x: "value", y: "y", fontSize: 12,
        title: (row) => `${row.model}\n${row.label}\n${fixed(row.value, 3)} (${fixed(row.low, 3)} to ${fixed(row.high, 3)})` })),
    ],
  }));
  return h("div", { class: "card" }, h("h4", {}, "Against people"),
    h("p", { class: "caption" }, "Does a measure put CIFAR-10’s test images into the same order as the disagreement of people? Lines are 95 % intervals."),
    box, legend(measures.map((name, i) => ({ name, style: i }))));
}

function bar(row) {
  const shown = verdicts.filter(([key]) => row[key] > 0);
  const text = shown.map(([key, name]) => `${percent(row[key], 1)} % ${name}`).join(", ");
  return h("div", { class: "verdicts-row" }, h("span", { class: "group" }, row.group, h("small", {}, ` ${row.images}`)),
    h("div", { class: "verdicts-bar", role: "img", "aria-label": `${row.group}: ${text}`, title: text },
      shown.map(([key]) => h("span", { class: key, style: `flex: ${row[key]}` }, row[key] >= 0.12 ? percent(row[key], 0) : ""))));
}

function causes(rows) {
  return h("div", { class: "causes" }, h("h4", {}, "Which cause a verdict names"),
    h("p", { class: "caption" }, "Shares in % of images of each kind, at 5 % false alarms on test images. Images on which people disagree should be ambiguous, images of other things unfamiliar, and images on which all people agree sure."),
    h("ul", { class: "legend" }, verdicts.map(([key, name]) => h("li", {}, h("i", { class: `swatch ${key}`, "aria-hidden": "true" }), h("span", {}, name)))),
    h("div", { class: "triple verdicts" }, unique(rows.map((row) => row.model)).map((model) =>
      h("div", { class: "card" }, h("h4", {}, model), rows.filter((row) => row.model === model && row.images > 0).map(bar)))));
}

function amounts(rows) {
  const parts = [["data", "expected entropy (data)"], ["knowledge", "mutual information"]];
  const lines = unique(rows.map((row) => row.model)).flatMap((model, m) => parts.map(([key, name], p) => ({
    name: `${model}: ${name}`,
    style: 2 * m + p,
    points: rows.filter((row) => row.model === model).map((row) => ({ x: row.images, y: row[key].value, low: row[key].low, high: row[key].high })),
  })));
  const describe = (d, line) => `${line.name}\n${d.x} training images\n${fixed(d.y, 4)} nats (${fixed(d.low, 4)} to ${fixed(d.high, 4)})`;
  const sizes = unique(rows.map((row) => row.images));
  const box = chart("Uncertainty against the number of training images", () => ({
    x: { type: "log", label: "training images →", ticks: sizes, tickFormat: (n) => n.toLocaleString("en") },
    y: { label: "↑ mean over the test images, nats", grid: true, zero: true, nice: true, ticks: 5, tickFormat: axisNumber },
    marks: lineMarks(lines, describe, { marker: "dot" }),
  }));
  return h("div", { class: "card" }, h("h4", {}, "Against the amount of training data"),
    h("p", { class: "caption" }, "More data should reduce the mutual information. It should not change the expected entropy, which is a property of the images. Every network took the same number of steps."),
    box, legend(lines));
}

export const reasons = (data) => h("div", {},
  h("div", { class: "pair" }, data.people.length > 0 && people(data.people), data.amounts.length > 0 && amounts(data.amounts)),
  data.verdicts.length > 0 && causes(data.verdicts));
