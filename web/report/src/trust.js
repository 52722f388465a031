// How far the probabilities of a model can be believed, and what handing inputs back buys.
import * as Plot from "@observablehq/plot";
import { axisNumber, chart, legend, lineMarks } from "./chart.js";
import { h } from "./elements.js";
import { lineStyle, percent, short } from "./names.js";

const points = (share) => `${percent(share, 1)} points`;

function probabilities({ test, operating_point: point }) {
  const bins = (name, style, ece, list) => ({ name, style, ece, points: list.map((bin) => ({ x: bin.confidence, y: bin.accuracy, rows: bin.rows })) });
  const lines = [bins(point ? "calibrated, as it is served" : "as the network gives them", 0, test.ece, test.reliability)];
  if (point) lines.push(bins("before calibration", 1, test.ece_before_temperature, test.reliability_before_temperature));
  const describe = (d, line) => `${line.name}\nit says ${percent(d.x, 1)} %\nright ${percent(d.y, 1)} %\n${d.rows} inputs`;
  const box = chart("How often the model is right against how sure it says it is", () => ({
    x: { domain: [0, 1], label: "how sure it says it is →", tickFormat: "~%", ticks: 5 },
    y: { domain: [0, 1], label: "↑ how often it is right", tickFormat: "~%", ticks: 5, grid: true },
    r: { range: [1.5, 8] },
    marks: [
      Plot.line([[0, 0], [1, 1]], { stroke: "var(--line-strong)", strokeDasharray: "2 4" }),
      ...lines.map((line) => Plot.dot(line.points, { x: "x", y: "y", r: "rows", fill: lineStyle(line.style).stroke, fillOpacity: 0.35 })),
      ...lineMarks(lines, describe),
    ],
  }));
  return h("div", { class: "card" }, h("h4", {}, "Does 90 % mean 90 %?"),
    h("p", { class: "caption" }, "On the dotted line the model is right as often as it says. Below the line it is too sure, above it too modest. A larger dot stands for more inputs.",
      point && ` Calibration divides the network's logits by ${short(Number(point.temperature.toPrecision(3)))}.`), box,
    legend(lines.map((line) => ({ ...line, value: points(line.ece) })), "Mean difference (ECE):"));
}

// The error of accepted inputs as more and more inputs are handed back, most uncertain first, and the point where the
// model's limits lie.
function handingBack({ test, operating_point: point }) {
  const [coverage, risk] = test.risk_coverage.points;
  const line = { name: "error of what is accepted", style: 0, points: coverage.map((x, i) => ({ x, y: 100 * risk[i] })) };
  const at = point && test.accepted_error && { x: test.verdicts.accept / test.size, y: 100 * test.accepted_error.value };
  const describe = (d) => `accepts ${percent(d.x, 1)} %\nof these wrong ${d.y.toFixed(1)} %`;
  const words = at && `accepts ${percent(at.x, 1)} %, ${at.y.toFixed(1)} % wrong`;
  const box = chart(`Error of accepted answers against the share that is accepted${at ? `; at its limits the model ${words}` : ""}`, () => ({
    x: { domain: [0, 1], label: "share of inputs that it answers itself →", tickFormat: "~%", ticks: 5 },
    y: { label: "↑ wrong among these, %", grid: true, nice: true, zero: true, ticks: 5, tickFormat: axisNumber },
    marks: [
      ...lineMarks([line], describe, { isCurve: true }),
      at && Plot.ruleX([at], { x: "x", y: "y", stroke: "var(--line-strong)", strokeDasharray: "2 3" }),
      at && Plot.dot([at], { x: "x", y: "y", r: 6, fill: "var(--series-2)", stroke: "var(--card)", strokeWidth: 2, className: "operating-point" }),
    ],
  }));
  const [full] = line.points.slice(-1);
  return h("div", { class: "card" }, h("h4", {}, "What is gained by handing inputs back"),
    h("p", { class: "caption" }, point
      ? "The most unusual inputs are handed back first. From right to left more inputs are handed back, and the remaining answers should be wrong less often."
      : "If the least probable answers were handed back first: from right to left more inputs are handed back, and the remaining answers should be wrong less often."),
    box,
    h("ul", { class: "legend" },
      at && h("li", {}, h("i", { class: "swatch dot" }), h("span", {}, "with the present limits:"), h("b", {}, words)),
      h("li", {}, h("span", {}, "nothing handed back:"), h("b", {}, `${full.y.toFixed(1)} % wrong`))));
}

export const trust = (summary) => h("div", { class: "pair" }, probabilities(summary), handingBack(summary));
