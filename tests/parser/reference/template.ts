// Template tags in text, found by regular expressions that skip Lua's strings and comments.

/** A stretch of text, or a tag. Offsets are those of the text. */
export type Part =
  | { readonly kind: "text"; readonly from: number; readonly to: number; readonly unclosed: boolean }
  | {
    readonly kind: "expression" | "code";
    readonly from: number;
    readonly to: number;
    readonly code: string;
    readonly trimBefore: boolean;
    readonly trimAfter: boolean;
  };

/** What of Lua hides a closer: comments and strings, whole or to the end of the text. */
const HIDING =
  /--\[(=*)\[[^]*?(?:\]\1\]|$)|--[^\n]*(?:\n|$)|\[(=*)\[[^]*?(?:\]\2\]|$)|"(?:\\[^]|[^"\\])*(?:"|\\?$)|'(?:\\[^]|[^'\\])*(?:'|\\?$)/y;

/** What stands in `{% raw %}`, a trim mark at its end included; and the whole of `{% endraw %}`. */
const RAW_CODE = /^[ \t\r\n]*raw[ \t\r\n]*-?$/;
const END_RAW = /\{%(-?)([ \t\r\n]*endraw[ \t\r\n]*)(-?)%\}/g;

/** The parts of a run of text; `fenced` where a fence quotes an opener that it does not close. */
export function template(text: string, fenced: boolean): Part[] {
  const parts: Part[] = [];
  const plain = (from: number, to: number, unclosed = false) => {
    if (from < to) parts.push({ kind: "text", from, to, unclosed });
  };
  let read = 0;
  for (let at = opener(text, 0); at >= 0; at = opener(text, read)) {
    for (let fence = fenced ? fenceAround(text, at) : null; fence !== null; fence = fenceAround(text, at)) {
      const inside = text.slice(at + 2, fence.to).replace(/^-/, "");
      if (closer(inside, 0, text[at + 1] === "%" ? "code" : "expression") >= 0) break;
      at = opener(text, fence.to);
      if (at < 0) break;
    }
    if (at < 0) break;
    plain(read, at);
    const kind = text[at + 1] === "%" ? "code" : "expression";
    const trimBefore = text[at + 2] === "-";
    const inside = at + (trimBefore ? 3 : 2);
    const end = closer(text, inside, kind);
    const raw = end >= 0 && kind === "code" && RAW_CODE.test(text.slice(inside, end));
    END_RAW.lastIndex = end + 2;
    const closing = raw ? END_RAW.exec(text) : null;
    if (end < 0 || (raw && closing === null)) {
      plain(at, text.length, true);
      return parts;
    }
    const trimAfter = end > inside && text[end - 1] === "-";
    const code = text.slice(inside, trimAfter ? end - 1 : end);
    parts.push({ kind, from: at, to: end + 2, code, trimBefore, trimAfter });
    read = end + 2;
    if (closing === null) continue;
    const [{ length }, before, word, after] = closing as unknown as [string, string, string, string];
    plain(read, closing.index);
    read = closing.index + length;
    parts.push({
      kind: "code",
      from: closing.index,
      to: read,
      code: word,
      trimBefore: before !== "",
      trimAfter: after !== "",
    });
  }
  plain(read, text.length);
  return parts;
}

/** Where the closed fence ends that a place of the text stands in; null when it stands in none. */
function fenceAround(text: string, at: number): { readonly to: number } | null {
  let from = 0;
  let open: { readonly from: number; readonly ticks: number } | null = null;
  for (const line of text.split("\n")) {
    const ticks = /^`*/.exec(line)![0].length;
    const rest = line.slice(ticks);
    if (open === null) {
      if (ticks >= 3 && !rest.includes("`")) open = { from, ticks };
    } else if (ticks >= open.ticks && /^[ \t\v\f\r]*$/.test(rest)) {
      if (open.from <= at && at < from + line.length) return { to: from + line.length };
      open = null;
    }
    from += line.length + 1;
  }
  return null;
}

function opener(text: string, from: number): number {
  const found = text.slice(from).search(/\{[{%]/);
  return found < 0 ? -1 : from + found;
}

function closer(text: string, from: number, kind: "expression" | "code"): number {
  let depth = 0;
  for (let at = from; at < text.length;) {
    HIDING.lastIndex = at;
    if (HIDING.test(text)) at = HIDING.lastIndex;
    else if (kind === "code" ? text.startsWith("%}", at) : depth === 0 && text.startsWith("}}", at)) {
      return at;
    } else {
      if (text[at] === "{") depth++;
      else if (text[at] === "}") depth = Math.max(0, depth - 1);
      at++;
    }
  }
  return -1;
}
