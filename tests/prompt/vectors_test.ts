// Runs every document of the format's vectors through the whole evaluation: frontmatter, templates, files, prompt.

import assert from "node:assert/strict";
import type { Catalog } from "../../config/schema/catalog.ts";
import { documentSettings } from "../../config/frontmatter.ts";
import { lookUp } from "../../config/layers/explain.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { diagnosticJson, parse } from "../../parser/mod.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import { fileReferences } from "../../prompt/file_references.ts";
import { luaSession } from "../../prompt/template/document_lua.ts";
import type { Part, Prompt } from "../../prompt/types.ts";

interface Vector {
  readonly name: string;
  readonly chat: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly expect: {
    readonly frontmatter: unknown;
    readonly evaluated?: Evaluated;
    readonly config?: Readonly<Record<string, unknown>>;
    readonly rewritten?: readonly { readonly segments: readonly Readonly<Record<string, unknown>>[] }[];
    readonly messages: readonly { readonly segments: readonly { readonly kind: string }[] }[];
  };
}

interface Evaluated {
  readonly system: string | null;
  readonly history: readonly unknown[];
  readonly diagnostics: readonly Readonly<Record<string, unknown>>[];
  readonly blocked: boolean;
}

function readLines(name: string): readonly Readonly<Record<string, unknown>>[] {
  const path = new URL(`../vectors/${name}.jsonl`, import.meta.url);
  return Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** The vectors of both files with the decisions laid over them. */
function vectors(): readonly Vector[] {
  const decided = new Map(
    readLines("decisions").filter((line) => line.file === "chat-format.jsonl").map((
      line,
    ) => [line.name, line]),
  );
  const extra = readLines("extra").filter((line) => line.file === "chat-format.jsonl");
  return [...readLines("chat-format"), ...extra].map((line) => {
    const decision = decided.get(line.name);
    return { ...line, ...(decision === undefined ? {} : { expect: decision.expect }) } as unknown as Vector;
  });
}

async function inFolder<T>(
  files: Readonly<Record<string, string>>,
  run: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-prompt-" }));
  try {
    for (const [name, content] of Object.entries(files)) {
      await Deno.mkdir(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${name}`, content);
    }
    return await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function comparable(prompt: Prompt, folder: string): Evaluated {
  const history = prompt.history.map(({ role, parts }) => ({ role, parts: partsJson(parts) }));
  const plain = JSON.parse(JSON.stringify({ history }).replaceAll(folder, "<dir>"));
  return {
    system: prompt.system,
    history: plain.history,
    diagnostics: prompt.diagnostics.map((d) => ({ ...diagnosticJson(d) })),
    blocked: prompt.blocked,
  };
}

function partsJson(parts: readonly Part[]): unknown[] {
  const merged: Record<string, unknown>[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (part.kind === "text" && last?.kind === "text") last.text = `${last.text}${part.text}`;
    else merged.push(partJson(part));
  }
  return merged;
}

function partJson(part: Part): Record<string, unknown> {
  switch (part.kind) {
    case "thinking":
      return {
        kind: "thinking",
        content: part.content,
        ...(part.signature === undefined ? {} : { signature: part.signature }),
        ...(part.redacted ? { redacted: true } : {}),
      };
    case "tool_use":
      return { kind: "tool_use", id: part.id, name: part.name, input: part.input };
    case "tool_result":
      return {
        kind: "tool_result",
        tool_use_id: part.toolUseId,
        ...(part.name === undefined ? {} : { name: part.name }),
        is_error: part.isError,
        parts: partsJson(part.parts),
      };
    case "text_file":
      return { kind: "text_file", mime_type: part.mimeType, text: part.text, filename: part.filename };
    case "image":
    case "pdf":
      return { kind: part.kind, mime_type: part.mimeType, data: part.data, filename: part.filename };
    case "unsupported_file":
      return { kind: part.kind, filename: part.filename };
    default:
      return { ...part };
  }
}

/** Only the members that a vector names are compared, and its `thinking` may leave `redacted` out. */
function brief(diagnostics: Evaluated["diagnostics"]): unknown[] {
  return diagnostics.map(({ code, severity, start }) => ({ code, severity, start: start ?? null }));
}

const SEVEN = ["bash", "read", "edit", "write", "grep", "find", "ls"];
const catalog: Catalog = { tools: SEVEN.map((name) => ({ name, enabled: true })) };

async function evaluated(vector: Vector, folder: string) {
  const chat = parse(new TextEncoder().encode(vector.chat));
  const document = `${folder}/talk.chat`;
  const environment = { cwd: folder, home: folder, variables: {} };
  const loaded = await loadSettingsLayers({ environment, noConfig: true, catalog });
  assert.ok(loaded.ok);
  const lua = luaSession({ document, environment, print: (line) => assert.fail(line) });
  const first = await documentSettings({
    loaded: loaded.value,
    frontmatter: chat.frontmatter,
    preamble: chat.preamble,
    runLua: lua.run,
  });
  const frontmatter = { variables: first.variables, diagnostics: first.diagnostics, lua };
  // The vectors have the bare text of files, as the plugin sends it (decision F2).
  const settings = { files: { names: false }, templating: { enabled: true } };
  return { first, prompt: await evaluateChat(chat, { document, environment, frontmatter, settings }) };
}

const all = vectors().filter(({ expect }) => expect.evaluated !== undefined);

Deno.test(`the prompts of ${all.length} vectors are as the vectors expect`, async (t) => {
  assert.ok(all.length >= 130);
  for (const vector of all) {
    await t.step(vector.name, async () => {
      await inFolder(vector.files ?? {}, async (folder) => {
        const { first, prompt } = await evaluated(vector, folder);
        const actual = comparable(prompt, folder);
        const expected = vector.expect.evaluated!;
        assert.equal(actual.system, expected.system);
        assert.deepEqual(actual.history, expected.history);
        assert.deepEqual(brief(actual.diagnostics), brief(expected.diagnostics));
        assert.equal(actual.blocked, expected.blocked);
        for (const [key, value] of Object.entries(vector.expect.config ?? {})) {
          const found = lookUp(first.logs, catalog, key);
          assert.ok(found.ok, key);
          const row = [found.value].flat().find((candidate) => candidate.key === key);
          assert.deepEqual(row?.value, value, key);
        }
      });
    });
  }
});

Deno.test("a document whose frontmatter was not evaluated is not sent, and the diagnostic says so", async () => {
  const chat = parse(new TextEncoder().encode("```lua\nx = 1\n```\n@You:\nHi\n"));
  const environment = { cwd: "/", home: "/", variables: {} };
  const prompt = await evaluateChat(chat, { document: null, environment });
  assert.ok(prompt.blocked);
  assert.deepEqual(prompt.diagnostics.map(({ code }) => code), ["frontmatter_unsupported"]);
});

Deno.test("file references are found where the vectors expect them", async (t) => {
  for (const vector of vectors()) {
    const { rewritten } = vector.expect;
    if (rewritten === undefined) continue;
    await t.step(vector.name, () => {
      const chat = parse(new TextEncoder().encode(vector.chat));
      const found = chat.turns.filter((turn) => turn.role !== "Assistant").flatMap((turn) =>
        turn.segments.flatMap((segment) =>
          segment.kind !== "text" ? [] : fileReferences(segment.value).map((reference) => ({
            path: reference.path,
            ...(reference.mime === undefined ? {} : { mime: reference.mime }),
            start_col: reference.from + 1,
            end_col: reference.to,
          }))
        )
      );
      const expected = rewritten.flatMap((message) => message.segments)
        .filter((segment) => segment.kind === "file_ref")
        .map(({ path, mime, start_col, end_col }) => ({
          path,
          ...(mime === undefined ? {} : { mime }),
          start_col,
          end_col,
        }));
      assert.deepEqual(found, expected);
    });
  }
});
