// Talks to the server that the page came from.
let token = sessionStorage.getItem("token") ?? "";

export class Refused extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

// A header holds bytes, and the server compares a token as UTF-8. The browser keeps it once the server has taken it.
export function useToken(text) {
  token = String.fromCharCode(...new TextEncoder().encode(text));
}

async function ask(path, options = {}) {
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(path, { ...options, headers }).catch(() => {
    throw new Refused(0, "The server cannot be reached.");
  });
  if (answer.status === 401) sessionStorage.removeItem("token");
  else if (answer.ok && token) sessionStorage.setItem("token", token);
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, json.error ?? `The server answered ${answer.status}.`);
  return json;
}

export const models = async () => (await ask("/v2/models")).models;
export const metadata = (name) => ask(`/v2/models/${encodeURIComponent(name)}`);
export const predict = (name, body) =>
  ask(`/predict?model=${encodeURIComponent(name)}`, {
    method: "POST",
    body,
    headers: { "Content-Type": body instanceof Blob ? body.type || "application/octet-stream" : "application/json" },
  });

// Runs only the latest of many requests, one at a time, after `pause` ms without a new one.
export function latest(run, pause) {
  let timer, wish, busy = false;
  const go = async () => {
    if (busy || !wish) return;
    busy = true;
    const now = wish;
    wish = undefined;
    try {
      await run(...now);
    } finally {
      busy = false;
      if (wish) go();
    }
  };
  return (...wanted) => {
    wish = wanted;
    clearTimeout(timer);
    timer = setTimeout(go, pause);
  };
}
