// node serve_kinds_test.mjs ADDRESS [FOLDER]: the page of a server with two models, for rows of numbers and for colour images. For each
// model it shows the right way to give an input. Says what is wrong, one line per problem, and exits 1. With FOLDER it leaves pictures
// there.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "./browser.mjs";

const [, , address, folder] = process.argv;
const problems = [];
const expect = (condition, problem) => condition || problems.push(problem);
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
if (folder) mkdirSync(folder, { recursive: true });
const picture = async (page, name) => folder && (await pause(500), writeFileSync(join(folder, `${name}.png`), await page.screenshot()));
const text = (page, id) => page.evaluate(`document.getElementById("${id}").textContent`);
const isShown = (page, id) => page.evaluate(`document.getElementById("${id}").checkVisibility()`);

// Waits until the condition holds, as long as a busy machine may take.
async function until(isSo) {
  for (let i = 0; i < 500 && !(await isSo()); ++i) await pause(20);
}

async function answered(page) {
  await until(async () => /Answered/.test(await text(page, "time")));
  expect(/Answered/.test(await text(page, "time")), `no answer, but '${await text(page, "words")}'`);
}

async function checkPage(page, name) {
  const [content, window] = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
  expect(content <= window, `${name}: the page is ${content} pixels wide, the window ${window}`);
  const edges = await page.evaluate(`[...document.querySelectorAll("#bars .track")].map((track) => {
    const { left, right } = track.getBoundingClientRect(); return Math.round(left) + " to " + Math.round(right); })`);
  expect(edges.length >= 2 && new Set(edges).size === 1, `${name}: bars stand at ${edges.join(", ")}`);
}

async function checkRows(page, name, metadata) {
  const { class_names: classes, feature_names: columns, columns: own } = metadata.parameters;
  await until(async () => (await text(page, "name")) === metadata.name);
  expect((await text(page, "name")) === metadata.name, `${name}: the page is called '${await text(page, "name")}'`);
  const about = await text(page, "about");
  for (const word of classes) expect(about.includes(word), `${name}: the class ${word} is not named in '${about}'`);
  expect(/hands back at most 20 %/.test(about), `${name}: nothing is said of what it hands back: '${about}'`);
  for (const id of ["pad", "photo-drop"]) expect(!(await isShown(page, id)), `${name}: ${id} is shown for rows of numbers`);
  const fields = await page.evaluate(`[...document.querySelectorAll("#table-input label span")].map((span) => span.textContent)`);
  expect(fields.join() === (own ? own.map((column) => column.title) : columns).join(), `${name}: the fields are called ${fields}`);
  await pause(300);
  const asked = page.complaints.filter((complaint) => complaint.startsWith(`request: ${address}predict`));
  expect(asked.length === 0 && (await text(page, "time")) === "", `${name}: the page asks before the user does`);
  await page.evaluate(`document.querySelector("#table-input button").click()`);
  await answered(page);
  expect(/Evidence of drift: [0-9.]+; the alarm comes at 100\./.test(await text(page, "time")), `${name}: the page says nothing about drift: '${await text(page, "time")}'`);
  await checkPage(page, name);
  await picture(page, name);
  await page.evaluate(`{ const field = document.querySelector("#table-input input"); field.value = "1000"; field.dispatchEvent(new Event("input", { bubbles: true })); }`);
  const verdict = () => page.evaluate(`document.getElementById("verdict").dataset.verdict`);
  await until(async () => (await verdict()) !== "accept");
  expect((await verdict()) !== "accept", `${name}: a row that is far off is accepted`);
  const spoke = await page.evaluate(`[...document.querySelectorAll(".spoke")].filter((badge) => badge.checkVisibility()).length`);
  expect(spoke === 1, `${name}: ${spoke} gauges say that they reject the answer`);
  await picture(page, `${name}-far`);
}

async function checkPhotos(page, name) {
  await page.evaluate(`{ const select = document.getElementById("model"); select.selectedIndex = 1; select.dispatchEvent(new Event("change")); }`);
  await until(() => isShown(page, "photo-drop"));
  expect(await isShown(page, "photo-drop"), `${name}: there is no place to drop a photo`);
  for (const id of ["pad", "table-input", "undo", "draw-hint"]) expect(!(await isShown(page, id)), `${name}: ${id} is shown for photos`);
  expect((await text(page, "time")) === "", `${name}: an answer without a photo`);
  await picture(page, `${name}-start`);
  await page.evaluate(`[...document.querySelectorAll("#examples button")].find((button) => button.textContent === "checks").click()`);
  await answered(page);
  expect((await isShown(page, "pad")) && !(await isShown(page, "photo-drop")), `${name}: the photo is not shown`);
  await checkPage(page, name);
  await picture(page, name);
  await page.evaluate(`document.getElementById("clear").click()`);
  expect(await isShown(page, "photo-drop"), `${name}: no other photo can be chosen`);
}

const models = (await (await fetch(`${address}v2/models`)).json()).models;
const metadata = await (await fetch(`${address}v2/models/${models[0]}`)).json();
const browser = new Browser(process.env.CHROMIUM ?? "chromium");
try {
  for (const [width, scheme] of [[1280, "light"], [390, "dark"]]) {
    const page = await browser.open();
    await page.show(address, { width, scheme });
    await checkRows(page, `${width}-${scheme}-rows`, metadata);
    await checkPhotos(page, `${width}-${scheme}-photos`);
    for (const complaint of page.complaints)
      if (!complaint.startsWith(`request: ${address}`)) problems.push(`${width}-${scheme}: ${complaint}`);
  }
} finally {
  await browser.close();
}
for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
