// Whether probabilities can be believed, and what rejecting inputs gains.
import * as Plot from "@observablehq/plot";
import { chart, legend, lineMarks } from "./chart.js";
import { choice } from "./controls.js";
import { h } from "./elements.js";
import { lineStyle, measureName, modelName, percent } from "./names.js";

function reliability({ models }, isCalibrated) {
  const lines = models.map((model, style) =>
    ({ name: modelName(model), style, ece: model.ece, points: model.reliability.map((bin) => ({ x: bin.confidence, y: bin.accuracy, rows: bin.rows })) }));
  const describe = (d, line) => `${line.name}\nconfidence ${percent(d.x, 1)} %\nright ${percent(d.y, 1)} %\n${d.rows} inputs`;
  const box = chart("Reliability diagram: share that is right against confidence", () => ({
    x: { domain: [0, 1], label: "confidence: largest probability →", tickFormat: "~%", ticks: 5 },
    y: { domain: [0, 1], label: "↑ share that is right", tickFormat: "~%", ticks: 5, grid: true },
    r: { range: [1.5, 8] },
    marks: [
      Plot.line([[0, 0], [1, 1]], { stroke: "var(--line-strong)", strokeDasharray: "2 4" }),
      ...lines.map((line) => Plot.dot(line.points, { x: "x", y: "y", r: "rows", fill: lineStyle(line.style).stroke, fillOpacity: 0.35 })),
      ...lineMarks(lines, describe),
    ],
  }));
  return h("div", { class: "card" }, h("h4", {}, isCalibrated ? "Reliability before calibration" : "Reliability"),
    h("p", { class: "caption" }, "On the dotted line confidence and accuracy agree; the larger a dot, the more inputs."), box,
    legend(lines.map((line) => ({ ...line, value: percent(line.ece) })), `ECE${isCalibrated ? " before calibration" : ""}, points`));
}

function rejection({ models }) {
  let chosen = models.length - 1;
  const key = h("div");
  const lines = () => models[chosen].measures.map((m, style) =>
    ({ name: measureName(m.measure), style, aurc: m.risk.aurc, points: m.risk.points[0].map((x, i) => ({ x, y: 100 * m.risk.points[1][i] })) }));
  const describe = (d, line) => `${line.name}\nkept ${percent(d.x, 1)} %\nerror of these ${d.y.toFixed(2)} %`;
  const box = chart("Risk against coverage", () => ({
    x: { domain: [0, 1], label: "share of inputs that is kept →", tickFormat: "~%", ticks: 5 },
    y: { label: "↑ error of the inputs that are kept, %", grid: true, nice: true, zero: true, ticks: 5 },
    marks: lineMarks(lines(), describe, { isCurve: true }),
  }));
  const draw = () => {
    box.redraw();
    key.replaceChildren(legend(lines().map((line) => ({ ...line, value: percent(line.aurc) })), "AURC, %"));
  };
  const model = choice("Model", (value) => {
    chosen = Number(value);
    draw();
  });
  model.set(models.map((m, i) => ({ value: i, text: modelName(m) })), chosen);
  draw();
  return h("div", { class: "card" }, h("div", { class: "row" }, h("h4", {}, "Risk and coverage"), model),
    h("p", { class: "caption" }, "The least certain inputs are rejected first: the lower a line, the better its measure knows the errors."), box, key);
}

// `isCalibrated`: the model is, and these are the probabilities from before.
export const calibration = (curves, isCalibrated) => h("div", { class: "pair" }, reliability(curves, isCalibrated), rejection(curves));
