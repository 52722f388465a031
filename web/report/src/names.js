// The names of measures and models on the page, and the styles of lines, which differ also without colour.

// The tool's table of measures, which stands in the page: name, label, unit, direction of each.
const table = new Map(JSON.parse(document.getElementById("measures").textContent).map((measure) => [measure.name, measure]));

export const measureName = (measure) => table.get(measure)?.label ?? measure.replaceAll("_", " ");

// Within a sentence; letters that belong to an abbreviation stay.
export const measureInSentence = (measure) => measureName(measure).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());

export const measureUnit = (measure) => table.get(measure)?.unit ?? "";

export const isConfidence = (measure) => table.get(measure)?.direction === "confidence";

export const modelName = (model) => (model.sigma > 0 ? `${model.model}, σ = ${model.sigma}` : model.model);

const dashes = [undefined, "7 3", "2 3", "9 3 2 3", "5 5", "12 4"];

export const lineStyle = (index) => ({
  stroke: `var(--series-${(index % 7) + 1})`,
  strokeDasharray: dashes[index % dashes.length],
  strokeWidth: 2,
});

export const fixed = (value, digits) => value.toFixed(digits).replace("-", "−");

export const percent = (share, digits = 2) => `${(100 * share).toFixed(digits)}`;

export const short = (value) => {
  if (!Number.isFinite(value)) return "–";
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-3 || magnitude >= 1e5)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
};
