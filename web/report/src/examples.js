// Inputs with the model's answers, grouped by what happens to them.
import { h } from "./elements.js";
import { measureInSentence, percent, short } from "./names.js";
import { count } from "./outcomes.js";

const sure = (share) => `${percent(share, share > 0.9995 || share === 0 ? 0 : 1)} %`;

function saying({ prediction, probability, rival, rival_probability: second, label, verdict, set }, isForeign) {
  const isWrong = label !== undefined && label !== prediction;
  const lines = [h("span", { class: isWrong ? "wrong" : undefined }, h("b", {}, prediction), ` ${sure(probability)}`)];
  if (isWrong) lines.push(h("span", {}, "✗ it is ", h("b", {}, label)));
  else if (verdict === "ambiguous" && rival) lines.push(h("span", {}, `or ${rival} ${sure(second)}`));
  if (isForeign) lines.push(h("small", { title: set }, `from ${set}`));
  return lines;
}

const spoken = ({ prediction, probability, label, set, row, verdict_by: by }) =>
  `Input ${row} of ${set}: the model says ${prediction}, ${sure(probability)}${label === undefined ? "" : `; it is ${label}`}` +
  (by ? `; its ${measureInSentence(by)} rejects the answer` : "");

const pictureTile = (input, isForeign) =>
  h("figure", { class: "tile", title: spoken(input) },
    h("img", { src: `data:image/png;base64,${input.picture}`, alt: spoken(input) }),
    h("figcaption", {}, saying(input, isForeign)));

// How far a value lies from the values that the model learnt from; of a level only whether it is rare.
function deviation({ deviations: value, rare }) {
  if (value === undefined) return rare ? "rare" : "";
  const size = Math.abs(value);
  if (size < 1) return "usual";
  return `${short(Number(size.toPrecision(2)))} σ ${value > 0 ? "above" : "below"}`;
}

const rowTile = (input, isForeign) =>
  h("figure", { class: "row-tile", "aria-label": spoken(input) },
    h("figcaption", {}, saying(input, isForeign)),
    h("dl", {}, input.columns.slice(0, 5).map((column) =>
      h("div", { class: column.rare || Math.abs(column.deviations) > 3 ? "far" : undefined }, h("dt", { title: column.name }, column.name),
        h("dd", { title: typeof column.value === "string" ? column.value : undefined },
          typeof column.value === "string" ? column.value : short(column.value), h("small", {}, ` ${deviation(column)}`))))));

export function examples({ groups }) {
  if (groups.length === 0) return null;
  const isTable = groups[0].inputs[0].columns !== undefined;
  return h("div", {},
    h("p", { class: "caption" }, "Drawn at random from each group. The percentage is the calibrated probability of the class.",
      isTable && " For each row, the table shows the columns that lie farthest from their average in training, in standard deviations (σ), and levels that are rare there."),
    groups.map(({ name, title, meaning, total, inputs }) => {
      const isForeign = name.startsWith("foreign");
      return h("div", { class: "card example-group", "data-group": name },
        h("h4", {}, title, h("small", {}, ` ${count(total)} in all`)), h("p", { class: "caption" }, meaning),
        h("div", { class: isTable ? "row-tiles" : "picture-tiles" }, inputs.map((input) => (isTable ? rowTile : pictureTile)(input, isForeign))));
    }));
}
