// A chart that is drawn as wide as its box and again when that changes.
import * as Plot from "@observablehq/plot";
import { h, svg } from "./elements.js";
import { lineStyle } from "./names.js";

const base = {
  marginLeft: 54,
  marginBottom: 42,
  marginTop: 30,
  marginRight: 16,
  style: { fontFamily: "inherit", fontSize: "12px", background: "none", overflow: "visible" },
};

// A number on an axis as people write it: 50, not 5e+1.
export const axisNumber = (value) => String(Number(value.toPrecision(3)));

const superscript = (number) => [...String(number)].map((digit) => (digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit])).join("");

// On a logarithmic axis: 0.01, 50, 10⁻⁵. Only 1, 2 and 5 of a power of ten have a label; more would overlap, and longer
// ones would leave the chart.
export function logNumber(value) {
  if (!(value > 0)) return axisNumber(value);
  const power = Math.floor(Math.log10(value) + 1e-9);
  const digit = Math.round(value / 10 ** power);
  if (![1, 2, 5].includes(digit)) return "";
  if (power >= -2 && power <= 3) return axisNumber(value);
  return `${digit === 1 ? "" : `${digit}·`}10${superscript(power)}`;
}

// `draw(width)` gives the options of Plot.plot. The box's `redraw` draws again at once.
export function chart(label, draw) {
  const box = h("div", { class: "chart" });
  let width = 0;
  box.redraw = () => {
    if (width === 0) return;
    const options = draw(width);
    const picture = Plot.plot({ ...base, height: Math.round(Math.min(360, width * 0.76)), ...options, width });
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", label);
    box.replaceChildren(picture);
  };
  new ResizeObserver(() => {
    const now = Math.floor(box.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    box.redraw();
  }).observe(box);
  return box;
}

// Adds points between those of a thinned curve, so that there is one wherever the reader points.
function between(points) {
  const size = Math.max(...points.map((point) => point.y)) || 1;
  return points.flatMap((point, i) => {
    if (i === 0) return [point];
    const before = points[i - 1];
    const count = Math.max(1, Math.ceil(50 * Math.max(point.x - before.x, Math.abs(point.y - before.y) / size)));
    return Array.from({ length: count }, (_, k) => {
      const share = (k + 1) / count;
      return { x: before.x + share * (point.x - before.x), y: before.y + share * (point.y - before.y) };
    });
  });
}

// Lines of points {x, y}, each with its own colour and dash, and the nearest point's values in a tip.
// `isCurve`: x is a share, and values between the points may be read off.
export function lineMarks(lines, describe, { isCurve = false, ...options } = {}) {
  const marks = lines.map((line) => Plot.line(line.points, { x: "x", y: "y", ...options, ...lineStyle(line.style) }));
  const all = lines.flatMap((line) => (isCurve ? between(line.points) : line.points).map((point) => ({ ...point, line })));
  const { clip } = options;
  marks.push(
    Plot.dot(all, Plot.pointer({ x: "x", y: "y", r: 4, clip, fill: (d) => lineStyle(d.line.style).stroke })),
    Plot.tip(all, Plot.pointer({ x: "x", y: "y", title: (d) => describe(d, d.line), fontSize: 12 })),
  );
  return marks;
}

const sample = (style) => {
  const { stroke, strokeDasharray } = lineStyle(style);
  return svg("svg", { width: 26, height: 10, "aria-hidden": "true" },
    svg("line", { x1: 1, x2: 25, y1: 5, y2: 5, style: `stroke: ${stroke}`, "stroke-width": 2.5, "stroke-dasharray": strokeDasharray }));
};

// A legend that gives the result of each line.
export const legend = (entries, heading) =>
  h("ul", { class: "legend" },
    heading && h("li", { class: "heading" }, heading),
    entries.map(({ style, name, value }) => h("li", {}, sample(style), h("span", {}, name), value && h("b", {}, value))));
