// Documents and edits from the most difficult pieces, made from a seed: the same seed, the same document.

/** Lines and half lines that begin, end or nearly begin structure. */
export const PIECES: readonly string[] = [
  "@You:",
  "@Assistant:",
  "@System:",
  "@Reviewer2:",
  "@You: hello",
  "@You:\r",
  " @You:",
  "`",
  "``",
  "```",
  "```js",
  "```lua",
  "```js `x",
  "````",
  "````md",
  "`````",
  "``` ",
  "```flemma:tool status=pending",
  "**Tool Use:** `bash` (`a`)",
  "**Tool Use:** `bash` (`b`) x",
  "**Tool Use:** `bash`",
  "**Tool Use:** `ba",
  "**Tool Result:** `a`",
  "**Job Result:** `j`",
  "**Job Result:**`j` (error)",
  "**Job Result:**",
  "**Tool Result:** `b` (error)",
  "**Tool Result:** `a` (pending x=1)",
  "**Tool Result:**",
  "**Tool Result:** `b` (status=\"deny\", 'a b' x) ",
  "**Tool Result:** `a`b` (error) (x)",
  "**Tool Use:**\t`ba sh`(`a`b`)",
  "**Tool Use:** `x` (`a`) (`b`)",
  "**Tool Use:** `x` (`a)b`)",
  "**Tool Result:** `b` (Deny)",
  "**Tool Result:** `a` (aproved)",
  "**Tool Result:** `a` (status=later approved)",
  "**Tool Result:** `b` (nearly done)",
  "```flemma:tool status=aproved",
  "```flemma:pending",
  "```yaml flemma:questions",
  "```flemma:tool status=error status=reject",
  "```JSON",
  "<thinking>",
  '<thinking x:signature="s">',
  '<thinking x:signature="s"/>',
  "<thinking redacted>",
  "<thinking",
  "</thinking>",
  "<!-- flemma:aborted: stop -->",
  "<!--flemma:aborted:-->",
  '<thinking a:signature="" >',
  "<thinking redacted />",
  '<server_tool anthropic:blocks="e30=">',
  '<server_tool x:citations="" >',
  "<server_tool",
  "</server_tool>",
  "{}",
  '{"a": null}',
  "[1]",
  "{{ 1 }}",
  "{{- {} -}}",
  "{{ open",
  "{%- 'a\\'%}' -- %}",
  "{{ {{}} }}",
  "{%-%}",
  "{% raw %}",
  "{%- raw -%}{{ '",
  "{% endraw -%}",
  "--[[ }} ",
  "{% x %}",
  "[==[ }} ]==]",
  '"',
  "--",
  "text",
  "* item",
  "\u{1F600} \u00e9",
  "\ufeff",
  "\0",
  " ",
  "\t",
  "\\@You:",
];

const BLOCKS: readonly string[] = [
  "@You:\n",
  "@Assistant:\n",
  "**Tool Use:** `bash` (`a`)\n\n```json\n{}\n```\n",
  "**Tool Result:** `a`\n\n```\nout\n```\n",
  "<thinking>\nhm\n</thinking>\n",
  '<server_tool a:blocks="e30=">\nweb_search: x\n</server_tool>\n',
  "```js\ncode\n```\n",
];
const HEADS: readonly string[] = ["", "", "", "\ufeff", "```lua\nx = 1\n```\n", "```json\n", "@Assistant:\n"];
const ENDINGS: readonly string[] = ["\n", "\n", "\n", "\n", "\n", "\n", "\n\n", "\r\n", ""];
const SPOILERS: readonly number[] = [0xff, 0xc3, 0xf0, 0x80, 0x00];
const INSERTS: readonly string[] = ["", "`", "```\n", "\n", "\r", "\r\n", "\ufeff", "@", "x"];

const encoder = new TextEncoder();

/** Numbers that look random and follow from a seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000 * limit);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }
}

/** One piece with a line end, or a whole block, or something long. */
function piece(random: Random, longest: number): string {
  if (random.chance(8)) return random.pick(BLOCKS);
  if (random.chance(40)) return `${random.pick(["x", "`", " ", "é"]).repeat(1 + random.below(longest))}\n`;
  if (random.chance(40)) return filler(random, Math.min(longest >> 3, 300));
  return random.pick(PIECES) + random.pick(ENDINGS);
}

/** Lines that mean nothing, enough for several chunks of the document where `most` is large. */
function filler(random: Random, most: number): string {
  return `${"-".repeat(1 + random.below(450))}\n`.repeat(random.below(most + 1));
}

/**
 * A random document: mostly short, sometimes with very many messages, or, one in so many, with much between the pieces, so that it
 * takes several chunks. Those are a tenth as many and take nine tenths of the time.
 */
export function hostileDocument(random: Random, largeOneIn = 8): Uint8Array {
  const longest = random.chance(2000) ? 1 << 20 : random.chance(20) ? 2000 : 60;
  const between = random.chance(largeOneIn) ? 80 : 0;
  const turns = random.chance(12) ? random.below(120) : 0;
  const parts = [random.pick(HEADS), "@You:\nhi\n".repeat(turns)];
  for (let count = random.below(random.chance(4) ? 60 : 16); count > 0; count--) {
    parts.push(piece(random, longest));
    if (between > 0) parts.push(filler(random, between));
  }
  if (turns > 0) parts.push(random.pick(BLOCKS), "@Assistant:\nho\n".repeat(random.below(turns + 1)));
  const text = parts.join("");
  const bytes = encoder.encode(random.chance(5) ? text.replaceAll(/\r?\n/g, "\r\n") : text);
  if (bytes.length > 0 && random.chance(3)) bytes[random.below(bytes.length)] = random.pick(SPOILERS);
  return bytes;
}

/** How long a stretch of lines the parser keeps together; edits at its ends are worth trying. */
const STRETCH = 1 << 14;

/** A place to edit: anywhere, or at a line feed that may be the last byte of what the parser keeps together. */
function place(random: Random, bytes: Uint8Array): number {
  if (random.chance(6)) return random.chance(2) ? bytes.length : 0;
  if (bytes.length > STRETCH && random.chance(3)) {
    let at = 0;
    for (let skip = random.below(4); skip >= 0; skip--) {
      const feed = bytes.indexOf(0x0a, at + STRETCH);
      if (feed < 0) break;
      at = feed + 1;
    }
    return Math.max(0, at - random.below(3));
  }
  return random.below(bytes.length + 1);
}

/** One to three edits of a document, as `update` takes them. */
export function hostileEdits(
  random: Random,
  bytes: Uint8Array,
): { readonly from: number; readonly to: number; readonly insert: string }[] {
  const places = Array.from({ length: 1 + random.below(3) }, () => place(random, bytes)).sort((a, b) =>
    a - b
  );
  let reached = 0;
  return places.map((place) => {
    const from = Math.max(reached, place);
    const removed = random.chance(2)
      ? 0
      : random.below(random.chance(10) ? 40_000 : random.chance(2) ? 4 : 20);
    const to = Math.min(bytes.length, from + removed);
    reached = to;
    const insert = random.chance(2)
      ? random.pick(INSERTS)
      : random.chance(2)
      ? piece(random, random.chance(20) ? 2000 : 60)
      : random.pick(ENDINGS) + random.pick(PIECES);
    return { from, to, insert };
  });
}
