import { countStandings, marks } from "./comparison.js";
import { h } from "./elements.js";

const words = { better: "better", equal: "agree", worse: "worse" };

// How many published cells are met, as a bar and in words.
export function scoreBar(tables) {
  const counts = countStandings(tables);
  const total = counts.better + counts.equal + counts.worse;
  if (total === 0) return null;
  const met = counts.better + counts.equal;
  const kinds = Object.keys(words).filter((kind) => counts[kind] > 0);
  return h("div", { class: "score" },
    h("p", {}, h("strong", {}, `${met} of ${total}`), " published cells are met or surpassed"),
    h("div", { class: "bar", role: "img", "aria-label": kinds.map((kind) => `${counts[kind]} ${words[kind]}`).join(", ") },
      kinds.map((kind) => h("span", { class: kind, style: `flex: ${counts[kind]}` }))),
    h("p", { class: "counts" }, kinds.map((kind) =>
      h("span", { class: `compared ${kind}` }, h("span", { class: "standing" }, `${marks[kind]} ${counts[kind]}`), ` ${words[kind]}`))));
}

export const headlines = (results) =>
  results.headlines?.length > 0 &&
  h("dl", { class: "headlines" }, results.headlines.map(({ text, label, published }) =>
    h("div", {}, h("dt", {}, label), h("dd", {}, text), published !== undefined && h("dd", { class: "paper" }, `paper ${published}`))));
