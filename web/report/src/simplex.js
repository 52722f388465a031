// Dirichlets over three classes, as densities on the triangle of categoricals: the paper's figure 2.
import { interpolateYlOrRd } from "d3-scale-chromatic";
import { rgb } from "d3-color";
import { h } from "./elements.js";

const shown = [
  { title: "Confident prediction", alpha: [24, 2, 2], text: "a sharp peak in a corner" },
  { title: "Ambiguous input", alpha: [30, 30, 30], text: "a sharp peak in the centre: high data uncertainty" },
  { title: "Unfamiliar input", alpha: [1, 1, 1], text: "flat: high distributional uncertainty" },
];

function logGammaOfWhole(n) {
  let sum = 0;
  for (let i = 2; i < n; ++i) sum += Math.log(i);
  return sum;
}

function density(alpha, mu) {
  const normaliser = logGammaOfWhole(alpha[0] + alpha[1] + alpha[2]) - alpha.reduce((sum, a) => sum + logGammaOfWhole(a), 0);
  return Math.exp(alpha.reduce((sum, a, i) => sum + (a === 1 ? 0 : (a - 1) * Math.log(Math.max(mu[i], 1e-12))), normaliser));
}

function triangle({ alpha }, top) {
  const width = 220;
  const height = Math.round((width * Math.sqrt(3)) / 2);
  const canvas = h("canvas", { width, height, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  for (let y = 0; y < height; ++y) {
    const up = 1 - (y + 0.5) / height;
    for (let x = 0; x < width; ++x) {
      const right = (x + 0.5) / width - up / 2;
      const mu = [up, 1 - up - right, right];
      if (mu.some((value) => value < 0)) continue;
      const { r, g, b } = rgb(interpolateYlOrRd(Math.min(1, Math.cbrt(density(alpha, mu) / top))));
      image.data.set([r, g, b, 255], 4 * (y * width + x));
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

export function simplexes() {
  const top = Math.max(...shown.map(({ alpha }) => {
    const total = alpha[0] + alpha[1] + alpha[2] - 3;
    return density(alpha, total > 0 ? alpha.map((a) => (a - 1) / total) : [1 / 3, 1 / 3, 1 / 3]);
  }));
  return h("div", { class: "card" },
    h("p", { class: "caption" }, "A prediction over three classes is a point of a triangle: a corner is certainty, the centre a tie. A Prior Network gives a distribution over such points; the paper’s figure 2 shows what it should be. Colour goes by the cube root of the density."),
    h("div", { class: "simplexes" }, shown.map((entry) =>
      h("figure", { role: "img", "aria-label": `${entry.title}: ${entry.text}` }, triangle(entry, top),
        h("figcaption", {}, h("b", {}, entry.title), h("span", {}, entry.text), h("small", {}, `α = (${entry.alpha.join(", ")})`))))));
}
