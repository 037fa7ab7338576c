// How the memory of the scanner is laid out. Used by the module (at build time) and by its caller.

/** Bytes scanned by one call. */
export const WINDOW = 1 << 15;
/** Where the window begins; the byte before it is the one that stands before the window in the document. */
export const INPUT = 1040;
/** Where found offsets are written, behind the window and the zeroes that seal it. */
export const OUTPUT = INPUT + WINDOW + 64;
/**
 * Memory of 64 KB pages: a window, and for each of its bytes four more, which is enough for two offsets for every
 * line and for one offset for every byte.
 */
export const PAGES = Math.ceil((OUTPUT + 4 * WINDOW + 16) / 65536);
