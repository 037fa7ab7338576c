// Files listed in the header of a result, as parts of a prompt: decided from the header and the bytes only.

import assert from "node:assert/strict";
import type { Environment } from "../../base/environment.ts";
import { attachmentsFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";
import { parse } from "../../parser/mod.ts";
import { conversationOf } from "../../prompt/conversation.ts";
import { evaluateChat, type EvaluateOptions } from "../../prompt/evaluate.ts";
import type { Part, Prompt } from "../../prompt/types.ts";
import { freshFolder } from "../folder.ts";
import { JPEG, PDF, PNG } from "../pictures.ts";

/** A state folder, and what is kept in it. */
interface Kept {
  readonly environment: Environment;
  put(bytes: Uint8Array<ArrayBuffer>, name?: string): Promise<string>;
}

async function withState(body: (kept: Kept) => Promise<void>): Promise<void> {
  const home = await freshFolder("attachments-");
  const environment = { cwd: home, home, variables: {} };
  try {
    await Deno.mkdir(attachmentsFolder(environment), { recursive: true });
    await body({
      environment,
      put: async (bytes, name) => {
        const own = name ?? await sha256(bytes);
        await Deno.writeFile(`${attachmentsFolder(environment)}/${own}`, bytes);
        return own;
      },
    });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

const USE = "@Assistant:\n**Tool Use:** `shot` (`c1`)\n\n```json\n{}\n```\n\n";

function document(suffix: string, body = "[image/png, 70B]"): string {
  return `@You:\nLook.\n\n${USE}@You:\n\n**Tool Result:** \`c1\`${suffix}\n\n\`\`\`\n${body}\n\`\`\`\n`;
}

async function prompted(
  text: string,
  environment: Environment,
  more: Partial<EvaluateOptions> = {},
): Promise<{ prompt: Prompt; parts: readonly Part[]; reported: readonly string[] }> {
  const prompt = await evaluateChat(parse(new TextEncoder().encode(text)), {
    document: null,
    environment,
    ...more,
  });
  const result = prompt.history.flatMap(({ parts }) => parts).find(({ kind }) => kind === "tool_result");
  assert.ok(result?.kind === "tool_result");
  return { prompt, parts: result.parts, reported: prompt.diagnostics.map(({ code }) => code) };
}

const shapes = (parts: readonly Part[]) =>
  parts.map((part) => part.kind === "image" || part.kind === "pdf" ? part.mimeType : part.kind);

Deno.test("the model gets the files in a result's header after the result's text, with the type detected from their bytes", () =>
  withState(async ({ environment, put }) => {
    const names = [await put(PNG), await put(PDF), await put(JPEG)];
    const { parts, reported, prompt } = await prompted(
      document(` (attachments=${names.join(",")})`),
      environment,
    );
    assert.deepEqual(shapes(parts), ["text", "image/png", "application/pdf", "image/jpeg"]);
    assert.deepEqual(reported, []);
    assert.equal(prompt.blocked, false);
    const image = parts[1]!;
    assert.ok(image.kind === "image");
    assert.deepEqual(Uint8Array.fromBase64(image.data), PNG);
    // Nothing of the person's folders goes out.
    assert.equal(image.filename, `${names[0]!.slice(0, 8)}.png`);
  }));

Deno.test("the files in a header are read in every spelling, and a file listed twice is attached once", () =>
  withState(async ({ environment, put }) => {
    const png = await put(PNG);
    for (
      const suffix of [
        ` (attachments="${png}")`,
        ` (error attachments=${png})`,
        ` (status=error attachments=${png},${png})`,
        ` (other attachments=${png} more)`,
        ` (attachments=aaaa attachments=${png})`,
      ]
    ) {
      assert.deepEqual(
        shapes((await prompted(document(suffix), environment)).parts),
        ["text", "image/png"],
        suffix,
      );
    }
  }));

Deno.test("an invalid name of a saved file causes a warning, and no file is read for it", () =>
  withState(async ({ environment, put }) => {
    const png = await put(PNG);
    await put(PNG, "x".repeat(64));
    const forged = await put(JPEG, "0".repeat(64));
    await Deno.writeFile(`${environment.home}/secret.png`, PNG);
    const rows: readonly (readonly [name: string, code: string])[] = [
      ["../../../../secret.png", "attachment_misnamed"],
      [`../attachments/${png}`, "attachment_misnamed"],
      [`${environment.home}/secret.png`, "attachment_misnamed"],
      [png.toUpperCase(), "attachment_misnamed"],
      [png.slice(1), "attachment_misnamed"],
      [`${png}0`, "attachment_misnamed"],
      ["x".repeat(64), "attachment_misnamed"],
      ["1".repeat(64), "attachment_lost"],
      [forged, "attachment_changed"],
    ];
    for (const [name, code] of rows) {
      const text = document(` (attachments=${name},${png})`);
      const { parts, reported, prompt } = await prompted(text, environment);
      assert.deepEqual([shapes(parts), reported], [["text", "image/png"], [code]], name);
      assert.equal(prompt.blocked, false);
    }
    const { prompt } = await prompted(
      document(` (attachments=${"1".repeat(64)},${"2".repeat(64)})`),
      environment,
    );
    assert.match(
      prompt.diagnostics[0]!.message,
      /^2 attachments \(the first is "111111111111…"\) of the result of c1 are not sent: the file is not saved/,
    );
    assert.equal(prompt.diagnostics[0]!.start, 13);
  }));

Deno.test("flemma does not read an attached file that was replaced by a link, a folder or a pipe", () =>
  withState(async ({ environment, put }) => {
    const folder = attachmentsFolder(environment);
    await Deno.writeFile(`${environment.home}/elsewhere`, JPEG);
    await Deno.symlink(`${environment.home}/elsewhere`, `${folder}/${"a".repeat(64)}`);
    await Deno.mkdir(`${folder}/${"b".repeat(64)}`);
    await new Deno.Command("mkfifo", { args: [`${folder}/${"c".repeat(64)}`] }).output();
    const png = await put(PNG);
    const names = ["a", "b", "c"].map((letter) => letter.repeat(64));
    const { parts, reported } = await prompted(
      document(` (attachments=${[...names, png].join(",")})`),
      environment,
    );
    assert.deepEqual(shapes(parts), ["text", "image/png"]);
    assert.deepEqual(reported, ["attachment_changed", "attachment_unreadable"]);
  }));

Deno.test("for a file that no model accepts, or that is too large for any request, only the text of the result is sent", () =>
  withState(async ({ environment, put }) => {
    const zip = await put(new TextEncoder().encode("PK\x03\x04 and so on"));
    assert.deepEqual(
      await prompted(document(` (attachments=${zip})`), environment).then((
        { parts, reported },
      ) => [shapes(parts), reported]),
      [["text"], []],
    );
    const huge = new Uint8Array(24 * 1024 * 1024 + 1);
    huge.set(PNG);
    const large = await put(huge);
    const { parts, reported, prompt } = await prompted(document(` (attachments=${large})`), environment);
    assert.deepEqual([shapes(parts), reported], [["text"], ["attachment_unreadable"]]);
    assert.match(
      prompt.diagnostics[0]!.message,
      /larger than 24 MiB\. The model gets the text of the result\.$/,
    );
  }));

Deno.test("text that imitates an attachments field attaches no file if it is in the body of a result or in a reply", () =>
  withState(async ({ environment, put }) => {
    const png = await put(PNG);
    const header = `**Tool Result:** \`c1\` (attachments=${png})`;
    const body = await prompted(document("", `${header}\n(attachments=${png})`), environment);
    assert.deepEqual([shapes(body.parts), body.reported], [["text"], []]);
    // A model that writes a result into its reply has written text.
    const reply = `@You:\nLook.\n\n${USE}${header}\n\n\`\`\`\nmine\n\`\`\`\n\n@You:\nGo on.\n`;
    const prompt = await evaluateChat(parse(new TextEncoder().encode(reply)), {
      document: null,
      environment,
    });
    assert.ok(!JSON.stringify(prompt.history).includes('"kind":"image"'));
  }));

Deno.test("no file is attached for an unfinished block, or for a document that is read without a file system", () =>
  withState(async ({ environment, put }) => {
    const png = await put(PNG);
    for (const status of ["pending", "approved", "rejected", "denied", "aborted"]) {
      const text = document(` (${status} attachments=${png})`);
      const prompt = await evaluateChat(parse(new TextEncoder().encode(text)), {
        document: null,
        environment,
      });
      assert.ok(!JSON.stringify(prompt.history).includes('image/png"'), status);
    }
    const chat = parse(new TextEncoder().encode(document(` (attachments=${png})`)));
    assert.ok(!JSON.stringify((await conversationOf(chat)).history).includes('"kind":"image"'));
  }));

Deno.test("flemma can compute the diagnostics about attachments without reading the files, with the same outcome", () =>
  withState(async ({ environment, put }) => {
    const names = [await put(PNG), "1".repeat(64), "../x"];
    const text = document(` (attachments=${names.join(",")})`);
    const { parts, reported } = await prompted(text, environment, { attaches: "looks" });
    assert.deepEqual(shapes(parts), ["text"]);
    assert.deepEqual(reported, (await prompted(text, environment)).reported);
  }));
