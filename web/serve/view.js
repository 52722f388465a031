// Shows an answer: verdict, gauges, bars, all scores.
import { Measures, position } from "./measures.js";

const byId = (id) => document.getElementById(id);
export function short(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-4)) return value.toExponential(1);
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}
const names = { accept: "Accepted", ambiguous: "Handed back: ambiguous", unfamiliar: "Handed back: unfamiliar", undecided: "Handed back: undecided" };

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// What the server says about all inputs so far.
function driftWords(drift) {
  if (!drift) return "";
  if (drift.alarm_input === 0) return ` Evidence of drift: ${short(drift.value)}; the alarm comes at ${short(drift.alarm_value)}.`;
  return ` Drift alarm: by input ${drift.alarm_input} the inputs had stopped looking like the calibration set.`;
}

export class View {
  // Builds the elements once per model; each answer only changes them.
  constructor(parameters) {
    this.parameters = parameters;
    this.classes = parameters.class_names.length;
    this.measures = new Measures(parameters);
    this.view = parameters.dirichlet ? "alphas" : "probabilities";
    this.gauges = this.measures.gauges(parameters.watches).map((gauge) => {
      const value = element("span", {}, "–");
      const spoke = element("em", { class: "spoke", hidden: "" }, "rejects the answer");
      const fill = element("div", { class: "fill" });
      const track = element("div", { class: "track" }, fill);
      const mark = gauge.limit === undefined ? undefined : element("div", { class: "limit" });
      if (mark) track.append(mark);
      const box = element("div", { class: "gauge", "data-measure": gauge.measure }, element("b", {}, gauge.title, value), track,
        element("p", {}, this.measures.explanation(gauge)), spoke);
      return { ...gauge, box, value, fill, spoke, mark };
    });
    for (const gauge of this.gauges) this.placeLimit(gauge, gauge.limit);
    byId("gauges").replaceChildren(...this.gauges.map((gauge) => gauge.box));
    byId("gauges").dataset.count = this.gauges.length;
    this.bars = parameters.class_names.map((name) => {
      const fill = element("div", { class: "fill" });
      const value = element("span", { class: "value" });
      const row = element("div", { class: "bar" }, element("span", { class: "name", title: name }, name), element("div", { class: "track" }, fill), value);
      return { row, fill, value, name };
    });
    this.clear();
  }

  placeLimit(gauge, limit) {
    if (!gauge.mark) return;
    gauge.mark.title = `limit ${short(limit)}`;
    gauge.mark.style.left = `${100 * Math.min(1, position(gauge, limit, this.classes))}%`; // a limit may lie beyond all values
  }

  clear() {
    this.answer = undefined;
    byId("gauges").dataset.verdict = "none";
    byId("time").textContent = "";
    for (const { box, value, fill, spoke } of this.gauges) {
      spoke.hidden = true;
      value.textContent = "–";
      fill.style.width = "0";
      box.classList.remove("over");
    }
    byId("bars").replaceChildren();
    byId("all").querySelector("tbody").replaceChildren();
  }

  show(answer, milliseconds) {
    this.answer = answer;
    const verdict = byId("verdict");
    verdict.dataset.verdict = byId("gauges").dataset.verdict = answer.verdict ?? "none";
    byId("verdict-name").textContent = names[answer.verdict] ?? "No verdict";
    byId("class").replaceChildren(answer.prediction, " ", element("small", {}, `${(100 * answer.probability).toFixed(answer.probability > 0.9995 ? 0 : 1)} %`));
    byId("words").textContent = answer.words.replace(/^(Ambiguous|Unfamiliar|Undecided): ./, (start) => start.at(-1).toUpperCase());
    byId("time").textContent = `Answered in ${Math.round(milliseconds)} ms${answer.p_value === undefined ? "" : `; p-value ${short(answer.p_value)}`}.${driftWords(answer.drift)}`;
    const spoken = this.spokenOf(answer);
    for (const gauge of this.gauges) {
      const { measure, box, value, fill, spoke } = gauge;
      gauge.limit = gauge.classLimits?.[this.parameters.class_names.indexOf(answer.prediction)] ?? gauge.limit; // thresholds may be set per class
      this.placeLimit(gauge, gauge.limit);
      spoke.hidden = measure !== spoken;
      const found = answer[measure];
      value.textContent = short(found);
      fill.style.width = `${100 * Math.min(1, position(gauge, found, this.classes))}%`;
      box.classList.toggle("over", gauge.limit !== undefined && found > gauge.limit);
    }
    byId("all").querySelector("tbody").replaceChildren(
      ...this.measures.names.map((name) => element("tr", {}, element("td", {}, this.measures.label(name)), element("td", {}, [short(answer[name]), this.measures.unit(name)].filter(Boolean).join(" ")))));
    this.showBars();
  }

  // The score that rejected the answer: the server names it, or it is the watched score of that cause.
  spokenOf(answer) {
    if (!answer.verdict || answer.verdict === "accept") return undefined;
    return answer.verdict_by ?? this.parameters.watches.find(({ cause }) => cause === answer.verdict)?.measure;
  }

  // At most twelve classes: the most likely ones, in the order of the classes.
  showBars() {
    if (!this.answer) return;
    const values = (this.view === "alphas" && this.answer.alphas) || this.answer.probabilities;
    const logarithmic = values === this.answer.alphas;
    const order = values.map((_, i) => i).sort((a, b) => values[b] - values[a]);
    const shown = new Set(order.slice(0, 12));
    const largest = Math.max(...values);
    const low = 0.1, high = Math.max(1000, largest);
    const width = (value) => (logarithmic ? Math.max(0, Math.log(value / low) / Math.log(high / low)) : value);
    const rows = this.bars.filter((_, i) => shown.has(i));
    const box = byId("bars");
    if (box.childElementCount !== rows.length || rows.some(({ row }, i) => box.children[i] !== row)) box.replaceChildren(...rows.map(({ row }) => row));
    this.bars.forEach(({ row, fill, value }, i) => {
      fill.style.width = `${100 * width(values[i])}%`;
      value.textContent = logarithmic ? short(values[i]) : `${(100 * values[i]).toFixed(1)} %`;
      row.classList.toggle("top", i === order[0]);
    });
    byId("shape-hint").textContent = logarithmic
      ? "The Dirichlet's concentrations, on a logarithmic scale. Long bars mean much evidence. One long bar means a clear class. If all bars are short, the model knows nothing about this input."
      : "Calibrated probabilities of the classes.";
  }
}
