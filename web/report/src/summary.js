import { countStandings, marks } from "./comparison.js";
import { h } from "./elements.js";

const words = { better: "better", equal: "agree", worse: "worse" };

const totals = (counts) => ({ met: counts.better + counts.equal, total: counts.better + counts.equal + counts.worse });

// How many published cells are met, as a bar and in words, with the rule.
export function scoreBar(tables) {
  const counts = countStandings(tables);
  const { met, total } = totals(counts);
  if (total === 0) return null;
  const apart = totals(countStandings(tables, true));
  const kinds = Object.keys(words).filter((kind) => counts[kind] > 0);
  return h("div", { class: "score" },
    h("p", {}, h("strong", {}, `${met} of ${total}`), " published cells are met or surpassed"),
    h("div", { class: "bar", role: "img", "aria-label": kinds.map((kind) => `${counts[kind]} ${words[kind]}`).join(", ") },
      kinds.map((kind) => h("span", { class: kind, style: `flex: ${counts[kind]}` }))),
    h("p", { class: "counts" }, kinds.map((kind) =>
      h("span", { class: `compared ${kind}` }, h("span", { class: "standing" }, `${marks[kind]} ${counts[kind]}`), ` ${words[kind]}`))),
    h("p", { class: "rule" }, "Met: our 95 % interval reaches the published number, which is rounded to 0.1.",
      apart.total > 0 && ` Counted apart: ${apart.met} of ${apart.total} cells of the DPN’s M.I., which the paper most likely gives as entropy.`));
}

export const headlines = (results) =>
  results.headlines?.length > 0 &&
  h("dl", { class: "headlines", "data-count": results.headlines.length }, results.headlines.map(({ text, label, published }) =>
    h("div", {}, h("dt", {}, label), h("dd", {}, text), published !== undefined && h("dd", { class: "paper" }, `paper ${published}`))));
