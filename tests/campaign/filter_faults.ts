// The output of a filter that hits a fault: always a document, the given one or more.

import assert from "node:assert/strict";
import { type Finished, type Scene, withScene } from "../cli/harness.ts";
import { withServer } from "../cli/replies.ts";
import { FILTER_FAULTS, type FilterFault, QUESTION } from "./filter_fault_rows.ts";
import { chance } from "./random.ts";

/** Nobody listens there. */
const NOBODY = "http://127.0.0.1:1023";

/** Tries so many faults, each once before one is tried again; throws at the first after which an editor has lost something. */
export async function filterFaults(count: number, seed: number): Promise<string> {
  const rows = shuffled(Object.entries(FILTER_FAULTS), seed);
  for (let at = 0; at < count; at++) {
    const [what, fault] = rows[at % rows.length]!;
    try {
      await oneFault(fault);
    } catch (cause) {
      throw new Error(`a filter and ${what}: ${(cause as Error).message}`, { cause });
    }
  }
  const kinds = Math.min(count, rows.length);
  return `${count} filters with ${kinds} kinds of faults gave back what they were given, or more`;
}

function shuffled<T>(rows: T[], seed: number): T[] {
  const random = chance(seed);
  for (let at = rows.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [rows[at], rows[other]] = [rows[other]!, rows[at]!];
  }
  return rows;
}

async function oneFault(fault: FilterFault): Promise<void> {
  const { stdin = QUESTION, settings, replies = [] } = fault;
  await withScene((place) =>
    withServer(replies, async (server) => {
      if (settings !== undefined) {
        Deno.mkdirSync(`${place.folder}/config/flemma`, { recursive: true });
        const content = typeof settings === "string" ? new TextEncoder().encode(settings) : settings;
        Deno.writeFileSync(`${place.folder}/config/flemma/config.yaml`, content);
      }
      Deno.writeFileSync(
        `${place.folder}/in`,
        typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin,
      );
      const address = replies.length === 0 ? { FLEMMA_ANTHROPIC_BASE_URL: NOBODY } : server.env;
      const run = start(place, fault, { ANTHROPIC_API_KEY: "k", ...address, ...fault.env });
      if (fault.signal !== undefined) {
        await server.received(1);
        run.kill(fault.signal);
      }
      const finished = await run.finished;
      check(
        fault,
        finished,
        new Uint8Array(Deno.readFileSync(`${place.folder}/out`)),
        Deno.readFileSync(`${place.folder}/in`),
      );
    })
  );
}

/** Starts the filter from a shell that becomes it, so that a signal reaches it. */
function start(
  place: Scene,
  { words = "advance", before = ":", to = "" }: FilterFault,
  env: Record<string, string>,
) {
  const program = place.program.map((word) => `'${word}'`).join(" ");
  // What the surroundings are is said to the program only: the shell needs its own.
  const surroundings = Object.entries(env).map(([name, value]) => `${name}='${value}'`).join(" ");
  const line =
    `${before}\nexec 3>../out\nexec env ${surroundings} ${program} ${words} < ../in >&3 ${to} 3>&-`;
  return place.spawn(["/bin/sh", "-c", line], {});
}

function check(
  { ending, to = "" }: FilterFault,
  { code, stderr }: Finished,
  out: Uint8Array,
  given: Uint8Array,
): void {
  const reported = `exit ${code}\n${stderr}\n${new TextDecoder().decode(out.subarray(0, 1000))}`;
  assert.doesNotMatch(stderr, /Internal error|^\s+at .*:\d+:\d+\)?$/m, reported);
  const isSame = new TextDecoder().decode(out) === new TextDecoder().decode(given);
  if (ending.is === "back" || (ending.is === "interrupted" && isSame)) {
    assert.ok(isSame && out.length === given.length, reported);
    assert.equal(code, ending.is === "back" ? ending.code : 130, reported);
    if (to === "") {
      assert.match(stderr, /^(?:flemma: \S|Interrupted|-:\d+:\d+: error |.* — |\S.*last word)/m, reported);
    }
    return;
  }
  assert.equal(code, 0, reported);
  const [kept = ""] = ending.is === "more"
    ? [new TextDecoder().decode(given)]
    : new TextDecoder().decode(given).split("**Tool Result:**");
  const text = new TextDecoder().decode(out);
  assert.ok(text.startsWith(kept) && text.length > kept.length, reported);
  if (ending.is === "answered") {
    assert.match(text, /\*\*Tool Result:\*\* `c1`(?: \(error\))?\n\n```/, reported);
  }
}
