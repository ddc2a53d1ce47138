/** The explorer as a whole: the question, the selection, the charts or the records. */
import { useEffect } from "preact/hooks";

import { Answer } from "./answer.jsx";
import { Charts } from "./charts.jsx";
import { Comparison } from "./comparison.jsx";
import { Legend } from "./legend.jsx";
import { Question } from "./question.jsx";
import { Records } from "./records.jsx";
import { SelectionBar } from "./selection_bar.jsx";
import { StateContext } from "./state.js";
import { Toolbar } from "./toolbar.jsx";

/** @import { State } from "./state.js" */

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof Element && target.matches("input, textarea, select");

/** What the page around the explorer says in several languages is shown in one. @param {string} language */
function showLanguage(language) {
  for (const part of document.querySelectorAll("[data-language]"))
    if (part instanceof HTMLElement) part.hidden = part.dataset.language !== language;
}

/** @param {State} state */
function listen(state) {
  const follow = () => state.follow();
  const print = (/** @type {Event} */ event) => {
    state.printing.value = event.type === "beforeprint";
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.key.toLowerCase() !== "z" || isTyping(event.target)) return;
    event.preventDefault();
    state.undo();
  };
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", print);
  addEventListener("afterprint", print);
  document.addEventListener("keydown", keys);
  const stop = state.link.subscribe((link) => {
    if (location.hash !== link) history.replaceState(null, "", link || location.pathname + location.search);
  });
  const stopLanguage = state.language.subscribe(showLanguage);
  return () => {
    stop();
    stopLanguage();
    removeEventListener("hashchange", follow);
    removeEventListener("beforeprint", print);
    removeEventListener("afterprint", print);
    document.removeEventListener("keydown", keys);
  };
}

/** @param {{state: State}} props */
export function Explorer({ state }) {
  useEffect(() => listen(state), [state]);
  const language = state.language.value;
  const say = state.say.value;
  return (
    <StateContext.Provider value={state}>
      <section class="explorer" lang={language} aria-label={say("explorer")}>
        <div class="ask">
          <Question />
          <Answer />
        </div>
        <Comparison />
        <SelectionBar />
        <Toolbar />
        <Legend />
        {state.display.value === "charts" ? <Charts /> : <Records />}
        <p class="unseen" role="status">{state.notice.value}</p>
      </section>
    </StateContext.Provider>
  );
}
