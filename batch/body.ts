// Cuts members out of the JSON text of a request, so that all other members keep the spelling of their numbers.

/** Members that belong to a streamed request. */
const STREAMED: ReadonlySet<string> = new Set(["stream", "stream_options"]);

/** Returns the body of a request without the members that ask for a stream. */
export function withoutStream(body: string): string {
  const members: string[] = [];
  let depth = 0;
  let from = body.indexOf("{") + 1;
  for (let at = from; at < body.length; at++) {
    const character = body[at];
    if (character === '"') at = endOfString(body, at);
    else if (character === "{" || character === "[") depth++;
    else if (depth > 0 && (character === "}" || character === "]")) depth--;
    else if (depth === 0 && (character === "," || character === "}")) {
      members.push(body.slice(from, at).trim());
      from = at + 1;
      if (character === "}") break;
    }
  }
  const kept = members.filter((member) => {
    const [, name = ""] = /^"([^"\\]*)"\s*:/.exec(member) ?? [];
    return member !== "" && !STREAMED.has(name);
  });
  return `{${kept.join(",")}}`;
}

/** Returns the index of the quote that ends a string. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
