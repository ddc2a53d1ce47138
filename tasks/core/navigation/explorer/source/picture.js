/** Charts as they are seen, as one SVG document that needs no style sheet: light colours, for paper and slides. */
import colours from "./colours.json";
import { axis, seen, tickText } from "./rows.js";
import { actualLegend, estimatedLegend, groupText, heldText, number, visualText } from "./words.js";

const SPACE = "http://www.w3.org/2000/svg";
const FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const { ink, soft, line, paper, estimated: orange, estimatedInk, actual: blue, stripe } = colours.light;
/** In points: a chart, its parts from left to right, a row. */
const CHART = 420;
const [LABEL, BARS, FIGURES] = [150, 180, 70];
const [ROW, GAP, TITLE, AXIS, HEAD] = [36, 30, 30, 24, 56];
/** Charts side by side, and rows of a chart that a picture shows. */
const ABREAST = 2;
const MOST_ROWS = 200;

/** @param {string} name @param {Record<string, string | number>} attributes @param {(Node | string)[]} children */
function element(name, attributes, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** Text without what XML forbids. @param {string} text */
const clean = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Cs}]/gu, "\ufffd");

const ruler = document.createElement("canvas").getContext("2d");

/** Text cut to a width, with an ellipsis. @param {string} text @param {number} width @param {string} font */
function fitted(text, width, font) {
  if (!ruler) return text.slice(0, Math.floor(width / 7));
  ruler.font = font;
  const letters = [...clean(text).slice(0, 400)];
  if (ruler.measureText(letters.join("")).width <= width) return letters.join("");
  while (letters.length && ruler.measureText(`${letters.join("")}…`).width > width) letters.pop();
  return `${letters.join("")}…`;
}

/** @param {string} text @param {number} x @param {number} y @param {Record<string, string | number>} more */
const write = (text, x, y, more = {}) => element("text", { x, y, fill: ink, "font-size": 12, ...more }, clean(text));

/** @param {State} state @param {Row} row @param {ReturnType<typeof axis>} scale @param {number} y */
function drawRow(state, { label, estimated, actual, code }, { at, end }, y) {
  const parts = [write(fitted(label, LABEL - 10, "12px sans-serif"), 0, y + 20, code === 0 ? { "font-style": "italic" } : {})];
  const right = { "text-anchor": "end", "font-size": 11 };
  if (estimated !== null) {
    parts.push(element("rect", { x: LABEL, y: y + 3, width: at(estimated), height: 12, fill: orange }));
    parts.push(write(number(estimated), CHART - 20, y + 13, { ...right, fill: estimatedInk }));
  }
  const without = { ...right, fill: soft, "font-style": "italic", "font-size": 10 };
  if (actual) {
    if (actual.value === null) parts.push(write(state.say("not_measured"), CHART - 20, y + 28, without));
    else {
      parts.push(element("rect", { x: LABEL, y: y + 18, width: at(actual.value), height: 12, fill: blue }));
      parts.push(write(number(actual.value), CHART - 20, y + 28, { ...right, fill: blue }));
    }
    if (actual.low !== null && actual.high !== null) {
      const [low, high] = [LABEL + at(actual.low), LABEL + at(actual.high)];
      const last = actual.high > end ? `M${high - 6} ${y + 20}l6 4l-6 4` : `M${high} ${y + 20}v8`;
      const d = `M${low} ${y + 24}H${high}M${low} ${y + 20}v8${last}`;
      parts.push(element("path", { d, stroke: paper, "stroke-width": 4, fill: "none" }));
      parts.push(element("path", { d, stroke: ink, "stroke-width": 1.5, fill: "none" }));
    }
  } else if (state.payload.meta.protection !== "syndiffix") {
    parts.push(element("path", { d: `M${LABEL} ${y + 24}h24`, stroke: stripe, "stroke-width": 2, "stroke-dasharray": "3 3" }));
    parts.push(write(state.say("not_released"), CHART - 20, y + 28, without));
  }
  return parts;
}

/** @param {State} state @param {Visual} visual */
function drawChart(state, visual) {
  const { rows, most } = seen(state, visual);
  const shown = rows.slice(0, MOST_ROWS);
  const scale = axis(most, BARS);
  const { at, ticks } = scale;
  const bottom = TITLE + shown.length * ROW;
  const marks = ticks.flatMap((tick) => [
    element("path", { d: `M${LABEL + at(tick)} ${TITLE - 4}V${bottom}`, stroke: line }),
    write(tickText(tick), LABEL + at(tick), bottom + 14, { "font-size": 11, fill: soft, "text-anchor": "middle" }),
  ]);
  const title = write(fitted(visualText(state.payload, visual, state.say), CHART - FIGURES, "bold 14px sans-serif"), 0, 16, { "font-size": 14, "font-weight": 650 });
  const parts = shown.flatMap((row, place) => drawRow(state, row, scale, TITLE + place * ROW));
  return { drawn: element("g", {}, title, ...marks, ...parts), height: bottom + AXIS };
}

/** @param {State} state @param {number} width */
function head(state, width) {
  const { payload, say } = state;
  const group = groupText(payload, state.selection.value, say, heldText);
  const what = payload.records ? estimatedLegend(payload, say) : "";
  const also = payload.meta.protection === "syndiffix" ? "" : say(actualLegend(payload));
  return [
    write(fitted(`${payload.meta.title} · ${payload.meta.vintage} · ${group}`, width, "bold 13px sans-serif"), 0, 14, { "font-size": 13, "font-weight": 650 }),
    ...(what ? [element("rect", { x: 0, y: 23, width: 10, height: 10, fill: orange }), write(fitted(what, width - 16, "11px sans-serif"), 16, 32, { "font-size": 11, fill: soft })] : []),
    ...(also ? [element("rect", { x: 0, y: 38, width: 10, height: 10, fill: blue }), write(fitted(also, width - 16, "11px sans-serif"), 16, 47, { "font-size": 11, fill: soft })] : []),
  ];
}

/** @param {State} state @param {Visual[]} visuals @returns {{text: string, width: number, height: number}} */
export function picture(state, visuals) {
  const abreast = Math.min(ABREAST, visuals.length);
  const bottoms = Array(abreast).fill(HEAD + 16);
  const groups = visuals.map((visual) => {
    const { drawn, height } = drawChart(state, visual);
    const place = bottoms.indexOf(Math.min(...bottoms));
    drawn.setAttribute("transform", `translate(${place * (CHART + GAP)} ${bottoms[place]})`);
    bottoms[place] += height + GAP;
    return drawn;
  });
  const [width, height] = [abreast * (CHART + GAP) + GAP, Math.max(...bottoms) + GAP];
  const all = element("g", { transform: `translate(${GAP} ${GAP / 2})`, "font-family": FONTS }, ...head(state, width - 2 * GAP), ...groups);
  const back = element("rect", { width, height, fill: paper });
  const root = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" }, back, all);
  return { text: new XMLSerializer().serializeToString(root), width, height };
}
