// The drawing pad: by pointer, by finger, by keyboard; images are dropped on it.
import { paint } from "./strokes.js";

// Files that are dropped on an element.
export function takeDrops(element, dropped) {
  element.addEventListener("dragover", (event) => (event.preventDefault(), element.classList.add("dropping")));
  element.addEventListener("dragleave", () => element.classList.remove("dropping"));
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    element.classList.remove("dropping");
    if (event.dataTransfer.files.length > 0) dropped(event.dataTransfer.files[0]);
  });
}

export class Pad {
  constructor(canvas, changed, dropped) {
    this.isDrawable = true; // if not, the pad only shows images
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.changed = changed;
    this.strokes = [];
    this.image = null; // shown instead of strokes
    this.cursor = [0.5, 0.5];
    this.penDown = false;
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (this.pointer = undefined));
    canvas.addEventListener("keydown", (event) => this.key(event));
    for (const end of ["focus", "blur"]) canvas.addEventListener(end, () => this.draw());
    takeDrops(canvas, dropped);
    this.draw();
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }

  addPoint(point, fresh) {
    if (this.image) this.set([]);
    if (fresh) this.strokes.push([point]);
    else this.strokes.at(-1).push(point);
    this.draw();
    this.changed();
  }

  begin(event) {
    if (event.button !== 0 || !this.isDrawable) return;
    this.pointer = event.pointerId;
    this.byPointer = true;
    this.canvas.setPointerCapture(event.pointerId);
    this.addPoint(this.place(event), true);
  }

  move(event) {
    if (event.pointerId !== this.pointer) return;
    for (const each of event.getCoalescedEvents?.() ?? [event]) this.addPoint(this.place(each), false);
  }

  key(event) {
    if (!this.isDrawable) return;
    const step = event.shiftKey ? 0.01 : 0.04;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    this.byPointer = false;
    if (event.key in moves) {
      this.cursor = this.cursor.map((value, i) => Math.min(1, Math.max(0, value + moves[event.key][i])));
      if (this.penDown) this.addPoint([...this.cursor], false);
    } else if (event.key === " ") {
      this.penDown = !this.penDown;
      if (this.penDown) this.addPoint([...this.cursor], true);
    } else if (event.key === "Backspace") {
      this.undo();
    } else if (event.key === "Escape") {
      this.set([]);
      this.changed();
    } else {
      return;
    }
    event.preventDefault();
    this.draw();
  }

  undo() {
    this.penDown = false;
    this.strokes.pop();
    this.image = null;
    this.draw();
    this.changed();
  }

  set(strokes) {
    this.strokes = strokes.map((stroke) => stroke.map((point) => [...point]));
    this.image = null;
    this.penDown = false;
    this.draw();
  }

  show(image) {
    this.set([]);
    this.image = image;
    this.draw();
  }

  draw() {
    const { context, canvas } = this;
    context.fillStyle = "#000";
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (this.image) {
      const scale = Math.min(canvas.width / this.image.width, canvas.height / this.image.height);
      const [width, height] = [this.image.width * scale, this.image.height * scale];
      context.imageSmoothingEnabled = scale < 2;
      context.drawImage(this.image, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height);
    }
    paint(context, this.strokes, { size: canvas.width, width: 0.075 });
    if (document.activeElement !== canvas || this.byPointer) return;
    const [x, y] = this.cursor.map((value) => value * canvas.width);
    context.lineWidth = 4;
    context.strokeStyle = this.penDown ? "#ff8a80" : "#7fb0e6";
    context.beginPath();
    context.arc(x, y, 16, 0, 2 * Math.PI);
    context.stroke();
  }
}
