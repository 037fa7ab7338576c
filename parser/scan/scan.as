// Stage one of parsing, in AssemblyScript: which lines of a window of bytes can matter, sixteen bytes at a step.
//
// The caller writes the window to INPUT, which begins at the beginning of a line if `first` says so. What begins
// structure is not known here: `starter` comes from lines.ts when the module is built, see scripts/generate/scan.ts.

/** Counts of the last call of `marks`: line feeds, and those with a carriage return before them. */
export let feeds: i32 = 0;
export let crFeeds: i32 = 0;
/** Whether the last window ended with a line feed, and with a carriage return. */
let feedBefore: i32 = 0;
let crBefore: i32 = 0;

/**
 * Writes to OUTPUT, for each line that begins in the window with a starter, its offset and the offset of the line
 * after it, counted from the window's first byte; gives the number of such lines. The second offset is 0 when the
 * window ends before the line does, which only the last one can.
 */
export function marks(length: i32, first: bool): i32 {
  seal(length);
  const feed = i8x16.splat(10);
  const cr = i8x16.splat(13);
  let out: usize = OUTPUT;
  let open: usize = 0;
  let lf: i32 = 0;
  let crlf: i32 = 0;
  let carry: i32 = first ? 1 : feedBefore;
  let crCarry: i32 = first ? 0 : crBefore;
  for (let at: i32 = 0; at < length; at += 16) {
    const here = v128.load(INPUT + at);
    const ends = i8x16.bitmask(i8x16.eq(here, feed));
    const returns = i8x16.bitmask(i8x16.eq(here, cr));
    const starts = (ends << 1) | carry;
    if (ends != 0) {
      lf += popcnt(ends);
      crlf += popcnt(ends & ((returns << 1) | crCarry));
      if (open != 0) {
        store<i32>(open, at + ctz(ends) + 1);
        open = 0;
      }
    }
    if ((starts & 0xffff) != 0) {
      let hits = starts & i8x16.bitmask(starter(here));
      while (hits != 0) {
        const bit = ctz(hits);
        store<i32>(out, at + bit);
        const rest = ends >> bit;
        if (rest != 0) store<i32>(out + 4, at + bit + ctz(rest) + 1);
        else {
          store<i32>(out + 4, 0);
          open = out + 4;
        }
        out += 8;
        hits &= hits - 1;
      }
    }
    carry = ends >> 15;
    crCarry = returns >> 15;
  }
  feeds = lf;
  crFeeds = crlf;
  feedBefore = load<u8>(INPUT + length - 1) == 10 ? 1 : 0;
  crBefore = load<u8>(INPUT + length - 1) == 13 ? 1 : 0;
  return <i32>(out - OUTPUT) >> 3;
}

/** Writes to OUTPUT the offset behind each line feed of the window; gives their number. */
export function lines(length: i32): i32 {
  seal(length);
  const feed = i8x16.splat(10);
  let out: usize = OUTPUT;
  for (let at: i32 = 0; at < length; at += 16) {
    let hits = i8x16.bitmask(i8x16.eq(v128.load(INPUT + at), feed));
    while (hits != 0) {
      store<i32>(out, at + ctz(hits) + 1);
      out += 4;
      hits &= hits - 1;
    }
  }
  return <i32>(out - OUTPUT) >> 2;
}

/** Zeroes behind the window, so that the last step finds nothing of an earlier one. */
// @ts-ignore: a decorator of this language
@inline
function seal(length: i32): void {
  v128.store(INPUT + length, i8x16.splat(0));
}
