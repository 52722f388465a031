// Inputs one click away, made here: strokes, and strokes that change, for models of digits; patterns for any images.

const arc = (x, y, rx, ry, from, to, steps = 24) =>
  Array.from({ length: steps + 1 }, (_, i) => {
    const angle = ((from + ((to - from) * i) / steps) * Math.PI) / 180;
    return [x + rx * Math.cos(angle), y + ry * Math.sin(angle)];
  });

const strokes = {
  two: [[...arc(0.5, 0.34, 0.19, 0.17, 195, 385), [0.6, 0.55], [0.45, 0.7], [0.31, 0.83], [0.33, 0.83], [0.5, 0.82], [0.72, 0.83]]],
  three: [[...arc(0.47, 0.33, 0.19, 0.17, 205, 430), [0.47, 0.49], ...arc(0.47, 0.67, 0.21, 0.19, 285, 510)]],
  seven: [[[0.28, 0.2], [0.3, 0.2], [0.5, 0.2], [0.72, 0.2], [0.71, 0.22], [0.6, 0.45], [0.5, 0.65], [0.43, 0.86]]],
  zero: [arc(0.5, 0.5, 0.2, 0.31, -90, 275)],
  letterR: [[[0.34, 0.86], [0.34, 0.6], [0.34, 0.17]], [[0.34, 0.18], ...arc(0.46, 0.33, 0.2, 0.155, -90, 90), [0.34, 0.49]], [[0.46, 0.49], [0.57, 0.66], [0.7, 0.86]]],
  letterW: [[[0.2, 0.25], [0.27, 0.5], [0.34, 0.78], [0.35, 0.78], [0.43, 0.55], [0.5, 0.36], [0.51, 0.36], [0.58, 0.55], [0.66, 0.78], [0.67, 0.78], [0.74, 0.5], [0.8, 0.25]]],
  star: [Array.from({ length: 6 }, (_, i) => [0.5 + 0.33 * Math.sin((i * 4 * Math.PI) / 5), 0.5 - 0.33 * Math.cos((i * 4 * Math.PI) / 5)]).flatMap((p) => [p, p])],
};

// From one digit to another as t goes from 0 to 1. At `middle` the digit model that comes with priornet cannot tell which.
const between = (from, to, t) => from + (to - from) * t;
const morphs = {
  fourOrNine: { ends: ["4", "9"], middle: 0.47, strokes: (t) => [
    [[between(0.38, 0.6, t), between(0.2, 0.19, t)], [between(0.37, 0.45, t), 0.2], [0.36, 0.3], [0.32, 0.44], [0.36, 0.51], [0.5, 0.51], [0.64, 0.48]],
    [[0.65, 0.2], [0.64, 0.45], [0.62, 0.65], [0.6, 0.86]]] },
  sevenOrTwo: { ends: ["7", "2"], middle: 0.36, strokes: (t) => [
    [...arc(0.5, 0.34, 0.19, 0.17, 195, 385), [0.6, 0.55], [0.45, 0.7], [0.31, 0.83], [0.33, 0.83], [between(0.34, 0.5, t), 0.82], [between(0.36, 0.72, t), 0.83]]] },
  sevenOrNine: { ends: ["7", "9"], middle: 0.56, strokes: (t) => [
    [[0.3, 0.2], [0.5, 0.2], [0.7, 0.2], [0.69, 0.22], [0.6, 0.5], [0.5, 0.86]],
    [[0.3, 0.2], [between(0.3, 0.33, t), between(0.22, 0.42, t)], [between(0.31, 0.5, t), between(0.24, 0.47, t)], [between(0.31, 0.62, t), between(0.25, 0.42, t)]]] },
};

const noise = () => () => 256 * Math.random();
const checks = (x, y, width) => (((x * 8) / width) & 1) ^ (((y * 8) / width) & 1) ? 255 : 0;
const stripes = (x, y, width) => 127 + 127 * Math.sin(((x + y) * 20) / width);

const digitNames = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
export const knowsDigits = (names) =>
  names.length === 10 && names.every((name, i) => name === String(i) || name.toLowerCase().startsWith(digitNames[i]));

export function imageExamples(names) {
  const patterns = [
    ["noise", { pattern: noise() }],
    ["checks", { pattern: checks }],
    ["stripes", { pattern: stripes }],
  ];
  if (!knowsDigits(names)) return [["Unfamiliar", patterns]];
  const drawn = (...list) => list.map(([label, key]) => [label, { strokes: strokes[key] }]);
  return [
    ["Digits", drawn(["a zero", "zero"], ["a two", "two"], ["a three", "three"], ["a seven", "seven"])],
    ["Between two digits: move the slider", Object.values(morphs).map((morph) => [`${morph.ends.join(" or ")}?`, { morph }])],
    ["No digit", [patterns[0], patterns[1], ...drawn(["the letter R", "letterR"], ["the letter W", "letterW"], ["a star", "star"])]],
  ];
}

export function patternImage(pattern, [channels, height, width]) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) {
      const at = 4 * (y * width + x);
      const grey = pattern(x, y, width);
      for (let c = 0; c < 3; ++c) image.data[at + c] = channels === 1 || c === 0 ? grey : pattern(x, y, width);
      image.data[at + 3] = 255;
    }
  context.putImageData(image, 0, 0);
  return canvas;
}

export function tableExamples({ feature_means: means, feature_deviations: deviations }) {
  if (!means?.length) return [];
  const away = (factor) => means.map((mean, i) => mean + factor * (i % 2 ? -1 : 1) * deviations[i]);
  return [
    ["Familiar", [["the average", { row: means }]]],
    ["Unfamiliar", [["10 deviations away", { row: away(10) }], ["100 deviations away", { row: away(100) }]]],
  ];
}
