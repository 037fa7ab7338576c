// Small valid image files of each type.

/** One red dot. */
export const PNG: Uint8Array<ArrayBuffer> = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
);

/** The beginning of a photograph. */
export const JPEG: Uint8Array<ArrayBuffer> = new Uint8Array([
  0xff,
  0xd8,
  0xff,
  0xe0,
  0,
  16,
  74,
  70,
  73,
  70,
  0,
  1,
]);

/** A document without a page. */
export const PDF: Uint8Array<ArrayBuffer> = new TextEncoder().encode("%PDF-1.4\n%%EOF\n");
