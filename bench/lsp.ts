// The language server as a process: time from a change of a document to new diagnostics.

import { framesWithHeader, withHeader } from "../editors/rpc/framing.ts";
import { Peer } from "../editors/rpc/peer.ts";
import { parse } from "../parser/mod.ts";
import { conversation } from "./conversation.ts";
import { type Bench, type Figure, interleaved } from "./harness.ts";

const CLI = new URL("../cli.ts", import.meta.url).pathname;
const SIZES = { "50 KB": 50_000, "1 MB": 1_000_000, "10 MB": 10_000_000 };
/** Maximum milliseconds that are not noticeable while typing, by document size. */
const GOAL: Readonly<Record<string, number>> = { "1 MB": 30 };
const ROUNDS = 21;
const NOTHING = "a request without a document";
/** The cost for a server that parses the whole text at each change. */
const ANEW = "1 MB: full parse";

async function run(): Promise<readonly Figure[]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", CLI, "lsp"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reported = new Map<string, () => void>();
  const peer = new Peer({
    frames: framesWithHeader(child.stdout),
    write: (text) => writer.write(withHeader(text)),
    handler: ({ method, params }) => {
      const { uri, version } = params as { uri: string; version: number };
      if (method === "textDocument/publishDiagnostics") reported.get(`${uri} ${version}`)?.();
    },
    cancel: { method: "$/cancelRequest", member: "id" },
    onFault: (_, thrown) => {
      throw thrown;
    },
  });
  const reading = peer.run(new AbortController().signal);
  await peer.request("initialize", { capabilities: {} });
  const cases: Record<string, () => Promise<unknown>> = {
    [NOTHING]: () => peer.request("textDocument/foldingRange", { textDocument: { uri: "file:///none" } }),
  };
  for (const [size, bytes] of Object.entries(SIZES)) {
    const text = new TextDecoder().decode(conversation(bytes));
    const uri = `untitled:${size.replace(" ", "")}`;
    let version = 1;
    const findings = () => new Promise<void>((resolve) => reported.set(`${uri} ${version}`, resolve));
    const opened = findings();
    peer.notify("textDocument/didOpen", { textDocument: { uri, version, languageId: "chat", text } });
    await opened;
    if (bytes === SIZES["1 MB"]) cases[ANEW] = () => readAnew(JSON.stringify({ text }));
    const line = Math.floor(text.split("\n").length / 2);
    cases[`${size}: a change to new diagnostics`] = () => {
      version++;
      const fresh = findings();
      const at = { line, character: 0 };
      peer.notify("textDocument/didChange", {
        textDocument: { uri, version },
        contentChanges: [{ range: { start: at, end: at }, text: "x" }],
      });
      return fresh;
    };
  }
  const times = await interleaved(cases, ROUNDS);
  await peer.request("shutdown", undefined);
  peer.notify("exit", undefined);
  await reading;
  await child.status;
  const figures = Object.entries(times).map(([name, value]): Figure => {
    const goal = GOAL[name.split(":", 1)[0]!];
    return { case: name, value, unit: "ms", ...(goal === undefined ? {} : { goal }) };
  });
  const change = times["1 MB: a change to new diagnostics"]!;
  return [...figures, {
    case: "1 MB: a change to new diagnostics, compared",
    value: change,
    unit: "ms",
    against: ANEW,
    goal: 1,
  }];
}

/** Parses the text of a message in this process. */
async function readAnew(message: string): Promise<unknown> {
  const { text } = JSON.parse(message) as { text: string };
  return await Promise.resolve(parse(new TextEncoder().encode(text)).diagnostics);
}

const bench: Bench = { name: "lsp", about: "the language server: from a change to new diagnostics", run };
export default bench;
