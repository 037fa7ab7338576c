// The memory layout of the scanner, used by the module at build time and by its caller.

/** Bytes scanned per call. */
export const WINDOW = 1 << 15;
/** Start of the window; the byte before it is the one before the window in the document. */
export const INPUT = 1040;
/** Where found offsets are written, after the window and its terminating zeroes. */
export const OUTPUT = INPUT + WINDOW + 64;
/**
 * Memory in pages of 64 KB: a window, and four bytes for each of its bytes, enough for two offsets per line or one
 * offset per byte.
 */
export const PAGES = Math.ceil((OUTPUT + 4 * WINDOW + 16) / 65536);
