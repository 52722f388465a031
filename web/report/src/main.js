import "./style.css";
import { calibration } from "./calibration.js";
import { h } from "./elements.js";
import { examples } from "./examples.js";
import { explorer } from "./explorer.js";
import { images } from "./images.js";
import { maps } from "./maps.js";
import { mistakes } from "./mistakes.js";
import { firstScreen, foreign, outcomes } from "./outcomes.js";
import { reasons } from "./reasons.js";
import { record, trivial } from "./record.js";
import { simplexes } from "./simplex.js";
import { headlines, scoreBar } from "./summary.js";
import { comparisonKey, tableElement } from "./tables.js";
import { themeButton } from "./theme.js";
import { training } from "./training.js";
import { trust } from "./trust.js";

const paper = "Predictive Uncertainty Estimation via Prior Networks";

const isThere = ([, , content]) => content;

// What a specialist wants to see. It is in full view for an experiment, and folded away in the report of one model.
function researchSections(results) {
  const { curves, tables = [] } = results;
  const hasPublished = tables.some((table) => table.rows.some((row) => row.some((cell) => cell?.published !== undefined)));
  return [
    ["figures", "Uncertainty over the plane", results.maps && maps(results.maps)],
    ["reasons", "Are the reasons right?", results.reasons && reasons(results.reasons)],
    ["tables", hasPublished ? "Numbers beside the paper’s" : "In numbers",
      tables.length > 0 && [hasPublished && comparisonKey(), tables.map(tableElement)]],
    ["curves", "Scores and detection", curves?.models.length > 0 && explorer(curves)],
    ["calibration", "Calibration and rejection", curves?.models.length > 0 && calibration(curves, Boolean(results.summary?.operating_point))],
    ["images", "The most and the least certain images", results.images && images(results.images)],
    ["trivial", "What simple statistics tell without a network", results.trivial?.length > 0 && trivial(results.trivial)],
    ["training", "Training", curves?.models.length > 0 && training(curves)],
    ["simplex", "Distributions on a simplex", results.maps && simplexes()],
  ].filter(isThere);
}

// The report of one model, for the person who decides about it. The numbers for specialists stand at the end, folded.
function modelSections(results, id) {
  const { summary } = results;
  const research = researchSections(results).map(([name, title, content]) =>
    h("section", { id: `${id}-${name}`, "data-section": `${id}-${name}` }, h("h4", { class: "part" }, title), content));
  return [
    ["outcomes", "What it hands back, and why", outcomes(summary, results.evaluation?.run ?? summary.model.name)],
    ["mistakes", "Where it is wrong", mistakes(summary)],
    ["trust", "How far to believe its probabilities", trust(summary)],
    ["foreign", "Inputs that belong to none of its classes", foreign(summary)],
    ["examples", "Examples", results.examples && examples(results.examples)],
    ["details", "For specialists", h("details", { class: "specialists" },
      h("summary", {}, "Every measure with its detection tables, curves and histograms; training"), research)],
    ["record", "How this was run", record(results)],
  ].filter(isThere);
}

// The sections of an experiment; a section without data is left out.
const sectionsOf = (results, id) =>
  results.summary ? modelSections(results, id) : [...researchSections(results), ["record", "How this was run", record(results)]];

function experiment(results, index, all) {
  const id = `experiment-${index + 1}`;
  const sections = sectionsOf(results, id).map(([name, title, content]) => ({ id: `${id}-${name}`, title, content }));
  const single = all.length === 1;
  // Several results may have one title: their folders tell them apart.
  const title = () => [results.title ?? results.experiment, !single && results.folder && h("small", { class: "folder" }, results.folder)];
  return {
    id,
    title,
    sections,
    element: h("section", { id, class: "experiment" },
      h("header", {}, h(single ? "h1" : "h2", {}, title()), results.lead && h("p", { class: "lead" }, results.lead),
        !results.summary && results.run?.command && h("p", { class: "command" }, h("code", {}, results.run.command))),
      results.summary ? firstScreen(results.summary) : [headlines(results), scoreBar(results.tables ?? [])],
      sections.map((part) => h("section", { id: part.id, "data-section": part.id }, h(single ? "h2" : "h3", { class: "section" }, part.title), part.content))),
  };
}

function contents(experiments) {
  const list = h("details", { class: "contents", open: matchMedia("(min-width: 75rem)").matches }, h("summary", {}, "Contents"),
    h("ol", {}, experiments.map((entry) => h("li", {}, h("a", { href: `#${entry.id}` }, entry.title()),
      h("ol", {}, entry.sections.map((part) => h("li", {}, h("a", { href: `#${part.id}` }, part.title))))))));
  const narrow = matchMedia("(max-width: 74.99rem)");
  list.addEventListener("click", (event) => {
    if (narrow.matches && event.target.closest("a")) list.open = false;
  });
  return h("nav", { "aria-label": "Contents" }, list);
}

function start() {
  const all = JSON.parse(document.getElementById("results").textContent);
  const experiments = all.map(experiment);
  const single = experiments.length === 1;
  document.getElementById("report").replaceChildren(
    h("a", { class: "skip", href: "#main" }, "Skip to the results"),
    h("div", { class: "top" }, h("span", { class: "brand" }, "priornet", h("small", {}, " report")), themeButton()),
    h("div", { class: "layout" }, contents(experiments),
      h("main", { id: "main" },
        !single && h("header", { class: "page" }, h("h1", {}, all.some((results) => results.summary) ? "Results" : "Prior Networks, reproduced"),
          h("p", {}, `${experiments.length} results of priornet. Published numbers stand beside ours if there are any.`)),
        !single && h("ul", { class: "overview" }, experiments.map((entry, i) =>
          h("li", { class: "card" }, h("a", { href: `#${entry.id}` }, entry.title()), h("p", {}, all[i].lead ?? ""), scoreBar(all[i].tables ?? [])))),
        experiments.map((entry) => entry.element),
        h("footer", {}, all.some((results) => !results.summary) && `Published numbers: “${paper}”, Malinin and Gales, 2018. `,
          "priornet report wrote this page. It opens from disk and loads nothing from the web."))));
}

start();
