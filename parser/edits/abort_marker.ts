// The line below a reply that did not come to its end; calls above it do not run.

/** Characters of a message that the line shows. */
const MOST_SHOWN = 400;

/**
 * The marker below a reply that ends in `reply`, which begins with a line of its own behind an empty one.
 *
 * @param reply the end of the reply as it is written, at least its last two lines
 * @param message why it did not come to its end
 * @returns what is to be added, with LF
 */
export function abortMarkerBelow(reply: string, message: string): string {
  const endsBlank = reply.slice(reply.lastIndexOf("\n") + 1).trim() === "";
  return `${endsBlank ? "\n" : "\n\n"}<!-- flemma:aborted: ${oneLine(message)} -->\n`;
}

/** A sentence that can stand in the marker: one line that does not end the comment. */
function oneLine(message: string): string {
  const line = message.replace(/\s+/g, " ").replaceAll("\0", "").replaceAll("-->", "-- >").trim();
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN)}…` : line;
}
