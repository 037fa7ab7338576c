// The tool host: a process that loads and runs tool files, so that none of their code enters the program.
//
// It is built into one text (`deno task generate`) and started from that text, so none of its files is on the disk.
// Messages go to standard output. Before each message is a line end and a prefix that only this process and the program
// know, which separates messages from everything that a tool or its child processes print.

import type { FromHost, Member, ToHost } from "../protocol.ts";
import { separateText } from "../result.ts";
import { contextOf } from "./context.ts";

const [word = "", folder = ""] = Deno.args;
if (folder !== "") Deno.chdir(folder);
const encoder = new TextEncoder();
const send = sender();
const calls = new Map<number, AbortController>();
const asked = new Map<number, (value: unknown) => void>();
let questions = 0;
/** Number of text characters in one message. */
const PIECE = 64 * 1024;

printElsewhere();
// A rejection that no tool awaits must not end the calls of others.
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  note("unhandled rejection", event.reason);
});
globalThis.addEventListener("error", (event) => {
  event.preventDefault();
  note("unhandled error", event.error);
});
await listen();
Deno.exit(0);

/** Returns a function that writes messages synchronously, so that they never overlap. */
function sender(): (message: FromHost) => void {
  const { stdout } = Deno;
  const write = stdout.writeSync.bind(stdout);
  return (message) => {
    const bytes = encoder.encode(`\n${word}${JSON.stringify(message)}\n`);
    for (let at = 0; at < bytes.length;) at += write(bytes.subarray(at));
  };
}

/** Redirects printed text to standard error, which the program keeps separate. */
function printElsewhere(): void {
  const { stderr } = Deno;
  const { error } = console;
  for (const name of ["log", "info", "debug", "dir", "table"]) Reflect.set(console, name, error);
  Object.defineProperties(Deno.stdout, {
    write: { value: stderr.write.bind(stderr) },
    writeSync: { value: stderr.writeSync.bind(stderr) },
    writable: { get: () => stderr.writable },
  });
}

/** Reports an error outside of any call. */
function note(what: string, thrown: unknown): void {
  Deno.stderr.writeSync(encoder.encode(`${what}: ${oneLine(thrown)}\n`));
}

/** Handles messages until the program closes its end. */
async function listen(): Promise<void> {
  let text = "";
  for await (const piece of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      take(JSON.parse(text.slice(0, end)));
      text = text.slice(end + 1);
    }
  }
}

function take(message: ToHost): void {
  switch (message.do) {
    case "describe":
      void describe(message.id, message.module);
      break;
    case "call":
      void call(message);
      break;
    case "abort":
      calls.get(message.id)?.abort();
      break;
    case "answer":
      asked.get(message.ask)?.(message.value);
      asked.delete(message.ask);
  }
}

async function describe(id: number, module: string): Promise<void> {
  const loaded = await load(module);
  if ("cause" in loaded) return send({ id, is: "broken", cause: loaded.cause });
  const members = Object.fromEntries(
    Object.entries(loaded.tool).map(([name, value]) => [name, memberOf(value)]),
  );
  // If the tool is an instance of a class, its methods are not own members, so they are added here.
  for (const name of ["execute"]) {
    if (members[name] === undefined && name in loaded.tool) members[name] = memberOf(loaded.tool[name]);
  }
  send({ id, is: "described", members });
}

async function call({ id, module, input, facts }: Extract<ToHost, { do: "call" }>): Promise<void> {
  const abort = new AbortController();
  calls.set(id, abort);
  try {
    const loaded = await load(module);
    if ("cause" in loaded) return send({ id, is: "broken", cause: loaded.cause });
    const { tool } = loaded;
    if (typeof tool.execute !== "function") {
      return send({ id, is: "broken", cause: "it has no execute function" });
    }
    const context = contextOf(facts, {
      signal: abort.signal,
      output: (text) => {
        for (const piece of piecesOf(text)) if (calls.has(id)) send({ id, is: "output", text: piece });
      },
      client: (message) => calls.has(id) && send({ id, is: "client", message: asData(message) ?? null }),
      ask: (question, text) => {
        const ask = ++questions;
        const { promise, resolve } = Promise.withResolvers<unknown>();
        asked.set(ask, resolve);
        send({ id, is: "asks", ask, question });
        if (text !== undefined) {
          sendText(id, ask, text);
          send({ id, is: "text", ask, text: "", last: true });
        }
        return promise;
      },
    });
    const { texts, rest } = separateText(plain(await tool.execute(input, context)));
    for (const [at, text] of texts.entries()) sendText(id, null, at === 0 ? text : `\n\n${text}`);
    send({ id, is: "answered", result: asData(rest) ?? null });
  } catch (thrown) {
    sendText(id, null, thrown instanceof Error ? thrown.message : String(thrown));
    send({ id, is: "threw" });
  } finally {
    calls.delete(id);
  }
}

/** Converts a tool's result to data, without copying its possibly long text. */
function plain(result: unknown): unknown {
  const { content } = (result ?? {}) as { readonly content?: unknown };
  if (typeof content !== "string") return asData(result);
  const rest = asData({ ...result as object, content: "" });
  return typeof rest === "object" && rest !== null ? { ...rest, content } : undefined;
}

/** Sends a text of any length. */
function sendText(id: number, ask: number | null, text: string): void {
  for (const piece of piecesOf(text)) send({ id, is: "text", ask, text: piece });
}

/** Splits a text into pieces of one message each. */
function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += PIECE) yield text.slice(at, at + PIECE);
}

type Loaded = { readonly tool: Record<string, unknown> } | { readonly cause: string };

async function load(module: string): Promise<Loaded> {
  let exported: { readonly default?: unknown };
  try {
    exported = await import(module);
  } catch (thrown) {
    return { cause: `it cannot be loaded: ${oneLine(thrown)}` };
  }
  if (!("default" in exported)) return { cause: "it has no default export" };
  const tool = exported.default;
  if (typeof tool !== "object" || tool === null || Array.isArray(tool)) {
    return { cause: "its default export is not an object" };
  }
  return { tool: tool as Record<string, unknown> };
}

function memberOf(value: unknown): Member {
  if (typeof value === "function") return { is: "function" };
  const data = asData(value);
  return data === undefined ? { is: "no data" } : { value: data };
}

/** Returns the part of a value that JSON can express; undefined if there is none. */
function asData(value: unknown): unknown {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function oneLine(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/\s*\n\s*/g, " ").trim();
}
