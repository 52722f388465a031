import { latest, metadata, models, predict, Refused, useToken } from "./client.js";
import { imageExamples, knowsDigits, patternImage, tableExamples } from "./examples.js";
import { Pad, takeDrops } from "./pad.js";
import { Simplex } from "./simplex.js";
import { modelImage } from "./strokes.js";
import { short as shortNumber, View } from "./view.js";

const byId = (id) => document.getElementById(id);
let model, shape, view, simplex, pad, file, morph, kind;

// The inputs of a model decide what the page shows first. The user draws small grey images, and drops or chooses
// photographs.
const kinds = {
  drawing: ["Draw something", "The answer follows as you draw."],
  photo: ["Choose a photo", "The answer follows at once."],
  row: ["Fill in a row", "The answer follows as you type. The first values are typical ones: press Answer to ask about them."],
};
const largestDrawing = 64;
const kindOf = ([channels, height, width]) =>
  height === undefined ? "row" : channels === 1 && Math.max(height, width) <= largestDrawing ? "drawing" : "photo";

// Removes the answer, so that no answer stands beside another input or another model.
function showNone(name, words) {
  view?.clear();
  simplex?.clear();
  byId("verdict").dataset.verdict = "none";
  byId("verdict-name").textContent = name;
  byId("class").textContent = "";
  byId("words").textContent = words;
}

// A question from before a complaint is dropped: its input is not what the page shows.
let complaints = 0;
function complain(error) {
  ++complaints;
  showNone("No answer", error.message);
}

// Asks the user for a token if the server wants one.
async function withToken(work) {
  for (let asked = false; ; asked = true) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 401) throw error;
      const dialog = byId("token-dialog");
      byId("token").value = "";
      byId("token-refused").hidden = !asked;
      dialog.showModal();
      await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
      useToken(byId("token").value);
    }
  }
}

// Without a body there is nothing to ask about. A question that waited while the user chose another model is dropped.
const askLatest = latest(async ({ body, asked, before }) => {
  const dropped = () => asked !== model || before !== complaints;
  if (!asked || dropped()) return;
  if (!body) return showNone(...kinds[kind]);
  const start = performance.now();
  try {
    const answer = await withToken(() => predict(asked, body instanceof Function ? body() : body));
    if (dropped()) return;
    view.show(answer, performance.now() - start);
    if (answer.alphas) simplex.show(answer.alphas);
  } catch (error) {
    if (!dropped()) complain(error);
  }
}, 50);
const ask = (body) => askLatest({ body, asked: model, before: complaints });

// toBlob would wait until the browser is idle, for up to a second.
function asPng(canvas) {
  const bytes = Uint8Array.from(atob(canvas.toDataURL("image/png").split(",")[1]), (character) => character.charCodeAt(0));
  return new Blob([bytes], { type: "image/png" });
}

function inverted(canvas) {
  const context = canvas.getContext("2d");
  context.globalCompositeOperation = "difference";
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.globalCompositeOperation = "source-over";
  return canvas;
}

function copied(image) {
  const scale = Math.min(1, 1024 / Math.max(image.width, image.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

function preview(image) {
  const canvas = byId("seen");
  [, canvas.height, canvas.width] = shape;
  canvas.getContext("2d", { willReadFrequently: true }).drawImage(image, 0, 0, canvas.width, canvas.height);
}

function inputChanged() {
  const isPhoto = kind === "photo";
  byId("photo-drop").hidden = !isPhoto || pad.image !== null;
  byId("pad").hidden = isPhoto && pad.image === null;
  byId("clear").hidden = byId("choose").hidden = byId("seen").parentElement.parentElement.hidden = isPhoto && pad.image === null;
  if (pad.image) {
    const canvas = byId("invert").checked ? inverted(copied(pad.image)) : pad.image;
    preview(canvas);
    // Sends the file itself if possible: the server resizes it as in training.
    ask(file && !byId("invert").checked ? file : () => asPng(copied(canvas)));
    return;
  }
  const canvas = modelImage(pad.strokes, shape, byId("centre").checked);
  if (byId("invert").checked) inverted(canvas);
  preview(canvas);
  ask(pad.strokes.length > 0 && (() => asPng(canvas)));
}

async function takeFile(chosen) {
  try {
    const image = await createImageBitmap(chosen);
    file = chosen;
    offerMorph();
    pad.show(image);
    inputChanged();
  } catch {
    complain(new Error(`This browser cannot read ${chosen.name} as an image.`));
  }
}

function fillTable(row) {
  [...byId("table-input").querySelectorAll("input")].forEach((input, i) => (input.value = Number(row[i].toPrecision(6))));
}

// If the model knows its columns, fields may hold text and may be empty: the server knows what that means.
function tableChanged() {
  const inputs = [...byId("table-input").querySelectorAll("input")];
  if (inputs.some((input) => input.name))
    return ask(JSON.stringify({ features: Object.fromEntries(inputs.map((input) => [input.name, input.value])) }));
  const features = inputs.map((input) => input.valueAsNumber);
  if (features.some(Number.isNaN)) return complain(new Error("Every field should hold a number."));
  ask(JSON.stringify({ features }));
}

// A slider below the pad, which is shown as long as the drawing that it changes.
function offerMorph(chosen) {
  morph = chosen;
  byId("morph").hidden = !morph;
  if (!morph) return;
  [byId("morph-from").textContent, byId("morph-to").textContent] = morph.ends;
  byId("morph-at").value = morph.middle;
}

function use({ strokes, morph: chosen, pattern, row }) {
  if (row) return fillTable(row), tableChanged();
  file = undefined;
  offerMorph(chosen);
  if (pattern) pad.show(patternImage(pattern, shape));
  else pad.set(strokes ?? chosen.strokes(chosen.middle));
  inputChanged();
}

function showExamples(groups) {
  byId("examples").replaceChildren(
    ...groups.flatMap(([name, examples]) => {
      const heading = document.createElement("h2");
      heading.textContent = name;
      const row = document.createElement("div");
      row.className = "row";
      for (const [label, example] of examples) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = label;
        button.addEventListener("click", () => use(example));
        row.append(button);
      }
      return [heading, row];
    }));
}

function showForm(fields) {
  const button = document.createElement("button");
  button.textContent = "Answer";
  byId("table-input").replaceChildren(...fields, button);
}

// One field per column of the user's table, with a typical value.
function showColumns(columns) {
  showForm(
    columns.map(({ name, title: shown, type, levels, typical }, i) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      const value = typeof typical === "number" ? Number(typical.toPrecision(6)) : typical ?? "";
      Object.assign(input, { type: "text", name, value, placeholder: type });
      const title = document.createElement("span");
      title.textContent = shown;
      label.append(title, input);
      if (levels.length) {
        const list = document.createElement("datalist");
        list.id = `levels-${i}`;
        list.append(...levels.map((level) => Object.assign(document.createElement("option"), { value: level })));
        input.setAttribute("list", list.id);
        label.append(list);
      }
      return label;
    }));
}

// One field per column, with the mean of the column.
function showTable({ feature_names: names, feature_means: means, feature_deviations: deviations }) {
  showForm(
    Array.from({ length: shape[0] }, (_, i) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      Object.assign(input, { type: "number", step: "any", value: "0" });
      const title = document.createElement("span");
      title.textContent = names?.[i] ?? `feature ${i + 1}`;
      label.append(title, input);
      if (means?.length > 0) {
        const usual = document.createElement("small");
        const [low, high] = [-2, 2].map((factor) => shortNumber(means[i] + factor * deviations[i]));
        usual.textContent = `usual: ${low} to ${high}`;
        label.append(usual);
      }
      return label;
    }));
}

const listedClasses = 12;
const listed = (names) =>
  names.length <= listedClasses + 1 ? names.join(", ") : `${names.slice(0, listedClasses).join(", ")} and ${names.length - listedClasses} more`;

// Says what the model does, for visitors who do not know it.
function introduce(name, { class_names: classes, columns, calibrated, false_alarm: rate }) {
  const [channels, height, width] = shape;
  const fields = columns?.length ?? channels; // a column of a table may become several numbers
  const takes = kind === "row" ? `rows of ${fields} column${fields === 1 ? "" : "s"}` : `${channels === 1 ? "grey" : "colour"} images, at ${width} × ${height} pixels,`;
  byId("name").textContent = name;
  document.title = `${name} · priornet`;
  byId("about").textContent = `Sorts ${takes} into ${classes.length} classes: ${listed(classes)}. ` +
    (calibrated ? `It hands back at most ${shortNumber(100 * rate)} % of inputs like those of its calibration set, on average.`
      : "It was not calibrated, so it gives no verdict.");
}

function switchTo(shown) {
  view.view = shown;
  for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", button.dataset.view === shown);
  byId("simplex").hidden = shown !== "simplex";
  byId("bars").hidden = shown === "simplex";
  if (shown !== "simplex") return view.showBars();
  simplex.draw();
  byId("shape-hint").textContent = "Where the Dirichlet expects the probabilities of these three classes. A sharp spot in a corner means certain, a sharp spot in the middle means ambiguous, and a wide haze means unfamiliar.";
}

async function start(name) {
  model = undefined; // no question is sent before the page shows what the model takes
  const { inputs, parameters } = await withToken(() => metadata(name));
  model = name;
  shape = inputs[0].shape.slice(1);
  kind = kindOf(shape);
  const images = kind !== "row";
  introduce(name, parameters);
  view = new View(parameters);
  simplex = new Simplex(byId("triangle"), byId("corners"), parameters.class_names);
  for (const button of document.querySelectorAll("[data-view]")) button.hidden = button.dataset.view !== "probabilities" && !parameters.dirichlet;
  document.querySelector('[data-view="simplex"]').hidden ||= parameters.class_names.length < 3;
  switchTo(view.view);
  byId("image-input").hidden = !images;
  byId("table-input").hidden = images;
  if (images) {
    pad.isDrawable = kind === "drawing";
    byId("pad").tabIndex = pad.isDrawable ? 0 : -1;
    byId("pad").setAttribute("aria-label", pad.isDrawable ? "Drawing pad" : "The photo");
    for (const id of ["draw-hint", "undo", "centre-switch"]) byId(id).hidden = !pad.isDrawable;
    byId("clear").textContent = pad.isDrawable ? "Clear" : "Another photo";
    byId("photo-hint").textContent = `The photo is resized to ${shape[2]} × ${shape[1]} pixels, as in training. It is sent to this server only.`;
    pad.set([]);
    file = undefined;
    offerMorph();
    byId("centre").checked = knowsDigits(parameters.class_names);
    showExamples(imageExamples(parameters.class_names));
    inputChanged();
  } else if (parameters.columns) {
    showColumns(parameters.columns);
    showExamples([]);
  } else {
    showTable(parameters);
    showExamples(tableExamples(parameters));
    if (parameters.feature_means?.length) fillTable(parameters.feature_means);
  }
  // A question that nobody asked would count among the verdicts of the server and as evidence of drift.
  if (!images) ask();
}

async function open() {
  pad = new Pad(byId("pad"), () => ((file = undefined), offerMorph(), inputChanged()), takeFile);
  byId("clear").addEventListener("click", () => (pad.set([]), offerMorph(), inputChanged()));
  byId("morph-at").addEventListener("input", ({ target }) => (pad.set(morph.strokes(target.valueAsNumber)), inputChanged()));
  byId("undo").addEventListener("click", () => pad.undo());
  for (const id of ["file", "photo"])
    byId(id).addEventListener("change", ({ target }) => {
      if (target.files.length > 0) takeFile(target.files[0]);
      target.value = ""; // the same file may be chosen again
    });
  takeDrops(byId("photo-drop"), takeFile);
  for (const id of ["centre", "invert"]) byId(id).addEventListener("change", inputChanged);
  byId("table-input").addEventListener("input", tableChanged);
  byId("table-input").addEventListener("submit", (event) => (event.preventDefault(), tableChanged()));
  for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => switchTo(button.dataset.view));
  const names = await withToken(models);
  const select = byId("model");
  for (const name of names) select.add(new Option(name, name));
  byId("model-choice").hidden = names.length < 2;
  select.addEventListener("change", () => start(select.value).catch(complain));
  await start(names[0]);
}

open().catch(complain);
