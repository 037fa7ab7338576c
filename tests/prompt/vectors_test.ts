import assert from "node:assert/strict";
import { diagnosticJson, parse } from "../../parser/mod.ts";
import { evaluate } from "../../prompt/evaluate.ts";
import { fileReferences } from "../../prompt/reference.ts";
import type { Part, Prompt } from "../../prompt/types.ts";

interface Vector {
  readonly name: string;
  readonly chat: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly sure?: boolean;
  readonly expect: {
    readonly frontmatter: unknown;
    readonly evaluated?: Evaluated;
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

function needsCell(vector: Vector): boolean {
  return vector.expect.frontmatter !== null ||
    vector.expect.messages.some((message) =>
      message.segments.some((segment) => segment.kind === "expression" || segment.kind === "code")
    );
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
    default:
      return { ...part };
  }
}

/** Only the members that a vector names are compared, and its `thinking` may leave `redacted` out. */
function brief(diagnostics: Evaluated["diagnostics"]): unknown[] {
  return diagnostics.map(({ code, severity, start }) => ({ code, severity, start: start ?? null }));
}

const all = vectors().filter((vector) => vector.expect.evaluated !== undefined);
const here = all.filter((vector) => !needsCell(vector));

Deno.test(`the prompts of ${here.length} of ${all.length} vectors are as stated; ${all.length - here.length} wait for frontmatter and templates`, async (t) => {
  assert.ok(here.length >= 57);
  for (const vector of here) {
    await t.step(vector.name, async () => {
      await inFolder(vector.files ?? {}, async (folder) => {
        const chat = parse(new TextEncoder().encode(vector.chat));
        const environment = { cwd: folder, home: folder, variables: {} };
        const prompt = await evaluate(chat, { document: `${folder}/talk.chat`, environment });
        const actual = comparable(prompt, folder);
        const expected = vector.expect.evaluated!;
        const check = () => {
          assert.equal(actual.system, expected.system);
          assert.deepEqual(actual.history, expected.history);
          assert.deepEqual(brief(actual.diagnostics), brief(expected.diagnostics));
          assert.equal(actual.blocked, expected.blocked);
        };
        if (vector.sure === false) {
          try {
            check();
          } catch (difference) {
            // deno-lint-ignore no-console
            console.log(`not sure, differs: ${vector.name}: ${(difference as Error).message}`);
          }
        } else check();
      });
    });
  }
});

Deno.test("documents that need the Lua cell are blocked and say why", async (t) => {
  for (const vector of all.filter(needsCell)) {
    const sent = parse(new TextEncoder().encode(vector.chat));
    const tagged = sent.turns.some((turn) =>
      (turn.role === "You" || turn.role === "System") &&
      turn.segments.some((segment) => segment.kind === "expression" || segment.kind === "code")
    );
    if (sent.frontmatter === null && !tagged) continue;
    await t.step(vector.name, async () => {
      const environment = { cwd: "/", home: "/", variables: {} };
      const prompt = await evaluate(sent, { document: null, environment });
      assert.ok(prompt.blocked);
      const codes = prompt.diagnostics.map((diagnostic) => diagnostic.code);
      assert.equal(codes.includes("frontmatter_unsupported"), sent.frontmatter !== null);
      assert.equal(codes.includes("template_unsupported"), tagged);
    });
  }
});

Deno.test("file references are found where the vectors have them", async (t) => {
  for (const vector of vectors()) {
    const { rewritten } = vector.expect;
    if (rewritten === undefined || needsCell(vector)) continue;
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
