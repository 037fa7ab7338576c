// A notation for tests: document and expectation in one text.
//
//     # what the case shows
//     the document, line by line
//     ==>
//     what is expected of it
//
// Each line of the document ends with a line feed, except one that ends with `␄`, the end of the text.
// `␍` stands for a carriage return, `␀` for a zero byte, `«BOM»` for a byte order mark.

/** One case of a file in the notation. */
export interface Case {
  readonly title: string;
  readonly document: string;
  readonly expected: string;
}

/** Reads the cases of a file beside the tests. */
export async function cases(name: string): Promise<Case[]> {
  const text = await Deno.readTextFile(new URL(name, import.meta.url));
  return text.split(/^# /m).slice(1).map((part) => {
    const [head, expected, ...rest] = part.split(/^==>\n/m);
    if (head === undefined || expected === undefined || rest.length > 0) {
      throw new Error(`the case "${part.split("\n")[0]}" of ${name} needs exactly one line ==>`);
    }
    const feed = head.indexOf("\n");
    const document = head.slice(feed + 1).replaceAll("␍", "\r").replaceAll("␀", "\0")
      .replaceAll("«BOM»", "\ufeff").replace("␄\n", "");
    return { title: head.slice(0, feed), document, expected: expected.trim() };
  });
}
