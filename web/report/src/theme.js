import { h } from "./elements.js";

const key = "priornet-theme";

function stored() {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // a page from disk may have no storage
  }
}

const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

export function themeButton() {
  const before = stored();
  if (before) document.documentElement.dataset.theme = before;
  const button = h("button", { type: "button", class: "theme", onclick: () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(key, theme);
    } catch {
      // then it lasts as long as the page
    }
    label();
  } });
  const label = () => {
    button.textContent = isDark() ? "☀ Light" : "☾ Dark";
    button.setAttribute("aria-label", isDark() ? "Show in light colours" : "Show in dark colours");
  };
  label();
  return button;
}
