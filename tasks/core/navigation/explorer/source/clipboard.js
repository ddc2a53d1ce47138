/**
 * Puts text on the clipboard. Pages opened from a file may lack the browser's clipboard; then the old way is taken.
 * @param {string} text
 * @returns {Promise<boolean>} whether it was copied
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text);
  }
}

/** @param {string} text */
function copyFromField(text) {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
