// node serve_test.mjs ADDRESS [FOLDER]: uses the server's page as a visitor would: draws by pointer and by keyboard, tries
// every example, wide and narrow, light and dark. Says what is wrong, one line per problem, and exits 1. With FOLDER it leaves
// pictures there.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "./browser.mjs";

const [, , address, folder] = process.argv;
const problems = [];
const expect = (condition, problem) => condition || problems.push(problem);
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
if (folder) mkdirSync(folder, { recursive: true });

// Once bars and gauges have stopped moving.
const picture = async (page, name) => folder && (await pause(500), writeFileSync(join(folder, `${name}.png`), await page.screenshot()));
const text = (page, id) => page.evaluate(`document.getElementById("${id}").textContent`);
const gauges = (page) => page.evaluate(`[...document.querySelectorAll(".gauge")].map((gauge) => gauge.querySelector(".fill").style.width).join()`);

// Waits until `reading` gives another value than before, as long as a busy machine may take.
async function changed(reading, before) {
  for (let i = 0; i < 500; ++i) {
    const now = await reading();
    if (now !== before) return now;
    await pause(20);
  }
  return before;
}

// Waits until the page shows another answer than before.
async function answered(page, before) {
  await changed(async () => {
    const now = await text(page, "words");
    return /Answered/.test(await text(page, "time")) ? now : before;
  }, before);
}

async function drawStroke(page, points) {
  const box = await page.evaluate(`{ const pad = document.getElementById("pad"); pad.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, top, width, height } = pad.getBoundingClientRect(); ({ left, top, width, height }) }`);
  const mouse = (type, [x, y], buttons) => page.send("Input.dispatchMouseEvent",
    { type, x: box.left + x * box.width, y: box.top + y * box.height, button: "left", buttons, clickCount: 1, pointerType: "mouse" });
  await mouse("mousePressed", points[0], 1);
  for (const point of points.slice(1)) await mouse("mouseMoved", point, 1);
  await mouse("mouseReleased", points.at(-1), 0);
}

const seven = [[0.3, 0.22], [0.4, 0.22], [0.5, 0.22], [0.6, 0.22], [0.7, 0.22], [0.65, 0.35], [0.58, 0.5], [0.5, 0.66], [0.44, 0.8]];

const ambiguous = [[0.4, 0.26], [0.48, 0.21], [0.56, 0.19], [0.57, 0.2], [0.54, 0.4], [0.5, 0.62], [0.47, 0.86]]; // 1 or 7
const letter = [[0.2, 0.25], [0.27, 0.5], [0.34, 0.78], [0.43, 0.55], [0.5, 0.36], [0.58, 0.55], [0.66, 0.78], [0.74, 0.5], [0.8, 0.25]]; // W

// The test does not check what the model answers, only that the page shows a new answer for each drawing.
async function checkDrawings(page, name) {
  const seen = new Set();
  for (const [kind, points] of Object.entries({ digit: seven, ambiguous, letter })) {
    await page.evaluate(`document.getElementById("clear").click()`);
    const before = await text(page, "words");
    await drawStroke(page, points);
    await answered(page, before);
    await pause(200);
    expect((await text(page, "class")).length > 0, `${name}: ${kind}: a drawing gets no class, but '${await text(page, "words")}'`);
    seen.add(await gauges(page));
    if (folder) console.log(`drawn ${kind}: ${await text(page, "class")}, ${await text(page, "verdict-name")}`);
    await picture(page, `${name}-drawn-${kind}`);
  }
  expect(seen.size === 3, `${name}: a digit, an ambiguous one and a letter look alike`);
  await page.evaluate(`document.getElementById("clear").click()`);
}

async function checkDrawing(page, name) {
  const before = await text(page, "words");
  await drawStroke(page, seven);
  await answered(page, before);
  const first = await gauges(page);
  expect((await text(page, "class")).length > 0, `${name}: a drawing gets no class, but '${await text(page, "words")}'`);
  await drawStroke(page, [[0.2, 0.7], [0.4, 0.55], [0.6, 0.75], [0.8, 0.5]]);
  expect((await changed(() => gauges(page), first)) !== first, `${name}: the gauges do not move as more is drawn`);
}

async function checkKeyboard(page, name) {
  await page.evaluate(`document.getElementById("clear").click(); document.getElementById("pad").focus()`);
  const key = async (code, text_ = undefined) => {
    await page.send("Input.dispatchKeyEvent", { type: "keyDown", key: code, text: text_ });
    await page.send("Input.dispatchKeyEvent", { type: "keyUp", key: code });
  };
  const inked = `{ const canvas = document.getElementById("seen");
    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.filter((value, i) => i % 4 === 0 && value > 100).length }`;
  expect((await page.evaluate(inked)) === 0, `${name}: a cleared pad is not empty`);
  await key(" ", " ");
  for (let i = 0; i < 6; ++i) await key("ArrowDown");
  await key(" ", " ");
  expect(await changed(async () => (await page.evaluate(inked)) > 5, false), `${name}: the keyboard draws nothing`);
  await key("Backspace");
  expect((await page.evaluate(inked)) === 0, `${name}: Backspace does not take the stroke back`);
}

async function checkExamples(page, name) {
  const count = await page.evaluate(`document.querySelectorAll("#examples button").length`);
  expect(count >= 2, `${name}: ${count} examples`);
  const seen = new Set();
  for (let i = 0; i < count; ++i) {
    const before = await text(page, "words");
    const label = await page.evaluate(`{ const button = document.querySelectorAll("#examples button")[${i}]; button.click(); button.textContent }`);
    await answered(page, before);
    const verdict = await page.evaluate(`document.getElementById("verdict").dataset.verdict`);
    seen.add(await gauges(page));
    if (folder) console.log(`${label}: ${await text(page, "class")}, ${verdict}. ${await text(page, "words")}`);
    await picture(page, `${name}-${label.replaceAll(/[^a-z0-9]+/gi, "-")}`);
  }
  expect(seen.size > 1, `${name}: the examples all look alike to the model`);
}

async function checkClear(page, name) {
  await page.evaluate(`document.getElementById("clear").click()`);
  await changed(async () => (await text(page, "class")) === "", false);
  const left = `${await text(page, "class")}${await text(page, "time")}${await text(page, "bars")}`;
  expect(left === "", `${name}: an answer stays when the pad is cleared: '${left}'`);
}

// Clicks on an example, then waits until the question has been sent, and gives a function that lets its answer come.
async function heldQuestion(page) {
  await page.evaluate(`{ const real = window.fetch; window.held = 0;
    window.fetch = async (...request) => {
      const answer = await real(...request);
      ++window.held;
      await new Promise((done) => (window.release = done));
      window.fetch = real;
      return answer;
    };
    document.querySelector("#examples button").click(); }`);
  await changed(() => page.evaluate("window.held"), 0);
  return () => page.evaluate("window.release()");
}

// The answer to the last drawing comes after the page has complained about a file.
async function checkComplaint(page, name) {
  await page.evaluate(`document.getElementById("clear").click()`);
  await changed(async () => (await text(page, "class")) === "", false);
  const release = await heldQuestion(page);
  await page.evaluate(`{ const chosen = new DataTransfer(); chosen.items.add(new File(["no image"], "notes.txt"));
    const input = document.getElementById("file"); input.files = chosen.files; input.dispatchEvent(new Event("change")); }`);
  await changed(async () => (await text(page, "verdict-name")) === "No answer", false);
  await release();
  await pause(300);
  const shown = `${await text(page, "verdict-name")}${await text(page, "class")}`;
  expect(shown === "No answer", `${name}: an answer stands beside a file that nobody could read: '${shown}'`);
}

// A server that wants a token, made of the one that wants none.
async function checkToken(page, name) {
  await page.evaluate(`{ window.real = window.fetch; window.right = "Bearer s\\u00c3\\u00a9same";
    window.fetch = (path, options) => options.headers.Authorization === window.right
      ? window.real(path, options) : Promise.resolve(new Response('{"error":"a token is needed"}', { status: 401 }));
    document.querySelector("#examples button").click(); }`);
  const asked = () => page.evaluate(`document.getElementById("token-dialog").open`);
  const refused = () => page.evaluate(`!document.getElementById("token-refused").hidden`);
  const kept = () => page.evaluate(`sessionStorage.getItem("token")`);
  const give = (token) => page.evaluate(`{ const field = document.getElementById("token"); field.value = "${token}";
    field.form.querySelector("button").click(); }`);
  expect(await changed(asked, false), `${name}: nobody is asked for a token`);
  expect(!(await refused()), `${name}: a token is refused before one was given`);
  await give("sesam\\u20ac");
  expect(await changed(refused, false), `${name}: a wrong token is not refused`);
  expect((await asked()) && (await kept()) === null, `${name}: a wrong token is kept: '${await kept()}'`);
  const before = await text(page, "words");
  await give("s\\u00e9same");
  await answered(page, before);
  expect((await kept()) === "s\u00c3\u00a9same", `${name}: the right token is not kept: '${await kept()}'`);
  await page.evaluate(`window.fetch = window.real; sessionStorage.clear(); document.getElementById("clear").click()`);
}

async function checkMorph(page, name) {
  const words = await text(page, "words");
  await page.evaluate(`[...document.querySelectorAll("#examples button")].find((button) => button.textContent === "4 or 9?").click()`);
  await answered(page, words);
  const move = (t) => page.evaluate(`{ const slider = document.getElementById("morph-at"); slider.value = ${t}; slider.dispatchEvent(new Event("input")); }`);
  for (const t of [0, 1]) {
    const before = await gauges(page);
    await move(t);
    expect((await changed(() => gauges(page), before)) !== before, `${name}: the slider from 4 to 9 changes nothing at ${t}`);
  }
  await page.evaluate(`document.getElementById("clear").click()`);
  expect(await page.evaluate(`document.getElementById("morph").hidden`), `${name}: the slider stays without what it changes`);
}

async function checkViews(page, name) {
  for (const view of ["probabilities", "simplex", "alphas"]) {
    await page.evaluate(`document.querySelector('[data-view="${view}"]').click()`);
    await page.settle();
    if (view === "simplex") await picture(page, `${name}-simplex`);
  }
  expect((await page.evaluate(`document.querySelectorAll("#bars .bar").length`)) >= 2, `${name}: no bars`);
}

// The page calls every measure that the model gives by its label, and its own function knows the labels of all measures
// of the table.
async function checkLabels(page, name) {
  const { table, shown, wanted, missing, gauges: texts } = await page.evaluate(`(async () => {
    const { Measures } = await import("/page/measures.js");
    const model = (await (await fetch("/v2/models")).json()).models[0];
    const { parameters } = await (await fetch("/v2/models/" + model)).json();
    const measures = new Measures(parameters);
    return {
      table: parameters.measure_table.length,
      missing: parameters.measure_table.filter((row) => !row.label || measures.label(row.name) !== row.label).map((row) => row.name),
      shown: [...document.querySelectorAll("#all tbody tr")].map((row) => row.cells[0].textContent),
      wanted: parameters.measures.map((measure) => parameters.measure_table.find((row) => row.name === measure)?.label),
      gauges: [...document.querySelectorAll(".gauge")].map((gauge) => gauge.textContent),
    };
  })()`);
  expect(table > 10, `${name}: the table of measures has ${table} rows`);
  expect(missing.length === 0, `${name}: no label for ${missing.join(", ")}`);
  expect(shown.join() === wanted.join(), `${name}: measures are called ${shown}, the table says ${wanted}`);
  for (const text of texts) expect(wanted.some((label) => text.includes(label)), `${name}: a gauge without a label: '${text}'`);
}

async function checkLayout(page, name) {
  const [content, window] = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
  expect(content <= window, `${name}: the page is ${content} pixels wide, the window ${window}`);
  const nameless = await page.evaluate(`[...document.querySelectorAll("select, button, input")].filter((control) =>
    control.checkVisibility() && !(control.labels?.length || control.textContent || control.getAttribute("aria-label"))).length`);
  expect(nameless === 0, `${name}: ${nameless} controls without a name`);
}

const browser = new Browser(process.env.CHROMIUM ?? "chromium");
try {
  const colours = {};
  for (const [width, scheme] of [[1200, "light"], [390, "dark"]]) {
    const page = await browser.open();
    const name = `${width}-${scheme}`;
    await page.show(address, { width, scheme });
    await pause(200);
    colours[scheme] = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    await picture(page, `${name}-start`);
    await checkDrawings(page, name);
    await checkDrawing(page, name);
    await checkKeyboard(page, name);
    await checkExamples(page, name);
    await checkViews(page, name);
    await checkLabels(page, name);
    await checkMorph(page, name);
    await checkClear(page, name);
    await checkComplaint(page, name);
    await checkToken(page, name);
    await checkLayout(page, name);
    for (const complaint of page.complaints)
      if (!complaint.startsWith(`request: ${address}`)) problems.push(`${name}: ${complaint}`);
  }
  expect(colours.light !== colours.dark, "light and dark look the same");
} finally {
  await browser.close();
}
for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
