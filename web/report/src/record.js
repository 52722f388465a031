// How the results were made, and what to be careful with.
import { h } from "./elements.js";

// The smaller unit is rounded first: 179.6 s is 3 min 0 s.
function duration(seconds) {
  if (seconds < 90) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 5400) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const seedsText = (seeds, drawn) =>
  seeds.length === 1 ? String(seeds[0]) : `${seeds[0]} to ${seeds.at(-1)}; pictures show seed ${drawn ?? seeds[0]}`;

export function record(results) {
  const { run = {}, seeds = [] } = results;
  const drawn = results.curves?.seed ?? results.maps?.seed;
  const facts = [
    ["Command", run.command && h("code", {}, run.command)],
    ["Commit", run.commit],
    ["Seeds", seeds.length > 0 && seedsText(seeds, drawn)],
    ["Duration", run.seconds !== undefined && duration(run.seconds)],
    ["Device", run.device && `${run.device}${run.threads ? `, ${run.threads} thread${run.threads === 1 ? "" : "s"}` : ""}`],
    ["GPU", run.accelerator],
    ["Processor", run.processor],
    ["Versions", run.priornet && `priornet ${run.priornet}, LibTorch ${run.libtorch}, ${run.compiler}`],
    ["Finished", run.finished],
  ].filter(([, value]) => value);
  const models = results.options?.models ?? [];
  return h("div", {},
    h("dl", { class: "card facts" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    run.training?.length > 0 && trainingTimes(run.training),
    models.filter((model) => model.config).map((model) =>
      h("details", { class: "card config" }, h("summary", {}, `Configuration of ${model.model} (${model.run})`), h("pre", { tabindex: "0" }, model.config))));
}

function trainingTimes(rows) {
  const unique = [...new Map(rows.map((row) => [row.run, row])).values()];
  return h("details", { class: "card config" }, h("summary", {}, `Time of training, ${unique.length} run${unique.length === 1 ? "" : "s"}`),
    h("dl", { class: "facts" }, unique.map((row) => h("div", {}, h("dt", {}, row.run), h("dd", {}, duration(row.seconds))))));
}

const easy = 0.95;

// How well one number per input detects without any network. If that is good, a good detector proves little.
export function trivial(rows) {
  return h("div", { class: "card" },
    h("p", { class: "caption" }, `AUROC of one number per ${rows[0].per ?? "image"}, without any network, for telling each set from the in-distribution one. If it is near 100 %, a good result on the set says little about the network.`),
    h("ul", { class: "trivial" }, rows.map((row) =>
      h("li", { class: row.auroc >= easy ? "easy" : undefined },
        h("span", { class: "name" }, row.set), h("span", { class: "statistic" }, row.statistic.replaceAll("_", " ")),
        h("span", { class: "meter", "aria-hidden": "true" }, h("i", { style: `width: ${Math.max(0, 200 * (row.auroc - 0.5))}%` })),
        h("b", {}, `${(100 * row.auroc).toFixed(1)} %`), h("span", { class: "verdict" }, row.auroc >= easy ? "⚠ easy" : "")))));
}
