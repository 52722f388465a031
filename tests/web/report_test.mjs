// node report_test.mjs REPORT.html SECTION...: opens the page as a reader would, wide and narrow, light and dark. Says what is
// wrong, one line per problem, and exits 1; the sections named must all be there. SECTION=N: it shows at least N of what such a
// section shows.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";

const [, , report, ...named] = process.argv;
const sections = named.map((section) => section.split("=")[0]);
const problems = [];
const expect = (condition, problem) => condition || problems.push(problem);

// What each section must show: how many elements of each kind, drawn and not empty.
const wanted = {
  outcomes: [".outcome-bar span", 3],
  mistakes: [".confusion tbody td", 4],
  trust: [".chart svg", 2],
  foreign: [".contest", 2],
  examples: [".tile img, .row-tile dd", 3],
  details: ["section", 3],
  figures: ["canvas", 6],
  reasons: [".chart svg", 1], // an experiment made in parts may lack one
  tables: ["tbody tr", 1],
  curves: [".chart svg", 3],
  calibration: [".chart svg", 2],
  images: ["canvas", 4],
  trivial: [".trivial li", 1],
  training: [".chart svg", 1],
  simplex: ["canvas", 3],
  record: ["dd", 3],
};

for (const [section, count] of named.map((text) => text.split("="))) if (count) wanted[section][1] = Number(count);

async function checkSections(page, name) {
  const found = await page.evaluate(`[...document.querySelectorAll("[data-section]")].map((section) => {
    const kind = section.id.split("-").at(-1);
    const selector = (${JSON.stringify(wanted)})[kind]?.[0] ?? "*";
    const shown = [...section.querySelectorAll(selector)].filter((element) => element.getBoundingClientRect().width > 0);
    const lines = [...section.querySelectorAll(".chart svg")].every((chart) =>
      [...chart.querySelectorAll('[aria-label="line"] path')].some((path) => path.getAttribute("d")?.length > 10));
    return { kind, count: shown.length, lines };
  })`);
  for (const { kind, count, lines } of found) {
    expect(kind in wanted, `${name}: a section '${kind}' that this test does not know`);
    expect(count >= (wanted[kind]?.[1] ?? 0), `${name}: section ${kind} shows ${count} of ${wanted[kind]}`);
    expect(lines, `${name}: a chart of section ${kind} has no line`);
  }
  for (const kind of sections) expect(found.some((section) => section.kind === kind), `${name}: no section ${kind}`);
}

// Nothing is wider than the page, and nothing is wider than its box, even in boxes that could scroll; a chart may draw
// over its margin.
async function checkWidth(page, name) {
  const [content, window] = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
  expect(content <= window, `${name}: the page is ${content} pixels wide, the window ${window}`);
  const cut = await page.evaluate(`[...document.querySelectorAll("body *")].filter((element) => {
    if (element.closest("svg") !== null && element.tagName !== "svg") return false;
    const { left, right } = element.getBoundingClientRect();
    const isHidden = getComputedStyle(element).overflowX === "hidden"; // an ellipsis is meant
    const isSkipped = element.closest(".skip") !== null || (element.closest("thead") !== null && innerWidth < 640); // for those who hear the page
    return !isSkipped && (right > innerWidth + 1 || left < -1 || (!isHidden && element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1 && element.tagName !== "svg"));
  }).map((element) => (element.className || element.tagName) + " '" + element.textContent.slice(0, 30) + "'").slice(0, 5)`);
  expect(cut.length === 0, `${name}: wider than its place: ${cut.join(", ")}`);
}

// The report of one model: what the first screen shows, and what appears only after a click.
async function checkModel(page, name) {
  const { figures, line, folded, marked, lower } = await page.evaluate(`({
    figures: [...document.querySelectorAll(".figures .value")].map((value) => value.textContent),
    lower: Math.max(...[...document.querySelectorAll(".figures > div")].map((box) => box.getBoundingClientRect().bottom)),
    line: document.querySelector(".bottom-line")?.textContent ?? "",
    folded: document.querySelector(".specialists")?.open === false,
    marked: document.querySelectorAll(".operating-point circle").length,
  })`);
  expect(figures.length >= 4 && figures.every((text) => /^[0-9.]+\s(%|points)$/.test(text)), `${name}: key figures are ${figures.join("; ")}`);
  expect(/^Of 1000 inputs .* hands [0-9]+ back\.$/.test(line), `${name}: in short it says '${line}'`);
  expect(folded, `${name}: the tables of specialists are not folded`);
  expect(marked === 1, `${name}: ${marked} operating points are marked`);
  const bars = await page.evaluate(`[...document.querySelectorAll(".per-class")].map((list) => [...list.querySelectorAll("li")].filter((row) => row.checkVisibility()).map((row) => {
    const [meter, filled] = [row.querySelector(".meter"), row.querySelector(".meter i")].map((part) => part.getBoundingClientRect());
    return { left: meter.left, share: (100 * filled.width) / meter.width, text: parseFloat(row.querySelector("b").textContent) };
  }))`);
  for (const list of bars) {
    expect(new Set(list.map(({ left }) => Math.round(left))).size <= 1, `${name}: the bars of classes begin at ${list.map(({ left }) => left).join(", ")}`);
    for (const { share, text } of list) expect(!(Math.abs(share - text) > 2), `${name}: a bar of ${text} % is ${share} % long`);
  }
  const nameless = await page.evaluate(`innerWidth >= 640 ? 0 : [...document.querySelectorAll(".specialists .table tbody th")].filter((cell) =>
    !getComputedStyle(cell, "::before").content.includes(cell.dataset.label)).length`);
  expect(nameless === 0, `${name}: ${nameless} cells do not say which column they are of`);
  if (name.startsWith("1280")) expect(lower <= 900, `${name}: the key figures end at ${lower} pixels, below the first screen`);
}

async function checkControls(page, name) {
  const drawn = `[...document.querySelectorAll(".explorer .chart svg")].map((chart) => chart.outerHTML).join("")`;
  const seen = new Set([await page.evaluate(drawn)]);
  const choices = await page.evaluate(`document.querySelectorAll(".explorer select").length`);
  for (let i = 0; i < choices; ++i) {
    const count = await page.evaluate(`document.querySelectorAll(".explorer select")[${i}].options.length`);
    if (count < 2) continue;
    await page.evaluate(`{ const select = document.querySelectorAll(".explorer select")[${i}];
      select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
      select.dispatchEvent(new Event("change")); }`);
    const now = await page.evaluate(drawn);
    expect(!seen.has(now), `${name}: choice ${i + 1} changes nothing`);
    seen.add(now);
  }
  for (const text of ["model", "set", "log"]) {
    await page.evaluate(`[...document.querySelectorAll(".explorer .switcher button")].find((button) => button.textContent === "${text}").click()`);
    const now = await page.evaluate(drawn);
    expect(!seen.has(now), `${name}: the button '${text}' changes nothing`);
    seen.add(now);
  }
}

async function checkTip(page, name) {
  const at = await page.evaluate(`{ const box = document.querySelector(".explorer .pair .chart svg"); box.scrollIntoView({ block: "center", behavior: "instant" });
    const path = [...box.querySelectorAll('[aria-label="line"] path')].at(-1);
    const { x, y } = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
    ({ x, y: y + 3 }) }`);
  for (const offset of [8, 0]) // the page only notices a pointer that moves
    await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: at.x + offset, y: at.y, pointerType: "mouse" });
  await page.settle();
  const tip = await page.evaluate(`document.querySelector('.explorer .pair .chart [aria-label="tip"]')?.textContent ?? ""`);
  expect(/FPR/.test(tip), `${name}: pointing at a curve shows no values, found '${tip}'`);
}

async function checkKeyboardAndLinks(page, name) {
  const broken = await page.evaluate(`[...document.querySelectorAll("nav a")].filter((link) => !document.querySelector(link.getAttribute("href"))).length`);
  expect(broken === 0, `${name}: ${broken} links of the contents lead nowhere`);
  const unnamed = await page.evaluate(`[...document.querySelectorAll("img, [role=img]")].filter((picture) => !(picture.alt || picture.getAttribute("aria-label"))).length`);
  expect(unnamed === 0, `${name}: ${unnamed} pictures without words`);
  const levels = await page.evaluate(`[...document.querySelectorAll("h1, h2, h3, h4")].map((heading) => Number(heading.tagName[1]))`);
  expect(levels[0] === 1 && levels.filter((level) => level === 1).length === 1, `${name}: headings of level ${levels.join()}`);
  const nameless = await page.evaluate(`[...document.querySelectorAll("select, button")].filter((control) => !(control.labels?.length || control.textContent)).length`);
  expect(nameless === 0, `${name}: ${nameless} controls without a name`);
}

// The same page with a model that has every measure of the table: the page must call each by its label. And with a duration
// that is nearly three minutes.
async function checkWords(browser) {
  const html = readFileSync(report, "utf8");
  const jsonOf = (id) => new RegExp(`(<script type="application/json" id="${id}">)(.*?)(</script>)`, "s");
  const table = JSON.parse(jsonOf("measures").exec(html)[2]);
  const results = JSON.parse(jsonOf("results").exec(html)[2]).filter(({ curves }) => curves?.models.length > 0).slice(0, 1);
  const { models } = results[0].curves;
  models.splice(1);
  models[0].measures = table.map(({ name }) => ({ ...models[0].measures[0], measure: name }));
  results[0].run.seconds = 179.6;
  const folder = mkdtempSync(join(tmpdir(), "priornet-report-"));
  const file = join(folder, "labels.html");
  const json = JSON.stringify(results).replaceAll("<", "\\u003c");
  writeFileSync(file, html.replace(jsonOf("results"), (_, begin, __, end) => begin + json + end));
  const page = await browser.open();
  await page.show(pathToFileURL(file).href, { width: 1280 });
  await page.evaluate(`for (const fold of document.querySelectorAll("main details")) fold.open = true`);
  await page.settle();
  const shown = await page.evaluate(`[...document.querySelectorAll(".explorer select")].map((select) => [...select.options].map((option) => option.text))`);
  expect(table.length > 10, `the table of measures has ${table.length} rows`);
  for (const { name, label } of table)
    expect(label && shown.some((options) => options.includes(label)), `the measure ${name} is not called '${label}', found ${shown.at(-1).join(", ")}`);
  const axis = await page.evaluate(`document.querySelector(".explorer").textContent`);
  expect(/, nats \(high: uncertain\)/.test(axis), "the histogram's axis has no unit");
  const facts = await page.evaluate(`document.querySelector(".facts").textContent`);
  expect(/Duration3 min 0 s/.test(facts), `179.6 seconds are not 3 min 0 s in ${facts}`);
  for (const complaint of page.complaints) problems.push(`labels: ${complaint}`);
  rmSync(folder, { recursive: true });
}

const background = "getComputedStyle(document.body).backgroundColor";
const browser = new Browser(process.env.CHROMIUM ?? "chromium");
try {
  const url = pathToFileURL(resolve(report)).href;
  const colours = {};
  for (const width of [1280, 390]) {
    for (const scheme of ["light", "dark"]) {
      const page = await browser.open();
      const name = `${width} px, ${scheme}`;
      await page.show(url, { width, scheme });
      if (sections.includes("outcomes")) await checkModel(page, name);
      await page.evaluate(`for (const fold of document.querySelectorAll("main details")) fold.open = true`);
      await page.settle();
      await checkSections(page, name);
      await checkWidth(page, name);
      colours[scheme] = await page.evaluate(background);
      if (sections.includes("curves") && scheme === "light") {
        await checkControls(page, name);
        await checkWidth(page, `${name}, after choosing`);
      }
      if (sections.includes("curves") && width === 1280) await checkTip(page, name);
      await checkKeyboardAndLinks(page, name);
      await page.evaluate(`document.querySelector(".theme").click()`);
      expect((await page.evaluate(background)) !== colours[scheme], `${name}: the button for the other colours changes nothing`);
      await page.evaluate("localStorage.clear()").catch(() => {});
      for (const complaint of page.complaints) problems.push(`${name}: ${complaint}`);
    }
  }
  expect(colours.light !== colours.dark, "light and dark look the same");
  if (sections.includes("curves")) await checkWords(browser);
} finally {
  await browser.close();
}
for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
