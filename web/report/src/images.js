// The images that a model is most and least certain about, with its Dirichlet for each.
import { bytesOf, h, svg } from "./elements.js";
import { measureInSentence, measureName, short } from "./names.js";

const barsWidth = 72;
const barsHeight = 30;

function picture(pixels, [channels, height, width], index) {
  const canvas = h("canvas", { width, height, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const plane = width * height;
  const first = index * channels * plane;
  for (let i = 0; i < plane; ++i) {
    for (let c = 0; c < 3; ++c) image.data[4 * i + c] = pixels[first + Math.min(c, channels - 1) * plane + i];
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

function bars(values, top, chosen) {
  const width = barsWidth / values.length;
  const height = (value) => Math.max(1, (barsHeight - 2) * Math.log1p(Math.max(value, 0)) / Math.log1p(top));
  return svg("svg", { viewBox: `0 0 ${barsWidth} ${barsHeight}`, class: "bars", "aria-hidden": "true" },
    values.map((value, i) => svg("rect", { x: i * width + 0.5, width: Math.max(width - 1, 0.6), y: barsHeight - height(value), height: height(value),
      class: i === chosen ? "chosen" : undefined })));
}

function tile(image, pixels, index, { classes, shape, measure }, top) {
  const name = classes[image.class] ?? String(image.class);
  const values = image.alpha ?? image.p;
  const total = values.reduce((sum, value) => sum + value, 0);
  const isWrong = image.label !== undefined && image.label !== image.class;
  const truth = image.label === undefined ? "" : `, labelled ${classes[image.label] ?? image.label}`;
  const about = `taken for ${name}${truth}; ${measureName(measure)} ${short(image.value)}; ` +
    (image.alpha ? `alpha ${values.map((v, i) => `${classes[i] ?? i}: ${short(v)}`).join(", ")}` : `probabilities ${values.map(short).join(", ")}`);
  return h("figure", { class: "tile", title: about, tabindex: "0", role: "img", "aria-label": about },
    picture(pixels, shape, index), bars(values, top, image.class),
    h("figcaption", {}, h("span", { class: isWrong ? "wrong" : undefined }, isWrong ? `${name} ✗` : name),
      h("small", {}, image.alpha ? `α₀ ${total >= 100 && total < 1e5 ? Math.round(total) : short(Number(total.toPrecision(3)))}` : `p ${short(Math.max(...values))}`)));
}

export function images(data) {
  const all = data.sets.flatMap((set) => set.images);
  const top = all.reduce((largest, image) => Math.max(largest, ...(image.alpha ?? image.p)), 0);
  const isDirichlet = data.sets.some((set) => set.images.some((image) => image.alpha));
  return h("div", {},
    h("p", { class: "caption" }, `By the ${measureInSentence(data.measure)} of the ${data.model}, seed ${data.seed}. Under each image ` +
      (isDirichlet
        ? `the concentrations α of its Dirichlet, one bar per class, on one logarithmic scale up to ${short(top)}; the bar of the predicted class is blue. α₀ is their sum: it is small if the network does not know the input.`
        : "the probabilities of the classes; the most probable one is blue.")),
    data.sets.map((set, s) => {
      const pixels = bytesOf(set.pixels);
      const half = set.images.length / 2;
      const row = (from) => h("div", { class: "tiles" }, set.images.slice(from, from + half).map((image, i) => tile(image, pixels, from + i, data, top)));
      return h("div", { class: "card images" }, h("h4", {}, set.title, s === 0 && h("small", {}, " in distribution")),
        h("div", { class: "kinds" }, h("div", {}, h("p", { class: "kind" }, "most certain"), row(0)), h("div", {}, h("p", { class: "kind" }, "least certain"), row(half))));
    }));
}
