// Builds the marker line below a reply that was cut short; calls above it do not run.

/** Maximum characters of a message in the marker. */
const MOST_SHOWN = 400;

/**
 * Returns the marker below a reply that ends in `reply`: a line after a blank one.
 * @param reply the written end of the reply, at least its last two lines
 * @param message why the reply was cut short
 * @returns the text to append, with LF
 */
export function abortMarkerBelow(reply: string, message: string): string {
  const endsBlank = reply.slice(reply.lastIndexOf("\n") + 1).trim() === "";
  return `${endsBlank ? "\n" : "\n\n"}<!-- flemma:aborted: ${oneLine(message)} -->\n`;
}

/** Returns a message as one line that does not end the HTML comment. */
function oneLine(message: string): string {
  const line = message.replace(/\s+/g, " ").replaceAll("\0", "").replaceAll("-->", "-- >").trim();
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN)}…` : line;
}
