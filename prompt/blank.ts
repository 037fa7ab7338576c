// Blank text as the document format defines it. Only ASCII whitespace is blank, so a no-break space is text.

function isBlankUnit(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}

/** Trims ASCII whitespace at both ends. */
export function trimBlank(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlankUnit(text.charCodeAt(from))) from++;
  while (to > from && isBlankUnit(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

/** Trims a text that arrives in parts: the returned function gives the output for each part, possibly empty. */
export function blankTrimmer(): (part: string) => string {
  let begun = false;
  /** Trailing whitespace that was read so far. */
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

/** True if the text is empty or only ASCII whitespace. */
export function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (!isBlankUnit(text.charCodeAt(index))) return false;
  }
  return true;
}
