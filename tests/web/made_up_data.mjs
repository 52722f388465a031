// node made_up_data.mjs FOLDER: sets to train on, small enough for a test. points.csv, points-test.csv: three clouds of points
// that touch; far.csv: points far off. images/, images-test/: one folder per class of 12 x 12 pixels in BMP; noise/: images
// of no class.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [, , folder] = process.argv;
const side = 12;

// A generator of its own: the same data on every machine.
let state = 12345;
const uniform = () => ((state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) >>> 8) / 0x7fffff;
const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());

const centres = { "high up": [0, 2], left: [-2, -1], "right, below": [2, -1] };
function points(rows, shift) {
  const names = Object.keys(centres);
  const lines = Array.from({ length: rows }, (_, i) => {
    const name = names[i % names.length];
    return [...centres[name].map((at) => at + shift + normal()), normal(), `"${name}"`].join(",");
  });
  return ["east in metres,north in metres,a column that says nothing,kind", ...lines, ""].join("\n");
}

// Uncompressed, three bytes per pixel, each row filled up to four bytes; 12 pixels need no filling.
function bitmap(colour) {
  const bytes = Buffer.alloc(54 + 3 * side * side);
  bytes.write("BM");
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(side, 18);
  bytes.writeInt32LE(side, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  for (let y = 0; y < side; ++y)
    for (let x = 0; x < side; ++x)
      colour(x, y).forEach((value, c) => bytes.writeUInt8(Math.max(0, Math.min(255, Math.round(value))), 54 + 3 * (y * side + x) + c));
  return bytes;
}

const patterns = {
  "rows of tiles": (x, y) => ((y >> 1) & 1 ? 200 : 40),
  columns: (x) => ((x >> 1) & 1 ? 200 : 40),
  checks: (x, y) => (((x >> 1) ^ (y >> 1)) & 1 ? 200 : 40),
};
function image(pattern) {
  const strength = 0.2 + 0.8 * uniform(); // the weakest are hard to tell
  return bitmap((x, y) => [0, 1, 2].map((c) => 120 + strength * (pattern(x, y) - 120) + 45 * normal() + 10 * c));
}
function images(name, count) {
  for (const [kind, pattern] of Object.entries(patterns)) {
    const inside = join(folder, name, kind);
    mkdirSync(inside, { recursive: true });
    for (let i = 0; i < count; ++i) writeFileSync(join(inside, `${i}.bmp`), image(pattern));
  }
}

mkdirSync(join(folder, "noise", "none"), { recursive: true });
writeFileSync(join(folder, "points.csv"), points(600, 0));
writeFileSync(join(folder, "points-test.csv"), points(300, 0));
writeFileSync(join(folder, "far.csv"), points(90, 9));
images("images", 70);
images("images-test", 30);
for (let i = 0; i < 40; ++i) writeFileSync(join(folder, "noise", "none", `${i}.bmp`), bitmap(() => [0, 1, 2].map(() => 256 * uniform())));
