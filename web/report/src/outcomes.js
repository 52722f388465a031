// What a model does with inputs: the numbers of the first screen, what happens to the inputs of each set, and the limits
// that decide.
import { h } from "./elements.js";
import { measureInSentence, measureUnit, percent, short } from "./names.js";

export const count = (number) => number.toLocaleString("en-GB");

const share = (part, total) => (total === 0 ? "–" : `${percent(part / total, part > 0 && part / total < 0.01 ? 2 : 1)} %`);

// The answer to "can I use it?" in a sentence, the numbers behind it, and what to be careful with.
export const firstScreen = ({ bottom_line: line, key_figures: figures, warnings }) =>
  h("div", { class: "first-screen" },
    h("p", { class: "bottom-line" }, line),
    h("dl", { class: "figures", "data-count": figures.length }, figures.map(({ name, value, label, detail }) =>
      h("div", { "data-figure": name }, h("dt", {}, label), h("dd", { class: "value" }, value), h("dd", { class: "detail" }, detail)))),
    warnings.map((text) => h("p", { class: "caution", role: "note" }, h("b", {}, "Caution. "), text)));

// What can become of an input, in the order of the bar. Only answers that are accepted can be wrong at a cost.
function outcomesOf({ verdicts, test, foreign }) {
  const known = (set) => ({ title: set.title, size: set.size, kind: "test set" });
  const sets = [{ ...known(test), counts: test.verdicts, errors: test.errors_by_verdict }, ...foreign.map((set) =>
    ({ ...known(set), kind: "none of its classes", counts: set.verdicts }))];
  const seen = verdicts.filter(({ name }) => name === "accept" || sets.some((set) => set.counts[name] > 0));
  return { sets, verdicts: seen };
}

function segments({ counts, errors, kind }, verdicts) {
  const isForeign = kind !== "test set";
  return verdicts.flatMap(({ name, title }) => {
    if (name !== "accept") return [{ name, title, value: counts[name] }];
    if (isForeign) return [{ name: "slipped", title: "Accepted", value: counts[name] }];
    return [{ name, title: "Accepted and right", value: counts[name] - errors[name] },
      { name: "slipped", title: "Accepted but wrong", value: errors[name] }];
  });
}

function bar(set, verdicts) {
  const parts = segments(set, verdicts);
  const about = parts.map(({ title, value }) => `${title.toLowerCase()} ${count(value)}`).join(", ");
  return h("div", { class: "outcome" },
    h("p", {}, h("b", {}, set.title), ` ${count(set.size)} inputs · ${set.kind}`),
    h("div", { class: "outcome-bar", role: "img", "aria-label": `${set.title}: ${about}` },
      parts.filter(({ value }) => value > 0).map(({ name, title, value }) =>
        h("span", { class: name, style: `flex: ${value} 0 0`, title: `${title}: ${count(value)} of ${count(set.size)}` },
          value / set.size >= 0.07 && share(value, set.size)))));
}

function key(verdicts, hasForeign) {
  const entries = verdicts.flatMap(({ name, title, meaning }) => (name === "accept"
    ? [["accept", "Accepted and right", "its own answer, and the right one"],
      ["slipped", hasForeign ? "Accepted, but wrong or foreign" : "Accepted, but wrong", "mistakes that nobody looks at"]]
    : [[name, `Handed back: ${title.toLowerCase()}`, meaning]]));
  return h("ul", { class: "outcome-key" }, entries.map(([name, title, meaning]) =>
    h("li", {}, h("i", { class: `swatch ${name}` }), h("span", {}, h("b", {}, title), h("small", {}, meaning)))));
}

function countsTable({ sets, verdicts }) {
  const test = sets[0];
  const columns = ["Outcome", test.title, "of these wrong", ...sets.slice(1).map((set) => set.title)];
  const cell = (label, part, total) => h("td", { class: "number", "data-label": label }, h("span", {}, count(part), h("small", {}, ` ${share(part, total)}`)));
  return h("div", { class: "card table" },
    h("table", {},
      h("caption", {}, "The same in numbers. “Of these wrong” counts the answers that are wrong, or would be if they were taken."),
      h("thead", {}, h("tr", {}, columns.map((column, i) => h("th", { scope: "col", class: i > 0 ? "number" : undefined }, column)))),
      h("tbody", {}, verdicts.map(({ name, title }) => h("tr", {},
        h("th", { scope: "row" }, name === "accept" ? title : `Handed back: ${title.toLowerCase()}`),
        cell(columns[1], test.counts[name], test.size),
        cell(columns[2], test.errors[name], test.counts[name]),
        sets.slice(1).map((set) => cell(set.title, set.counts[name], set.size)))))));
}

function limits({ operating_point: point, verdicts }) {
  const meaning = (cause) => verdicts.find(({ name }) => name === cause);
  const [low, high] = point.false_alarm_range;
  return h("div", { class: "card" }, h("h4", {}, "The limits"),
    h("p", { class: "caption" }, `The limits were set on ${count(point.calibration_size)} inputs that the model did not learn from (${point.calibration_title}), ` +
      `so that at most ${short(100 * point.false_alarm)} % of inputs like these are handed back, on average over calibration sets; ` +
      `with this calibration set it is ${percent(low, 1)} to ${percent(high, 1)} %, 95 times out of 100. The promise does not cover other kinds of inputs.`),
    h("ul", { class: "limits" }, point.watches.map((watch) =>
      h("li", {}, h("i", { class: `swatch ${watch.cause}` }), limit(watch, meaning(watch.cause), point)))));
}

// `reachable` and `calibration_size` are missing in results of older versions.
function limit({ cause, measure, threshold, reachable, calibration_size: size, spoke }, meaning, point) {
  const title = h("b", {}, meaning?.title ?? cause);
  const value = h("b", { class: "limit" }, `${short(threshold)}${measureUnit(measure) ? ` ${measureUnit(measure)}` : ""}`);
  if (reachable === false)
    return h("span", {}, title, ` never by the ${measureInSentence(measure)}: no input can be above its limit`, threshold !== null && [" of ", value],
      h("small", {}, "There were too few calibration inputs, or too many of them have the largest value there is. Use more calibration inputs, or a higher false-alarm rate."));
  return h("span", {}, title, ` where the ${measureInSentence(measure)} is above `, value,
    h("small", {}, `${meaning?.meaning}; it rejected ${count(spoke)} of the test inputs`,
      size > point.calibration_size && `. This limit was set on ${count(size)} rows: those of the calibration set, and rows that the network learnt from, each judged by a detector that did not learn from it`));
}

// A path as a shell takes it.
const shellWord = (text) => (/^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// `path`: of the run or of the model file.
export function outcomes(summary, path) {
  if (!summary.operating_point)
    return h("div", { class: "card" }, h("p", {}, "Nothing yet: this model has no limits, so every answer is taken. "),
      h("p", { class: "caption" }, h("code", {}, `priornet calibrate ${shellWord(path)}`), " sets them on inputs that it did not learn from, and writes a model file. Evaluate that file to see here what it hands back, and why."));
  const found = outcomesOf(summary);
  return h("div", {},
    h("div", { class: "card" }, found.sets.map((set) => bar(set, found.verdicts)), key(found.verdicts, found.sets.length > 1)),
    countsTable(found), limits(summary));
}

const auroc = (value) => `${percent(value, value > 0.995 && value < 1 ? 2 : 1)} %`;

// Results of older versions do not say whether the two are equal.
const isMatched = (set) => set.trivial_equals_network ?? set.trivial_beats_network;

// How well the network, and a number that needs no network, tell the foreign sets apart.
export const foreign = ({ foreign: sets, test }) =>
  sets.length > 0 && h("div", { class: "card" },
    h("p", { class: "caption" }, `How well one number tells the inputs of each set from those of ${test.title}: take one input of each; how often does the number put the foreign one first (AUROC)? 50 % is chance. If a simple property of the input does as well as the network, the set says little about the network.`),
    h("ul", { class: "contests" }, sets.map((set) =>
      h("li", { class: isMatched(set) ? "beaten" : undefined },
        h("h4", {}, set.title, h("small", {}, ` ${count(set.size)} inputs`)),
        contest("the model", measureInSentence(set.best_measure), set.best_auroc, true),
        set.trivial_statistic && contest("without a network", set.trivial_statistic, set.trivial_auroc, false),
        set.trivial_statistic && h("p", { class: "verdict-line" }, isMatched(set)
          ? `⚠ ${set.trivial_statistic} alone ${set.trivial_beats_network ? "beats" : "is as good as"} the network here.`
          : set.trivial_auroc > 0.95 ? "An easy set: a simple property tells it apart without any network." : "The network does better than any simple property.")))));

const contest = (who, what, value, isNetwork) =>
  h("div", { class: "contest" }, h("span", {}, who, h("small", {}, ` ${what}`)),
    h("span", { class: "meter", "aria-hidden": "true" }, h("i", { class: isNetwork ? "network" : undefined, style: `width: ${Math.max(0, 200 * (value - 0.5))}%` })),
    h("b", {}, auroc(value)));
