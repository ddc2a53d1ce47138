/**
 * A picture in pixels, twice as fine as its points; null where the browser has no room for it.
 * @param {{text: string, width: number, height: number}} picture an SVG document
 * @returns {Promise<Blob | null>}
 */
export async function pngOf({ text, width, height }) {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image(width, height);
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    const fine = height * 2 > 16_000 ? 1 : 2;
    [canvas.width, canvas.height] = [width * fine, height * fine];
    const context = canvas.getContext("2d");
    if (!context) return null;
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } catch {
    return null;
  } finally {
    URL.revokeObjectURL(address);
  }
}
