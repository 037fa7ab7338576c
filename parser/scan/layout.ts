// The memory layout of the scanner, used by the module at build time and by its caller.

/** Number of bytes that are scanned in one call. */
export const WINDOW = 1 << 15;
/**
 * Memory address of the piece of text to scan, called the window. The byte before it is the byte before the window in
 * the document.
 */
export const INPUT = 1040;
/**
 * Memory address of the result: the offsets of the lines that were found. This part of the memory begins after the
 * window and the zeroes that end the window.
 */
export const OUTPUT = INPUT + WINDOW + 64;
/**
 * Size of the memory in pages of 64 KB. It holds a window, and four bytes for each byte of the window: enough for two
 * offsets per line or one offset per byte.
 */
export const PAGES = Math.ceil((OUTPUT + 4 * WINDOW + 16) / 65536);
