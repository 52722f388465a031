// The plane of the synthetic experiment: maps of each uncertainty.
import { interpolateViridis } from "d3-scale-chromatic";
import { rgb } from "d3-color";
import { bytesOf, h, svg } from "./elements.js";
import { fixed, measureUnit } from "./names.js";

const palette = Array.from({ length: 256 }, (_, i) => rgb(interpolateViridis(i / 255)));

function heat(values, side) {
  const canvas = h("canvas", { width: side, height: side, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(side, side);
  for (let y = 0; y < side; ++y) {
    for (let x = 0; x < side; ++x) {
      const { r, g, b } = palette[values[(side - 1 - y) * side + x]];
      image.data.set([r, g, b, 255], 4 * (y * side + x));
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

// The edge of the union of the discs: the parts of each circle that no other disc covers.
function outline({ means, radius }) {
  let path = "";
  for (const [cx, cy] of means) {
    let drawing = false;
    for (let i = 0; i <= 360; ++i) {
      const x = cx + radius * Math.cos((i * Math.PI) / 180);
      const y = cy + radius * Math.sin((i * Math.PI) / 180);
      const covered = means.some(([ox, oy]) => (ox !== cx || oy !== cy) && Math.hypot(x - ox, y - oy) < radius);
      if (!covered) path += `${drawing ? "L" : "M"}${x.toFixed(2)} ${(-y).toFixed(2)}`;
      drawing = !covered;
    }
  }
  return path;
}

function panel(map, entry, { half_side: half, side }, isFirst) {
  const values = bytesOf(map.values);
  const unit = measureUnit(map.measure);
  const readout = h("output", {}, `${fixed(map.low, 2)} to ${fixed(map.high, 2)} ${unit}`);
  const rest = readout.textContent;
  const point = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * side);
    const row = side - 1 - Math.floor(((event.clientY - box.top) / box.height) * side);
    if (column < 0 || column >= side || row < 0 || row >= side) return;
    const at = (index) => (((index + 0.5) / side) * 2 - 1) * half;
    const value = map.low + ((map.high - map.low) * values[row * side + column]) / 255;
    readout.textContent = `(${fixed(at(column), 1)}, ${fixed(at(row), 1)}): ${fixed(value, 2)} ${unit}`;
  };
  const overlay = svg("svg", { viewBox: `${-half} ${-half} ${2 * half} ${2 * half}`, "aria-hidden": "true" },
    isFirst && entry.points.map(([x, y, label]) => svg("circle", { cx: x, cy: -y, r: 0.32, class: `class-${label}` })),
    svg("path", { d: outline(entry), class: "outline" }));
  return h("figure", { class: "map" },
    h("div", { class: "plane", onpointermove: point, onpointerleave: () => (readout.textContent = rest), role: "img",
      "aria-label": `${map.title}, sigma ${entry.sigma}, over the plane from ${-half} to ${half}` }, heat(values, side), overlay),
    h("figcaption", {}, h("b", {}, map.title), readout));
}

export function maps(data) {
  return h("div", {},
    h("p", { class: "caption" }, "The plane from −20 to 20 both ways; dark violet is certain, yellow uncertain. The dashed line is the edge of the data region, 3 σ around the means; dots are training points of the three classes. ",
      "Point at a map to read it."),
    data.cases.map((entry) =>
      h("div", { class: "card" }, h("h4", {}, `σ = ${entry.sigma}: ${entry.sigma < 2 ? "classes apart" : "classes overlapping"}`),
        h("div", { class: "maps" }, entry.maps.map((map, i) => panel(map, entry, data, i === 0))),
        h("div", { class: "scale", "aria-hidden": "true" }, h("span", {}, "certain"), h("i"), h("span", {}, "uncertain")))),
    h("ul", { class: "reading" },
      h("li", {}, "Classes apart: entropy and differential entropy are both low on the data and high elsewhere; either finds out-of-distribution inputs."),
      h("li", {}, "Classes overlapping: entropy is high outside, but also between the classes. A high value may mean an ambiguous input or an unfamiliar one."),
      h("li", {}, "Differential entropy stays low over the whole data region: it tells unfamiliar from ambiguous. The plain network (DNN) becomes more certain the further a point is from all data.")));
}
