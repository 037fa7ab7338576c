// Stage one of parsing, in AssemblyScript: which lines of a window of bytes can matter, 64 bytes at a step.
//
// The caller writes the window to INPUT, which begins at the beginning of a line if `first` says so. What begins
// structure is not known here: `starter` comes from lines.ts when the module is built, see scripts/generate/scan.ts.

/** Counts of the last call of `marks`: line feeds, and those with a carriage return before them. */
export let feeds: i32 = 0;
export let crFeeds: i32 = 0;
/** The last two bytes of the last window. */
let tail: u16 = 0;

/**
 * Writes to OUTPUT, for each line that begins in the window with a starter, its offset and the offset of the line
 * after it, counted from the window's first byte; gives the number of such lines. The second offset is 0 when the
 * window ends before the line does, which only the last one can.
 *
 * A line begins where the byte before is a line feed. What every second step would have to branch on is computed for
 * all of them instead: a branch taken at random costs more than the step.
 */
export function marks(length: i32, first: bool): i32 {
  seal(length);
  // A line feed that counts for nothing stands before the document.
  store<u16>(INPUT - 2, first ? 10 << 8 : tail);
  let out: usize = OUTPUT;
  let open: usize = 0;
  let lf: i32 = 0;
  let returns = i8x16.splat(0);
  for (let at: i32 = 0; at < length; at += 64) {
    const from = INPUT + at;
    const starts = startsAt(from) | startsAt(from + 16) << 16 | startsAt(from + 32) << 32 | startsAt(from + 48) << 48;
    let hits = starts &
      (startersAt(from) | startersAt(from + 16) << 16 | startersAt(from + 32) << 32 | startersAt(from + 48) << 48);
    returns = v128.or(returns, v128.or(v128.or(crAt(from), crAt(from + 16)), v128.or(crAt(from + 32), crAt(from + 48))));
    lf += <i32>popcnt(starts);
    if (open != 0 && starts != 0) {
      store<i32>(open, at + <i32>ctz(starts));
      open = 0;
    }
    while (hits != 0) {
      const bit = ctz(hits);
      const later = starts & (<u64>-2 << bit);
      store<i32>(out, at + <i32>bit);
      store<i32>(out + 4, later != 0 ? at + <i32>ctz(later) : 0);
      open = later != 0 ? 0 : out + 4;
      out += 8;
      hits &= hits - 1;
    }
  }
  const endsWithFeed = load<u8>(INPUT + length - 1) == 10;
  if (endsWithFeed && open != 0) store<i32>(open, length);
  // Line feeds were counted where the line after them begins: one place on, and in the last step beyond the window.
  feeds = lf - (load<u8>(INPUT - 1) == 10 ? 1 : 0) + (endsWithFeed && (length & 63) == 0 ? 1 : 0);
  crFeeds = v128.any_true(returns) || load<u8>(INPUT - 1) == 13 ? countCrFeeds(length) : 0;
  tail = load<u16>(INPUT + length - 2);
  return <i32>(out - OUTPUT) >> 3;
}

/** Line feeds of the window with a carriage return before them: looked for only where there is any. */
function countCrFeeds(length: i32): i32 {
  let count: i32 = 0;
  for (let at: i32 = 0; at < length; at += 16) {
    const ends = i8x16.eq(v128.load(INPUT + at), i8x16.splat(10));
    count += popcnt(i8x16.bitmask(v128.and(ends, crAt(INPUT + at - 1))));
  }
  return count;
}

// @ts-ignore: a decorator of this language
@inline
function startsAt(from: usize): u64 {
  return i8x16.bitmask(i8x16.eq(v128.load(from - 1), i8x16.splat(10)));
}

// @ts-ignore: a decorator of this language
@inline
function startersAt(from: usize): u64 {
  return i8x16.bitmask(starter(v128.load(from)));
}

// @ts-ignore: a decorator of this language
@inline
function crAt(from: usize): v128 {
  return i8x16.eq(v128.load(from), i8x16.splat(13));
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
  for (let at: i32 = 0; at < 64; at += 16) v128.store(INPUT + length + at, i8x16.splat(0));
}
