import { axisNumber, chart, logNumber, legend, lineMarks } from "./chart.js";
import { h } from "./elements.js";
import { modelName, short } from "./names.js";

// Models may share a run: they are one line.
function runs(models) {
  const found = new Map();
  for (const model of models) {
    if (model.training.length === 0) continue;
    const key = JSON.stringify(model.training);
    if (found.has(key)) found.get(key).names.push(modelName(model));
    else found.set(key, { names: [modelName(model)], epochs: model.training });
  }
  return [...found.values()].map((run, style) => ({ name: run.names.join(" and "), style, epochs: run.epochs }));
}

const panels = [
  { key: "loss", title: "Training loss", label: "↑ loss, nats", scale: 1 },
  { key: "validation_error", title: "Validation error", label: "↑ error, %", scale: 100 },
  { key: "rate", title: "Learning rate", label: "↑ rate", scale: 1 },
];

export function training(curves) {
  const all = runs(curves.models);
  if (all.length === 0) return null;
  const cards = panels.flatMap(({ key, title, label, scale }) => {
    const lines = all.filter((run) => run.epochs.some((epoch) => key in epoch)).map((run) =>
      ({ ...run, points: run.epochs.filter((epoch) => key in epoch).map((epoch) => ({ x: epoch.epoch, y: scale * epoch[key] })) }));
    if (lines.length === 0) return [];
    const values = lines.flatMap((line) => line.points.map((point) => point.y));
    const wide = Math.min(...values) > 0 && Math.max(...values) > 50 * Math.min(...values);
    const describe = (d, line) => `${line.name}\nepoch ${d.x}\n${short(d.y)}`;
    const box = chart(`${title} by epoch`, () => ({
      height: 240,
      x: { label: "epoch →", tickFormat: "d", ticks: 5, interval: values.length < 20 ? 1 : undefined },
      y: { label, grid: true, nice: true, type: wide ? "log" : "linear", zero: !wide && key !== "loss", ticks: 5, tickFormat: wide ? logNumber : axisNumber },
      marks: lineMarks(lines, describe, { marker: values.length < 60 ? "dot" : undefined }),
    }));
    return [h("div", { class: "card" }, h("h4", {}, title), box)];
  });
  return h("div", {}, legend(all), h("div", { class: "triple" }, cards));
}
