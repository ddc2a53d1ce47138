/** The page begins here: its release is decoded, and the explorer is drawn where the page has room for it. */
import { render } from "preact";

import "./style.css";
import { decode, PageError } from "./decode.js";
import { Explorer } from "./explorer.jsx";
import { createState } from "./state.js";
import { speaker } from "./words.js";

const root = document.getElementById("marginalia-explorer");

/** @param {string} key @param {boolean} [failed] */
function tell(key, failed = false) {
  if (!root) return;
  const line = document.createElement("p");
  line.className = "explorer-notice";
  if (failed) line.setAttribute("role", "alert");
  line.textContent = speaker()(key);
  root.replaceChildren(line);
}

async function start() {
  if (!root) return;
  if (typeof DecompressionStream === "undefined") return tell("old_browser", true);
  tell("opening");
  try {
    const state = createState(await decode(document));
    root.replaceChildren();
    render(<Explorer state={state} />, root);
    root.dataset.ready = "true";
  } catch (error) {
    console.error(error);
    tell(error instanceof PageError ? error.key : "cannot_open", true);
  }
}

start();
