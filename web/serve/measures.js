// What the measures mean, and where on a gauge their values lie. Their names, labels, units and causes come with the model's
// metadata: `measure_table`.

const meanings = {
  data: ["Data", "the input is like several classes"],
  distributional: ["Distributional", "the input is unlike what the model learnt from"],
  model: ["Model", "the members disagree about the input"],
  total: ["Total", "how unsure the class is, whatever the reason"],
};

export class Measures {
  constructor({ measures, measure_table: table, dirichlet }) {
    this.names = measures;
    this.dirichlet = dirichlet;
    this.table = new Map(table.map((measure) => [measure.name, measure]));
  }

  label(name) {
    return this.table.get(name)?.label ?? name.replaceAll("_", " ");
  }

  unit(name) {
    return this.table.get(name)?.unit;
  }

  // "Entropy in nats"
  labelWithUnit(name) {
    const unit = this.unit(name);
    return unit ? `${this.label(name)} in ${unit}` : this.label(name);
  }

  // Softmax models have no distributional uncertainty of their own: the same measure may speak for another cause.
  cause(name) {
    const measure = this.table.get(name);
    return measure && (this.dirichlet ? measure.cause : measure.softmax_cause);
  }

  // A gauge whose title is the label of its score does not repeat it.
  explanation({ measure, title, meaning }) {
    return title === this.label(measure) ? `Another sign: ${meaning}` : `${this.labelWithUnit(measure)}: ${meaning}`;
  }

  // One gauge each for data, distributional and total uncertainty: of the measure that calibration watches, otherwise of the
  // first that the model gives. Every other watched score has a gauge with its own name.
  gauges(watches) {
    const watched = watches.map((watch) => watch.measure);
    const candidates = [...watched, ...this.names.filter((name) => this.table.get(name)?.direction === "uncertainty")];
    const chosen = ["data", "distributional", "total"].map((cause) => candidates.find((name) => this.cause(name) === cause));
    return [...new Set([...chosen, ...watched])]
      .filter((name) => this.names.includes(name))
      .map((name) => {
        const [cause, meaning] = meanings[this.cause(name)] ?? [this.label(name), "watched by the calibration"];
        const title = chosen.includes(name) ? cause : this.label(name);
        const watch = watches.find((one) => one.measure === name);
        return { measure: name, title, meaning, limit: watch?.threshold, classLimits: watch?.class_thresholds, detector: this.table.get(name)?.detector === true };
      });
  }
}

function logGamma(x) {
  if (x < 8) return logGamma(x + 1) - Math.log(x);
  return (x - 0.5) * Math.log(x) - x + 0.9189385332046727 + 1 / (12 * x) - 1 / (360 * x ** 3);
}

// 0 to 1. Entropies go up to ln K; small values matter, so a square root spreads them. The differential entropy has no
// lower end: it fades towards 0 far below that of a flat Dirichlet. The score of a detector has its own scale, with its limit
// half way.
export function position({ measure, detector, limit }, value, classes) {
  if (value === null || value === undefined) return 0;
  if (detector) return limit > 0 && value > 0 ? value / (value + limit) : 0;
  if (measure === "differential_entropy") return Math.exp((value + logGamma(classes)) / 20);
  if (measure === "energy") return 1 / (1 + Math.exp(-value / 2));
  return Math.sqrt(Math.min(1, Math.max(0, value / Math.log(classes))));
}
