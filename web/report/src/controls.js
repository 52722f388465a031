import { h } from "./elements.js";

let next = 0;

// A labelled choice among `options` ([{ value, text }]); `set(options, value)` changes them.
export function choice(label, onchange) {
  const id = `choice-${++next}`;
  const select = h("select", { id, onchange: () => onchange(select.value) });
  const box = h("div", { class: "choice" }, h("label", { for: id }, label), select);
  box.set = (options, value) => {
    select.replaceChildren(...options.map((option) => h("option", { value: option.value }, option.text)));
    select.value = value;
  };
  box.enable = (enabled) => {
    select.disabled = !enabled;
    box.classList.toggle("disabled", !enabled);
  };
  return box;
}

// One of a few, all in sight.
export function switcher(label, options, value, onchange) {
  const buttons = options.map((option) =>
    h("button", { type: "button", "aria-pressed": String(option.value === value), onclick: () => {
      for (const button of buttons) button.setAttribute("aria-pressed", "false");
      buttons[options.indexOf(option)].setAttribute("aria-pressed", "true");
      onchange(option.value);
    } }, option.text));
  return h("div", { class: "choice", role: "group", "aria-label": label },
    h("span", { class: "label" }, label), h("div", { class: "switcher" }, buttons));
}
