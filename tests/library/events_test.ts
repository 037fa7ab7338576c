// The events of a run are one union, told apart by `event`: the compiler checks whether a program handles all of them.

import assert from "node:assert/strict";
import { chatInMemory, type CycleEvent, type RunEvent } from "../../mod.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { bytesOf, inPlace, withModel } from "../agent/place.ts";

/** Accepts only events of which none is left. */
function rest(event: never): never {
  throw new Error(`an unknown event: ${JSON.stringify(event)}`);
}

/** One line for every event of a run, from members that only this event has. */
function lineFor(event: CycleEvent): string {
  switch (event.event) {
    case "approval:pending":
      return `${event.name} (${event.id}) waits at line ${event.line}: ${event.preview}`;
    case "approval:denied":
      return `${event.name} (${event.id}) was denied by ${event.source}`;
    case "tool:executing":
      return `${event.name} (${event.id}) runs: ${event.preview}`;
    case "tool:output":
      return `${event.id}: ${event.text}`;
    case "tool:message":
      return `${event.id} shows ${JSON.stringify(event.content)}`;
    case "tool:finished":
      return `${event.name} (${event.id}): ${event.status} ${event.note ?? ""}`;
    case "tool:waiting":
      return `${event.name} (${event.id}) waits for ${event.helper} (${event.path}): ${event.message}`;
    case "request:sending":
      return `${event.provider} ${event.model}`;
    case "request:retrying":
      return `attempt ${event.attempt} of ${event.of ?? "any"} at ${event.until}: ${event.error.message}`;
    case "request:waiting":
      return `${event.ahead} before it, ${event.wait} seconds`;
    case "request:fallback":
      return `${event.from} to ${event.to}: ${event.error.message}`;
    case "text":
      return `${event.line ?? "?"}: ${event.text}`;
    case "thinking":
      return event.text;
    case "reply:tool":
      return `${event.what} at ${event.line}: ${event.text}`;
    case "reply:progress":
      return `${event.block} ${event.name ?? ""} ${event.characters}`;
    case "request:finished":
      return `${event.status} ${event.record?.cost ?? event.usage?.output ?? event.error?.message}`;
    case "file:changed":
      return `${event.path} ${event.change ?? ""} by ${event.id}`;
    case "context:compacted":
      return `${event.archive}: ${event.before} to ${event.after} tokens, ${event.cost}`;
    case "hook:started":
      return `${event.name} starts for ${event.on} ${event.id ?? ""}`;
    case "hook:finished":
      return `${event.name} for ${event.on} ${event.id ?? ""}: ${
        event.failed ?? event.decision ?? "no decision"
      }`;
    case "job:started":
      return `${event.job} starts for ${event.id}: ${event.name} ${event.preview}`;
    case "job:output":
      return `${event.job}: ${event.text}`;
    case "job:finished":
      return `${event.job} of ${event.id}: ${event.status} after ${event.seconds} seconds`;
    case "boot:complete":
      return "ready";
    case "notice":
      return `${event.code}: ${event.message}`;
    case "diagnostic":
      return event.diagnostic.message;
    case "cursor":
      return `line ${event.line}`;
    default:
      return rest(event);
  }
}

/** The same for the lines of `--json` and `--events`, which have three kinds more. */
function wordFor(event: RunEvent): string {
  switch (event.event) {
    case "stopped":
      return `${event.reason} ${event.exit}`;
    case "message":
      return `${event.level} ${event.text}`;
    case "edit":
      return JSON.stringify(event);
    default:
      return lineFor(event);
  }
}

/** A program that forgets one kind of event does not compile. */
function forgetful(event: CycleEvent | { readonly event: "new" }): string {
  switch (event.event) {
    case "new":
      return "new";
    case "cursor":
      return `${event.line}`;
    default:
      // @ts-expect-error: many kinds of events are left
      return rest(event);
  }
}

Deno.test("every event of a run is of a kind that the exported type has", () =>
  inPlace((place) =>
    withModel([{ reply: [{ text: "Well." }] }], async (provider) => {
      const lines: string[] = [];
      const session = await chatInMemory(bytesOf("@You:\nHello\n"), {
        environment: place.environment,
        provider,
        emit: (event) => lines.push(lineFor(event)),
      });
      assert.ok(session.ok);
      await using chat = session.value;
      assert.equal((await chat.advance()).reason, "done");
      assert.ok(lines.some((line) => line.endsWith(": Well.")), lines.join("\n"));
      assert.equal(wordFor({ event: "cursor", line: 3 }), "line 3");
      assert.throws(() => forgetful({ event: "boot:complete" }), /unknown event/);
    })
  ));

Deno.test("the page about the library names every event of a run", async () => {
  const page = await Deno.readTextFile(`${ROOT}/docs/reference/library.md`);
  const types = await Deno.readTextFile(`${ROOT}/cycle/types.ts`);
  const [, union = ""] = /export type CycleEvent =([\s\S]*?);\n\n/.exec(types) ?? [];
  const names = [...union.matchAll(/\bevent: "([a-z:]+)"/g)].map(([, name]) => name!);
  assert.ok(names.length >= 19);
  assert.deepEqual(names.filter((name) => !page.includes(`\`${name}\``)), []);
  // Each kind has a sentence of its own.
  const kinds = union.split(/\n {2}\| /).slice(0, -1).map((before) => before.trimEnd().endsWith("*/"));
  assert.deepEqual([kinds.length, kinds.every(Boolean)], [names.length, true]);
});
