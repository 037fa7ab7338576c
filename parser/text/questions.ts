// The questions of a server in the block of a call that waits for a person's answers.

/** Info string of the fence around questions. */
const INFO = "yaml flemma:questions";

const BLANK = /^[ \t\r]*$/;
const OPENER = /^(`{3,})yaml flemma:questions[ \t\r]*$/;
const CLOSER = /^(`{3,})[ \t\r]*$/;

/** Longest body that is read; longer text is a result. */
const LONGEST = 1_000_000;

/** Returns questions as the body of a block: a fence that nothing in the text can close. */
export function questionsBody(text: string): string {
  let ticks = 3;
  for (const [run] of text.matchAll(/`+/g)) ticks = Math.max(ticks, run.length + 1);
  const fence = "`".repeat(ticks);
  return [fence + INFO, text, fence].join("\n");
}

/**
 * Returns the text inside the fence of questions, if a body contains this fence and otherwise only blank lines; null for
 * every other body.
 */
export function readQuestions(body: string): string | null {
  if (body.length > LONGEST || !body.includes(INFO)) return null;
  const lines = body.split("\n");
  const from = lines.findIndex((line) => !BLANK.test(line));
  const ticks = OPENER.exec(lines[from] ?? "")?.[1]?.length;
  if (ticks === undefined) return null;
  const to = lines.findIndex((line, at) => at > from && (CLOSER.exec(line)?.[1]?.length ?? 0) >= ticks);
  if (to < 0 || lines.slice(to + 1).some((line) => !BLANK.test(line))) return null;
  return lines.slice(from + 1, to).join("\n");
}
