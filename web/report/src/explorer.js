// ROC and precision-recall curves and histograms of scores: which set, model and measure is the reader's choice.
import * as Plot from "@observablehq/plot";
import { axisNumber, chart, legend, lineMarks, logNumber } from "./chart.js";
import { choice, switcher } from "./controls.js";
import { h } from "./elements.js";
import { isConfidence, lineStyle, measureName, measureUnit, modelName, percent, short } from "./names.js";

const misclassified = 0; // the first task of every measure

const pointsOf = ([x, y]) => x.map((value, i) => ({ x: value, y: y[i] }));

function steps(counts, { low, high }) {
  const total = counts.reduce((sum, count) => sum + count, 0) || 1;
  const width = (high - low) / counts.length;
  return counts.map((count, i) => ({ x1: low + i * width, x2: low + (i + 1) * width, y: (100 * count) / total, count }));
}

class Explorer {
  constructor(curves) {
    this.curves = curves;
    const last = curves.models.at(-1);
    const dirichlet = curves.models.findLast((model) => model.measures.some((m) => m.measure === "differential_entropy"));
    this.model = curves.models.indexOf(dirichlet ?? last);
    this.measure = dirichlet ? "differential_entropy" : last.measures[0].measure;
    this.task = curves.sets.length > 1 ? 1 : misclassified;
    this.lines = "measures";
    this.logarithmic = false;
    this.corner = false;
  }

  taskName(task) {
    return task === misclassified ? "Misclassified inputs" : this.curves.sets[task];
  }

  entry(model = this.model, measure = this.measure) {
    return this.curves.models[model].measures.find((m) => m.measure === measure);
  }

  // The lines to draw: one per model, measure or set; the reader chooses the other two.
  drawn() {
    const { curves } = this;
    const candidates = {
      models: () => curves.models.map((model, i) => ({ name: modelName(model), task: this.entry(i)?.tasks[this.task] })),
      measures: () => curves.models[this.model].measures.map((m) => ({ name: measureName(m.measure), task: m.tasks[this.task] })),
      sets: () => curves.sets.map((_, i) => ({ name: this.taskName(i), task: this.entry()?.tasks[i] })),
    };
    return candidates[this.lines]().map((line, style) => ({ ...line, style })).filter((line) => line.task);
  }

  caption() {
    const parts = [];
    if (this.lines !== "models") parts.push(modelName(this.curves.models[this.model]));
    if (this.lines !== "measures") parts.push(measureName(this.measure));
    if (this.lines !== "sets") parts.push(this.taskName(this.task));
    return parts.join(" · ");
  }

  fill() {
    const { curves } = this;
    const measures = this.lines === "models"
      ? [...new Set(curves.models.flatMap((model) => model.measures.map((m) => m.measure)))]
      : curves.models[this.model].measures.map((m) => m.measure);
    if (!measures.includes(this.measure)) this.measure = measures.includes("entropy") ? "entropy" : measures[0];
    this.choices.model.set(curves.models.map((model, i) => ({ value: i, text: modelName(model) })), this.model);
    this.choices.measure.set(measures.map((measure) => ({ value: measure, text: measureName(measure) })), this.measure);
    this.choices.set.set(curves.sets.map((_, i) => ({ value: i, text: this.taskName(i) })), this.task);
    this.redraw();
  }

  redraw() {
    for (const box of this.charts) box.redraw();
    this.keys.roc.replaceChildren(legend(this.drawn().map((line) => ({ ...line, value: percent(line.task.auroc) })), "AUROC, %"));
    this.keys.pr.replaceChildren(legend(this.drawn().map((line) => ({ ...line, value: percent(line.task.aupr) })), "AUPR, %"));
    const entry = this.histogramEntry();
    this.keys.histogram.replaceChildren(legend(this.histograms().map(({ name, style, total }) =>
      ({ name, style, value: `${total.toLocaleString("en-GB")} inputs` })), `${modelName(this.curves.models[this.model])} · ${measureName(entry.measure)}`));
    for (const caption of this.captions) caption.textContent = this.caption();
  }

  // A model without the chosen measure shows its entropy. The choices allow this only for a list of models.
  histogramEntry() {
    return this.entry() ?? this.curves.models[this.model].measures.find((m) => m.measure === "entropy");
  }

  histograms() {
    const { histograms } = this.histogramEntry();
    const inside = histograms.sets[0];
    const series = this.task === misclassified
      ? [["Right", inside.map((count, i) => count - histograms.wrong[i])], ["Misclassified", histograms.wrong]]
      : [[this.curves.sets[0], inside], [this.curves.sets[this.task], histograms.sets[this.task]]];
    return series.map(([name, counts], style) =>
      ({ name, style, total: counts.reduce((sum, count) => sum + count, 0), bars: steps(counts, histograms) }));
  }

  histogramPlot() {
    const series = this.histograms();
    const { measure } = this.histogramEntry();
    const floor = this.logarithmic ? 0.01 : 0;
    const outline = ({ bars }) => bars.flatMap(({ x1, x2, y }) => [{ x: x1, y: Math.max(y, floor) }, { x: x2, y: Math.max(y, floor) }]);
    const all = series.flatMap((s) => s.bars.filter((bar) => bar.count > 0).map((bar) => ({ ...bar, ...{ name: s.name, x: (bar.x1 + bar.x2) / 2 } })));
    return {
      height: 280,
      x: { label: `${[measureName(measure), measureUnit(measure)].filter(Boolean).join(", ")} ${isConfidence(measure) ? "(high: certain)" : "(high: uncertain)"} →` },
      y: { label: "↑ share of inputs, %", type: this.logarithmic ? "log" : "linear", grid: true, nice: true, tickFormat: this.logarithmic ? logNumber : axisNumber, ticks: 5 },
      marks: [
        ...series.map((s) => Plot.areaY(outline(s), { x: "x", y1: floor, y2: "y", fill: lineStyle(s.style).stroke, fillOpacity: 0.18 })),
        ...series.map((s) => Plot.line(outline(s), { x: "x", y: "y", ...lineStyle(s.style), strokeWidth: 1.6 })),
        Plot.tip(all, Plot.pointerX({ x: "x", y: "y", fontSize: 12, title: (d) =>
          `${d.name}\n${short(d.x1)} to ${short(d.x2)}\n${d.y.toFixed(2)} % (${d.count} inputs)` })),
      ],
    };
  }

  curvePlot(kind) {
    const isRoc = kind === "roc";
    const lines = this.drawn().map((line) => ({ ...line, points: pointsOf(line.task[kind]) }));
    const describe = (d, line) => `${line.name}\n${isRoc ? "FPR" : "recall"} ${percent(d.x, 1)} %\n${isRoc ? "TPR" : "precision"} ${percent(d.y, 1)} %`;
    const corner = isRoc ? { x: [0, 0.2], y: [0.8, 1] } : { x: [0.8, 1], y: [0.8, 1] };
    const domain = this.corner ? corner : { x: [0, 1], y: [0, 1] };
    return {
      x: { domain: domain.x, label: isRoc ? "false positive rate →" : "recall →", tickFormat: "~%", ticks: 5 },
      y: { domain: domain.y, label: isRoc ? "↑ true positive rate" : "↑ precision", tickFormat: "~%", ticks: 5, grid: true },
      marks: [
        isRoc ? Plot.line([[0, 0], [1, 1]], { stroke: "var(--line-strong)", strokeDasharray: "2 4", clip: true }) : null,
        ...lineMarks(lines, describe, { clip: true, isCurve: true }),
      ],
    };
  }

  element() {
    const change = (key, parse = Number) => (value) => {
      this[key] = parse(value);
      this.fill();
    };
    this.choices = {
      set: choice("Detect", change("task")),
      model: choice("Model", change("model")),
      measure: choice("Measure", change("measure", String)),
    };
    const lines = switcher("A line for each", [{ value: "measures", text: "measure" }, { value: "models", text: "model" }, { value: "sets", text: "set" }],
      this.lines, (value) => {
        this.lines = value;
        this.fill();
      });
    const scale = switcher("Scale", [{ value: false, text: "linear" }, { value: true, text: "log" }], this.logarithmic, (value) => {
      this.logarithmic = value;
      this.redraw();
    });
    const axes = switcher("Axes", [{ value: false, text: "whole" }, { value: true, text: "best fifth" }], this.corner, (value) => {
      this.corner = value;
      this.redraw();
    });
    this.keys = { roc: h("div"), pr: h("div"), histogram: h("div") };
    this.captions = [h("p", { class: "caption" }), h("p", { class: "caption" })];
    const histogram = chart("Histograms of the chosen score", () => this.histogramPlot());
    const roc = chart("ROC curves", () => this.curvePlot("roc"));
    const pr = chart("Precision-recall curves", () => this.curvePlot("pr"));
    this.charts = [histogram, roc, pr];
    const element = h("div", { class: "explorer" },
      h("div", { class: "controls" }, this.choices.set, this.choices.model, this.choices.measure, lines, axes),
      h("div", { class: "card" }, h("div", { class: "row" }, h("h4", {}, "How the scores spread"), scale), this.keys.histogram, histogram),
      h("div", { class: "pair" },
        h("div", { class: "card" }, h("h4", {}, "ROC"), this.captions[0], roc, this.keys.roc),
        h("div", { class: "card" }, h("h4", {}, "Precision and recall"), this.captions[1], pr, this.keys.pr)));
    this.fill();
    return element;
  }
}

export const explorer = (curves) => new Explorer(curves).element();
