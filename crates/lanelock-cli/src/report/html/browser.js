// Run by the test at the end of a page: what is wrong with it, as JSON in an element of its own.
const wrong = [];
const box = (element) => element.getBoundingClientRect();
const width = innerWidth;
// Contrast of two colours (WCAG 2.2, contrast ratio).
const luminance = (color) => {
  const [r, g, b] = color.match(/[\d.]+/g).map((part) => {
    const c = part / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
if (document.documentElement.scrollWidth > width) {
  wrong.push(`the page is ${document.documentElement.scrollWidth} pixels wide`);
}
const figures = [...document.querySelectorAll("figure")];
for (const figure of figures) {
  const title = figure.querySelector("figcaption").textContent;
  const bad = (what) => wrong.push(`${title}: ${what}`);
  const chart = figure.querySelector("svg, .bars, .heat");
  if (!chart || box(chart).width < 100 || box(chart).height < 10) {
    bad("no chart");
    continue;
  }
  const drawn = [...chart.querySelectorAll("circle, polyline, .bar i, [class^=s]")];
  if (drawn.length === 0) bad("nothing is drawn");
  for (const element of drawn) {
    const { width, height } = box(element);
    if (width === 0 && height === 0) bad(`an empty ${element.tagName}`);
    const style = getComputedStyle(element);
    const paint = [style.fill, style.stroke, style.backgroundColor];
    if (paint.every((p) => p === "none" || p === "rgba(0, 0, 0, 0)")) bad("something invisible");
    if (paint.includes("rgb(0, 0, 0)") && element.tagName === "circle") bad("a point without colour");
  }
  const texts = [...chart.querySelectorAll("text, span, th, td")].filter((text) => text.textContent);
  if (texts.length < 4) bad("an axis without labels");
  const inside = box(chart);
  for (const cell of chart.querySelectorAll("[class^=s]")) {
    const { color, backgroundColor } = getComputedStyle(cell);
    const contrast = ratio(color, backgroundColor);
    if (contrast < 4.5) bad(`'${cell.textContent}' on its shade has a contrast of ${contrast}`);
  }
  for (const text of texts) {
    const { height, left, right, top, bottom } = box(text);
    if (Math.max(height, right - left) < 7 || Math.min(height, right - left) < 3) {
      bad(`'${text.textContent}' is too small`);
    }
    const size = text.tagName === "text"
      ? parseFloat(text.getAttribute("font-size")) * inside.width / chart.viewBox.baseVal.width
      : parseFloat(getComputedStyle(text).fontSize);
    if (size < 9) bad(`'${text.textContent}' has ${size} pixels`);
    const slack = 1;
    if (left < inside.left - slack || right > inside.right + slack
      || top < inside.top - slack || bottom > inside.bottom + slack) {
      bad(`'${text.textContent}' is cut off`);
    }
  }
  // Labels of one axis stand side by side or one above the other.
  for (let a = 0; a < texts.length; a++) {
    for (let b = a + 1; b < texts.length; b++) {
      const [one, other] = [box(texts[a]), box(texts[b])];
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 2 && down > 4) {
        bad(`'${texts[a].textContent}' and '${texts[b].textContent}' overlap`);
      }
    }
  }
}
const first = document.querySelector("circle, .bar i, .heat [class^=s]");
const paint = first && getComputedStyle(first);
const verdict = document.createElement("pre");
verdict.id = "verdict";
verdict.textContent = JSON.stringify({
  width,
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  charts: figures.length,
  page: getComputedStyle(document.body).backgroundColor,
  line: paint ? (first.tagName === "circle" ? paint.fill : paint.backgroundColor) : "",
  wrong,
});
document.body.append(verdict);
