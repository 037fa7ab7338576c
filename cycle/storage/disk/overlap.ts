// What is in a file after two programs have written into it at the same moment.

/** Maximum number of bytes of an end that are compared with the end of the old text. */
const MAX_END_BYTES = 4096;

/**
 * Returns the other writer's part of a text. If both programs wrote from their own beginning, the file contains the
 * shorter text, followed by the end of the longer one; if that end is ours, it is left out. `found` is in the file,
 * `old` was in it before, `ours` is the text that this run wrote. Returns `found` itself if nothing shows that its end
 * is only ours. No text is lost with the end, because it is in `ours`.
 */
export function withoutOurEnd(
  found: Uint8Array,
  { old, ours }: { readonly old: Uint8Array; readonly ours: Uint8Array },
): Uint8Array {
  if (found.length !== ours.length) return found;
  let start = found.length;
  while (start > 0 && found[start - 1] === ours[start - 1]) start--;
  if (start === 0 || start === found.length) return found;
  // The other program emptied the file before our write and wrote less than what is before our end.
  if (found[start - 1] === 0) return found.subarray(0, lengthBeforeHole(found, start));
  // The other program hardly changed the end of the old text, so that end shows where its text stops.
  let stop = found.length;
  let longest = sharedEnd(found, stop, old);
  for (let end = stop - 1; end >= start; end--) {
    const shared = sharedEnd(found, end, old);
    if (shared > longest) [stop, longest] = [end, shared];
  }
  const end = found.subarray(stop - longest, stop);
  return stop < found.length && hasWholeLine(end) ? found.subarray(0, stop) : found;
}

/** Bytes that nobody wrote are 0. */
function lengthBeforeHole(found: Uint8Array, start: number): number {
  let length = start;
  while (length > 0 && found[length - 1] === 0) length--;
  return length;
}

/** Number of bytes before `end` in `text` that are also the last bytes of `old`. */
function sharedEnd(text: Uint8Array, end: number, old: Uint8Array): number {
  const most = Math.min(end, old.length, MAX_END_BYTES);
  let shared = 0;
  while (shared < most && text[end - 1 - shared] === old[old.length - 1 - shared]) shared++;
  return shared;
}

const LF = 0x0a;

function hasWholeLine(end: Uint8Array): boolean {
  return end.indexOf(LF) !== -1 && end.indexOf(LF) < end.length - 1;
}
