/**
 * Long lists of which only what is in sight is drawn.
 *
 * @import { VirtualizerOptions } from "@tanstack/virtual-core"
 */
import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

/**
 * @param {{count: number, height: number, box: {current: HTMLElement | null}, more?: number}} list `height` of a row
 *   in pixels, `box` what scrolls, `more` rows that are drawn beyond what is in sight
 */
export function useVirtual({ count, height, box, more = 6 }) {
  const [, redraw] = useReducer((/** @type {number} */ times) => times + 1, 0);
  /** @type {VirtualizerOptions<HTMLElement, HTMLElement>} */
  const options = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: more,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
