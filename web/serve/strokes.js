// Strokes are lists of points in a unit square. They are kept as such, and drawn at any size.

const kSample = 4; // finer than the model's pixels, then averaged

export function paint(context, strokes, { size, width, transform = [1, 0, 0] }) {
  const [scale, dx, dy] = transform;
  context.lineCap = context.lineJoin = "round";
  context.strokeStyle = context.fillStyle = "#fff";
  context.lineWidth = width * size;
  const at = ([x, y]) => [(x * scale + dx) * size, (y * scale + dy) * size];
  for (const stroke of strokes) {
    context.beginPath();
    context.moveTo(...at(stroke[0]));
    if (stroke.length === 1) context.lineTo(...at(stroke[0]));
    for (let i = 1; i < stroke.length; ++i) {
      // The curve goes through the middles between points, so that the corners of a hand-drawn line are round.
      const [x, y] = at(stroke[i]);
      const [nextX, nextY] = at(stroke[Math.min(i + 1, stroke.length - 1)]);
      context.quadraticCurveTo(x, y, (x + nextX) / 2, (y + nextY) / 2);
    }
    context.stroke();
  }
}

// Scaled to 20 of 28 pixels and centred by its box, as the digits of MNIST were.
function fitted(strokes) {
  const points = strokes.flat();
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  const extent = Math.max(box[2] - box[0], box[3] - box[1], 0.05);
  const scale = 18 / 28 / extent; // the pen adds its own width
  return [scale, 0.5 - (scale * (box[0] + box[2])) / 2, 0.5 - (scale * (box[1] + box[3])) / 2];
}

function massCentre(canvas) {
  const { data, width, height } = canvas.getContext("2d", { willReadFrequently: true }).getImageData(0, 0, canvas.width, canvas.height);
  let sum = 0, x = 0, y = 0;
  for (let i = 0; i < width * height; ++i) {
    sum += data[4 * i];
    x += data[4 * i] * ((i % width) + 0.5);
    y += data[4 * i] * (Math.floor(i / width) + 0.5);
  }
  return sum === 0 ? [0.5, 0.5] : [x / sum / width, y / sum / height];
}

function blank(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillRect(0, 0, width, height);
  return [canvas, context];
}

// What the model gets: its own size, white ink on black.
export function modelImage(strokes, [, height, width], centre) {
  const transform = centre && strokes.length > 0 ? fitted(strokes) : [1, 0, 0];
  const size = Math.min(height, width) * kSample;
  const draw = () => {
    const [fine, context] = blank(width * kSample, height * kSample);
    context.translate(((width - height > 0 ? width - height : 0) * kSample) / 2, ((height - width > 0 ? height - width : 0) * kSample) / 2);
    paint(context, strokes, { size, width: 2.3 / 28, transform });
    return fine;
  };
  let fine = draw();
  if (centre && strokes.length > 0) {
    const [x, y] = massCentre(fine);
    transform[1] += 0.5 - x;
    transform[2] += 0.5 - y;
    fine = draw();
  }
  const [canvas, context] = blank(width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(fine, 0, 0, width, height);
  return canvas;
}
