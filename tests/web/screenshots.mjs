// node screenshots.mjs REPORT.html FOLDER: pictures of the page, wide and narrow, light and dark, to look at.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";

const [, , report, folder] = process.argv;
mkdirSync(folder, { recursive: true });
const browser = new Browser(process.env.CHROMIUM ?? "chromium");
try {
  const page = await browser.open();
  for (const width of [1280, 390]) {
    for (const scheme of ["light", "dark"]) {
      await page.show(pathToFileURL(resolve(report)).href, { width, scheme });
      writeFileSync(join(folder, `${width}-${scheme}.png`), await page.screenshot());
    }
  }
  for (const complaint of page.complaints) console.error(complaint);
} finally {
  await browser.close();
}
