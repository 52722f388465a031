import { difference, isCompared, marks, meanings, standing } from "./comparison.js";
import { h, withCode } from "./elements.js";

const isNumber = (cell) => typeof cell === "object";

// "90.12 [88.00, 92.00]": the interval on a line of its own, so that the columns of a wide table fit.
function numberText(text) {
  const [, value, interval] = /^(.*?) (\[.*\])$/.exec(text) ?? [];
  return interval ? h("span", {}, value, h("small", { class: "interval" }, ` ${interval.slice(1, -1).replace(", ", " – ")}`)) : text;
}

function cellElement(cell, numeric, header, column) {
  const tag = header ? "th" : "td";
  const attributes = { class: numeric ? "number" : undefined, scope: header ? "row" : undefined, "data-label": column || undefined };
  if (cell === "-") return h(tag, { class: "none", "data-label": attributes["data-label"] }, "–");
  if (!isCompared(cell)) return h(tag, attributes, isNumber(cell) ? numberText(cell.text) : withCode(cell));
  const kind = standing(cell);
  const half = (cell.high - cell.low) / 2;
  const about = `ours ${cell.value.toFixed(2)}, 95 % interval ${cell.low.toFixed(2)} to ${cell.high.toFixed(2)}; ` +
    `published ${cell.published.toFixed(1)}; ${meanings[kind]}`;
  return h(tag, { ...attributes, class: `number compared ${kind}`, title: about },
    h("span", { class: "ours" }, cell.value.toFixed(2), h("small", {}, ` ± ${half.toFixed(2)}`)),
    h("span", { class: "beside" }, h("span", { class: "published" }, cell.published.toFixed(1)),
      h("span", { class: "standing" }, `${marks[kind]} ${difference(cell)}`)));
}

export const comparisonKey = () =>
  h("ul", { class: "key" },
    h("li", {}, "Below each number of ours: the published one, and the difference."),
    Object.keys(marks).map((kind) =>
      h("li", {}, h("span", { class: `compared ${kind}` }, h("span", { class: "standing" }, marks[kind])), meanings[kind])));

let next = 0;

export function tableElement(table) {
  const id = `table-${++next}`;
  const numeric = table.columns.map((_, c) => table.rows.some((row) => isNumber(row[c])));
  const firstNumber = Math.max(numeric.indexOf(true), 1);
  let before = null;
  const body = table.rows.map((row) => {
    const repeats = before !== null && typeof row[0] === "string" && row[0] === before && firstNumber > 1;
    const starts = before !== null && !repeats && firstNumber > 1;
    before = row[0];
    const cells = row.map((cell, c) => cellElement(cell, numeric[c], c < firstNumber && !numeric[c], table.columns[c]));
    if (repeats) cells[0].classList.add("repeated");
    return h("tr", { class: starts ? "starts" : undefined }, cells);
  });
  return h("div", { class: "card table" },
    h("h4", { id }, table.title),
    h("table", { "aria-labelledby": id },
      h("thead", {}, h("tr", {}, table.columns.map((column, c) =>
        h("th", { scope: "col", class: numeric[c] ? "number" : undefined }, column)))),
      h("tbody", {}, body)),
    table.notes.length > 0 && h("ul", { class: "notes" }, table.notes.map((note) => h("li", {}, withCode(note.replace(" In brackets: the paper's cell.", ""))))));
}
