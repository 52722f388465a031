// Elements in one call: h("td", { class: "number" }, "1.0", h("small", {}, "± 0.1")). Text is always text.
const svgNamespace = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  const isCode = ["code", "pre"].includes(element.localName); // to copy as it is
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === "string" && !isCode ? together(child) : child)));
  return element;
}

export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(svgNamespace, tag), attributes, children);

export function bytesOf(base64) {
  const text = atob(base64);
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

// Text with `code` in it.
export const withCode = (text) =>
  text.split("`").map((part, index) => (index % 2 === 1 ? h("code", {}, part) : part));

// A number and its sign stay on one line. A line may begin with ±: wide tables need that.
const together = (text) => text.replaceAll(" %", "\u00a0%").replaceAll("± ", "±\u00a0");
