// The density over three classes that the user chooses. Among three classes alone, a Dirichlet is the Dirichlet of
// their three concentrations.

export class Simplex {
  constructor(canvas, corners, classNames) {
    this.canvas = canvas;
    this.selects = [0, 1, 2].map((corner) => {
      const select = document.createElement("select");
      select.setAttribute("aria-label", `class at corner ${corner + 1}`);
      classNames.forEach((name, i) => select.add(new Option(name, i)));
      select.addEventListener("change", () => ((this.chosen = true), this.draw()));
      return select;
    });
    this.names = classNames;
    corners.replaceChildren(...this.selects);
  }

  clear() {
    this.alphas = undefined;
    this.canvas.getContext("2d").clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  show(alphas) {
    this.alphas = alphas;
    if (!this.chosen) {
      const order = alphas.map((_, i) => i).sort((a, b) => alphas[b] - alphas[a]);
      this.selects.forEach((select, i) => (select.value = order[Math.min(i, order.length - 1)]));
    }
    this.draw();
  }

  draw() {
    if (!this.alphas || this.canvas.clientWidth === 0) return;
    const { width, height } = this.canvas;
    const context = this.canvas.getContext("2d");
    const chosen = this.selects.map((select) => Number(select.value));
    const alpha = chosen.map((i) => this.alphas[i]);
    const [top, left, right] = [[width / 2, 34], [24, height - 34], [width - 24, height - 34]];
    const area = (right[0] - left[0]) * (left[1] - top[1]);
    const place = (x, y) => {
      const first = (left[1] - y) / (left[1] - top[1]);
      const third = ((x - left[0]) * (left[1] - top[1]) - (top[0] - left[0]) * (left[1] - y)) / area;
      return [first, 1 - first - third, third];
    };
    const style = getComputedStyle(document.body);
    const log = new Float64Array(width * height).fill(NaN);
    let peak = -Infinity;
    for (let y = 0; y < height; ++y)
      for (let x = 0; x < width; ++x) {
        const p = place(x + 0.5, y + 0.5);
        if (p.some((value) => value <= 0)) continue;
        // Below alpha = 1 the density has poles: cut off near the edge, or one pixel there would outshine all others.
        const value = p.reduce((sum, q, i) => sum + (alpha[i] - 1) * Math.log(alpha[i] < 1 ? Math.max(q, 0.02) : q), 0);
        log[y * width + x] = value;
        peak = Math.max(peak, value);
      }
    const [r, g, b] = [214, 90, 49];
    const image = context.createImageData(width, height);
    for (let i = 0; i < log.length; ++i) {
      if (Number.isNaN(log[i])) continue;
      image.data.set([r, g, b, 30 + 225 * Math.exp(log[i] - peak)], 4 * i);
    }
    context.clearRect(0, 0, width, height);
    context.putImageData(image, 0, 0);
    const sum = alpha[0] + alpha[1] + alpha[2];
    const mean = [0, 1].map((axis) => (alpha[0] * top[axis] + alpha[1] * left[axis] + alpha[2] * right[axis]) / sum);
    context.strokeStyle = style.color;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(...mean, 7, 0, 2 * Math.PI);
    context.stroke();
    context.fillStyle = style.color;
    context.font = "20px system-ui, sans-serif";
    const label = (text, x, y, align) => {
      context.textAlign = align;
      context.fillText(text.length > 18 ? `${text.slice(0, 17)}…` : text, x, y);
    };
    label(this.names[chosen[0]], top[0], 22, "center");
    label(this.names[chosen[1]], 6, height - 8, "left");
    label(this.names[chosen[2]], width - 6, height - 8, "right");
  }
}
