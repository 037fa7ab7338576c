// Blank text as the format means it: ASCII whitespace only, so that a no-break space is text.

function isBlankUnit(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}

/** Takes blanks and line ends off both ends. */
export function trimBlank(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlankUnit(text.charCodeAt(from))) from++;
  while (to > from && isBlankUnit(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

/** The same for a text that comes in parts: what is given back of each, which may be nothing. */
export function blankTrimmer(): (part: string) => string {
  let begun = false;
  /** Blanks that are at the end so far. */
  let pending = "";
  return (part) => {
    const body = trimBlank(part);
    if (body === "") {
      if (begun) pending += part;
      return "";
    }
    const from = part.indexOf(body);
    const given = begun ? pending + part.slice(0, from + body.length) : body;
    pending = part.slice(from + body.length);
    begun = true;
    return given;
  };
}

/** True for the empty text and for blanks and line ends only. */
export function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (!isBlankUnit(text.charCodeAt(index))) return false;
  }
  return true;
}
