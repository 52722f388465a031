// Where a model is wrong: the errors of each class, and which class is taken for which.
import { h } from "./elements.js";
import { percent } from "./names.js";
import { count } from "./outcomes.js";

const listedClasses = 12; // the others behind a fold
const listedConfusions = 8;
const tableSide = 12; // more classes than that are drawn, not written

const rounded = (share) => `${percent(share, share > 0 && share < 0.1 ? 1 : 0)} %`;

function classRow({ name, size, errors, handed_back: handedBack, accepted_errors: slipped }, isCalibrated) {
  const rate = size > 0 ? errors / size : 0;
  return h("li", {},
    h("span", { class: "name", title: name }, name),
    h("span", { class: "meter", "aria-hidden": "true" }, h("i", { style: `width: ${100 * rate}%` })),
    h("b", {}, size > 0 ? rounded(rate) : "–"),
    h("small", {}, size === 0 ? "no test inputs" : `${count(errors)} of ${count(size)} wrong` +
      (isCalibrated ? `; ${count(slipped)} of these accepted; ${count(handedBack)} handed back` : "")));
}

function perClass(classes, isCalibrated) {
  const rate = ({ size, errors }) => (size > 0 ? errors / size : -1);
  const sorted = [...classes].sort((a, b) => rate(b) - rate(a));
  const list = (part) => h("ul", { class: "per-class" }, part.map((entry) => classRow(entry, isCalibrated)));
  const first = sorted.length > listedClasses + 3 ? listedClasses : sorted.length;
  return h("div", { class: "card" }, h("h4", {}, "Error of each class"),
    h("p", { class: "caption" }, "The share of the inputs of a class that the model takes for another class. The worst class stands first."),
    list(sorted.slice(0, first)),
    sorted.length > first && h("details", {}, h("summary", {}, `${sorted.length - first} more classes`), list(sorted.slice(first))));
}

function confusions(classes, matrix) {
  return matrix.flatMap((row, truth) => row.map((times, said) => ({ truth: classes[truth], said: classes[said], times })))
    .filter(({ truth, said, times }) => truth !== said && times > 0)
    .sort((a, b) => b.times - a.times || b.times / b.truth.size - a.times / a.truth.size);
}

// A shade for a share: what is right in one colour, mistakes in another, each from pale to strong.
const shade = (isRight, share) =>
  share === 0 ? undefined : `background: color-mix(in srgb, var(--${isRight ? "right" : "mistake"}) ${Math.round(12 + 68 * Math.sqrt(share))}%, var(--card))`;

const takenFor = (classes, matrix, truth, said) =>
  `${classes[truth].name}, taken for ${classes[said].name}: ${count(matrix[truth][said])} of ${count(classes[truth].size)}`;

function matrixTable(classes, matrix) {
  const isShort = classes.every(({ name }) => name.length <= 3);
  const label = (k) => (isShort ? classes[k].name : String(k + 1));
  return h("table", { class: "confusion", style: `--classes: ${classes.length}` },
    h("caption", {}, "Rows: what is true. Columns: what the model says", isShort ? "." : ", by the number of the class."),
    h("thead", {}, h("tr", {}, h("td", {}), classes.map(({ name }, k) => h("th", { scope: "col", title: name }, label(k))))),
    h("tbody", {}, matrix.map((row, truth) => h("tr", {},
      h("th", { scope: "row", title: classes[truth].name }, isShort ? classes[truth].name : [h("small", {}, `${truth + 1} `), classes[truth].name]),
      row.map((times, said) => {
        const part = classes[truth].size > 0 ? times / classes[truth].size : 0;
        const isStrong = part > 0.35;
        return h("td", { class: `${truth === said ? "right" : "mistake"}${isStrong ? " strong" : ""}${times === 0 ? " zero" : ""}`, style: shade(truth === said, part),
          title: takenFor(classes, matrix, truth, said) }, times === 0 ? "·" : count(times));
      })))));
}

// Too many classes for numbers: one square per pair, drawn.
function matrixPicture(classes, matrix) {
  const side = classes.length;
  const canvas = h("canvas", { width: side, height: side, class: "confusion-map", role: "img", "aria-label": `Confusion matrix of ${side} classes; its largest entries are listed beside it` });
  const context = canvas.getContext("2d");
  matrix.forEach((row, truth) => row.forEach((times, said) => {
    if (times === 0) return;
    const strength = 0.25 + 0.75 * Math.sqrt(times / classes[truth].size);
    context.fillStyle = truth === said ? `rgba(0, 114, 178, ${strength})` : `rgba(213, 94, 0, ${strength})`;
    context.fillRect(said, truth, 1, 1);
  }));
  const cell = (event) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const place = (at, size) => Math.min(side - 1, Math.max(0, Math.floor((side * at) / size)));
    return [place(event.clientY - top, height), place(event.clientX - left, width)];
  };
  canvas.addEventListener("mousemove", (event) => {
    const [truth, said] = cell(event);
    canvas.title = takenFor(classes, matrix, truth, said);
  });
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((size) => side / size <= 10) ?? 1000;
  const numbers = Array.from({ length: Math.floor((0.97 * side) / step) }, (_, i) => (i + 1) * step); // the last would stand out
  const ticks = (name, edge) => h("div", { class: `ticks ${name}`, "aria-hidden": "true" }, numbers.map((number) =>
    h("span", { style: `${edge}: ${(100 * (number - 0.5)) / side}%`, title: classes[number - 1].name }, String(number))));
  return h("figure", { class: "confusion-figure" },
    h("div", { class: "confusion-plot" }, h("span", { class: "axis said" }, "what the model says →"), ticks("across", "left"), h("span", { class: "axis truth" }, "← what is true"), ticks("down", "top"), canvas),
    h("figcaption", { class: "caption" }, "One square per pair of classes, which the axes number; point at a square for their names. Blue: right; orange: mistakes. The stronger the colour, the larger the share of the true class."));
}

function confusionCard(classes, matrix) {
  const all = confusions(classes, matrix);
  const shown = all.slice(0, listedConfusions);
  return h("div", { class: "card" }, h("h4", {}, "Which class is taken for which"),
    h("p", { class: "caption" }, `The confusion matrix: a model without mistakes has ${classes.length <= tableSide ? "numbers" : "squares"} only on the diagonal.`),
    classes.length <= tableSide ? matrixTable(classes, matrix) : matrixPicture(classes, matrix),
    shown.length === 0 ? h("p", {}, "It makes no mistake on this set.")
      : h("div", {}, h("p", { class: "kind" }, shown.length < all.length ? `The ${shown.length} most frequent of ${all.length} confusions` : "In words"),
        h("ol", { class: "confusions" }, shown.map(({ truth, said, times }) =>
          h("li", {}, h("b", {}, truth.name), " taken for ", h("b", {}, said.name), `: ${times === 1 ? "once" : `${count(times)} times`}, ${rounded(times / truth.size)} of ${truth.name}`)))));
}

export const mistakes = ({ test, operating_point: point }) =>
  h("div", { class: "pair" }, confusionCard(test.classes, test.confusion), perClass(test.classes, point !== null));
