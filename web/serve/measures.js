// What the measures mean, and where on a gauge their values lie.

const meanings = {
  expected_entropy: ["Data", "the input is like several classes"],
  mutual_information: ["Distributional", "the input is unlike what the model learned from"],
  differential_entropy: ["Distributional", "the input is unlike what the model learned from"],
  entropy: ["Total", "how open the class is, whatever the reason"],
  epkl: ["Model", "the members disagree about the input"],
  mutual_information_mu_theta: ["Model", "the members disagree about the input"],
};

export const title = (measure) => measure.replaceAll("_", " ");

// Three gauges: what is left after the measures that calibration watches takes the usual ones.
export function gaugesOf({ measures, watches, dirichlet }) {
  const wanted = ["expected_entropy", "mutual_information", "entropy"];
  const chosen = wanted.map((measure) => {
    const kind = meanings[measure][0];
    return watches.find((watch) => meanings[watch.measure]?.[0] === kind)?.measure ?? measure;
  });
  const extra = watches.filter((watch) => !chosen.includes(watch.measure)).map((watch) => watch.measure);
  return [...new Set([...chosen, ...extra])]
    .filter((measure) => measures.includes(measure))
    .map((measure) => {
      let [name, meaning] = meanings[measure] ?? [title(measure), "watched by the calibration"];
      if (measure === "mutual_information" && !dirichlet) [name, meaning] = ["Model", "the members disagree about the input"];
      return { measure, name, meaning, limit: watches.find((watch) => watch.measure === measure)?.threshold };
    });
}

function logGamma(x) {
  if (x < 8) return logGamma(x + 1) - Math.log(x);
  return (x - 0.5) * Math.log(x) - x + 0.9189385332046727 + 1 / (12 * x) - 1 / (360 * x ** 3);
}

// 0 to 1. Entropies go up to ln K; small values matter, so a square root spreads them. The differential entropy has no
// lower end: it fades towards 0 far below that of a flat Dirichlet.
export function position(measure, value, classes) {
  if (value === null || value === undefined) return 0;
  if (measure === "differential_entropy") return Math.exp((value + logGamma(classes)) / 20);
  if (measure === "energy") return 1 / (1 + Math.exp(-value / 2));
  return Math.sqrt(Math.min(1, Math.max(0, value / Math.log(classes))));
}
