// Controls Chromium without a window over a pipe, in its DevTools protocol: no package is needed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Browser {
  constructor(executable) {
    this.profile = mkdtempSync(join(tmpdir(), "priornet-chromium-"));
    this.process = spawn(executable, [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync", `--user-data-dir=${this.profile}`,
      "--remote-debugging-pipe",
    ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.waiting = new Map();
    this.listeners = [];
    this.next = 0;
    let rest = "";
    this.process.stdio[4].on("data", (data) => {
      const parts = (rest + data).split("\0");
      rest = parts.pop();
      for (const part of parts) this.receive(JSON.parse(part));
    });
    this.ended = new Promise((resolve) => this.process.on("exit", resolve));
  }

  receive(message) {
    if (message.id === undefined) {
      for (const listener of this.listeners) listener(message);
      return;
    }
    const { resolve, reject } = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.next;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  async open() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId);
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await page.send(`${domain}.enable`);
    return page;
  }

  async close() {
    await Promise.race([this.send("Browser.close").catch(() => {}), this.ended]);
    await this.ended;
    rmSync(this.profile, { recursive: true, force: true });
  }
}

class Page {
  constructor(browser, session) {
    this.browser = browser;
    this.session = session;
    this.complaints = []; // errors, warnings and requests beyond the page itself
    browser.listeners.push((message) => message.sessionId === session && this.notice(message));
  }

  notice({ method, params }) {
    if (method === "Runtime.exceptionThrown")
      this.complaints.push(`exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type))
      this.complaints.push(`console: ${params.args.map((arg) => arg.value ?? arg.description).join(" ")}`);
    if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level))
      this.complaints.push(`log: ${params.entry.text}`);
    if (method === "Network.requestWillBeSent" && !/^(file|data|about|blob):/.test(params.request.url))
      this.complaints.push(`request: ${params.request.url}`);
    if (method === "Page.loadEventFired") this.loaded?.();
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  async show(url, { width, height = 900, scheme = "light" }) {
    await this.send("Page.bringToFront"); // otherwise the pointer moves over another page
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    const loaded = new Promise((resolve) => (this.loaded = resolve));
    await this.send("Page.navigate", { url });
    await loaded;
    await this.settle();
  }

  // Waits for two frames: then parts that observe their size have been drawn.
  settle() {
    return this.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))");
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async screenshot() {
    const { cssContentSize } = await this.send("Page.getLayoutMetrics");
    const clip = { x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height, scale: 1 };
    const { data } = await this.send("Page.captureScreenshot", { format: "png", clip, captureBeyondViewport: true });
    return Buffer.from(data, "base64");
  }
}
