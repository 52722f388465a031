// How measures and models are called on the page, and how lines are told apart, with colour and without.
const measures = {
  max_prob: "Max. probability",
  entropy: "Entropy",
  expected_entropy: "Expected entropy",
  mutual_information: "Mutual information",
  differential_entropy: "Differential entropy",
  mutual_information_y_theta: "M.I. of class and model",
  mutual_information_mu_theta: "M.I. of categorical and model",
  epkl: "Expected pairwise KL",
  energy: "Energy",
  odin: "ODIN",
};

export const measureName = (measure) => measures[measure] ?? measure.replaceAll("_", " ");

export const measureUnit = (measure) => (measure === "max_prob" || measure === "odin" ? "" : ", nats");

export const isConfidence = (measure) => ["max_prob", "precision", "odin"].includes(measure);

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
