#include <priornet/report/html_style.h>

namespace priornet {

// The last rules let a figure's black lines and text follow the page, dark or light; its other colours are data.
const std::string_view kHtmlStyle = R"(:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1b1f24; --soft: #59636e; --line: #dde1e6; --accent: #2b6cb0;
}
@media (prefers-color-scheme: dark) {
  :root { --page: #101418; --card: #181d23; --text: #e6eaef; --soft: #9aa5b1; --line: #2d343c; --accent: #7ab8f5; }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 72rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.75rem; padding-bottom: .75rem; }
h1 { font-size: clamp(1.6rem, 4vw, 2.3rem); line-height: 1.2; letter-spacing: -.015em; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.75rem 0 .5rem; }
p, ul { max-width: 46rem; margin: .6rem 0; }
ul { padding-left: 1.25rem; }
li { margin: .25rem 0; }
.lead { font-size: 1.1rem; color: var(--soft); }
.note { font-size: .875rem; color: var(--soft); }
.highlights { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: .75rem; margin: 0; }
.highlights div {
  display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .9rem 1.1rem;
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
}
.highlights dt { color: var(--soft); font-size: .875rem; line-height: 1.4; }
.highlights dd { margin: 0; font-size: 1.75rem; font-weight: 650; line-height: 1.3; font-variant-numeric: tabular-nums; }
figure, .card {
  margin: 1.25rem 0 .75rem; background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
}
figure { padding: 1rem; }
figcaption { color: var(--soft); font-size: .9rem; max-width: 52rem; padding-top: .75rem; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.pixels { display: block; image-rendering: pixelated; }
.scroll svg { display: block; width: 100%; height: auto; margin: 0 auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.title { font-weight: 600; margin: 0; padding: .9rem 1rem .6rem; max-width: none; line-height: 1.4; }
th, td { padding: .5rem 1rem; border-top: 1px solid var(--line); text-align: left; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; font-size: .875rem; }
.number { text-align: right; }
tbody tr:hover { background: color-mix(in srgb, var(--accent) 8%, transparent); }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.25rem; margin: .75rem 0; }
.facts div { display: contents; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
@media (max-width: 40rem) {
  main { padding-top: 1.5rem; }
  figure { padding: .75rem; }
  th, td { padding: .5rem .7rem; }
  .title { padding: .8rem .7rem .5rem; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: .5rem; }
  .highlights { grid-template-columns: repeat(2, 1fr); }
  .highlights dd { font-size: 1.4rem; }
}
figure svg [fill="black"] { fill: var(--text); }
figure svg [color="black"] { color: var(--text); }
figure svg [stroke="black"] { stroke: var(--text); }
)";

}  // namespace priornet
