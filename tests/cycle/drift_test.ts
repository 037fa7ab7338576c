// An included or referenced file that changed since the model saw it: reported once, at the next send.

import assert from "node:assert/strict";
import { BUILTIN_NAMES } from "../../lua/library/names.ts";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { dryRun, prepareRequest } from "../../cycle/send/request.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import type { Journal } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import { luaSession } from "../../prompt/template/document_lua.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";
import { testsWith } from "../tests_with.ts";
import { inFolder } from "../folder.ts";

/** A document with files beside it. */
class Place {
  readonly environment;
  constructor(readonly folder: string) {
    this.environment = {
      cwd: folder,
      home: folder,
      variables: { XDG_STATE_HOME: `${folder}/state`, ANTHROPIC_API_KEY: "k" },
    };
  }

  write(name: string, text: string): void {
    Deno.writeTextFileSync(`${this.folder}/${name}`, text);
  }

  /** What the document's runs remember, read anew as a next process does. */
  async memory(path: string | null = this.document): Promise<Journal> {
    const opened = await openJournal({ environment: this.environment, path });
    assert.ok(opened.ok);
    return opened.value;
  }

  get document(): string {
    return `${this.folder}/talk.chat`;
  }

  /** Prepares a send of `chat` as a run of its own; answers `code message` of every diagnostic. */
  async send(
    chat: string,
    journal: Journal,
    how: typeof dryRun = prepareRequest,
  ): Promise<readonly string[]> {
    const { environment, document } = this;
    const loaded = await loadSettingsLayers({ environment, noConfig: true });
    assert.ok(loaded.ok);
    const parsed = parse(new TextEncoder().encode(chat));
    const lua = luaSession({ document, environment, print: () => {} });
    const { variables, diagnostics } = await documentSettings({
      loaded: loaded.value,
      frontmatter: parsed.frontmatter,
      runLua: lua.run,
      reserved: BUILTIN_NAMES,
    });
    const prepared = await how({
      chat: parsed,
      document,
      settings: DEFAULT_SETTINGS,
      environment,
      provider: anthropic,
      tools: [],
      frontmatter: { variables, diagnostics, lua },
      journal,
    });
    assert.ok(prepared.kind !== "failed");
    return prepared.diagnostics.map(({ code, message }) => `${code} ${message}`);
  }
}

async function withPlace(body: (place: Place) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    await body(new Place(folder));
  });
}

const test = testsWith(withPlace);

const changed = (path: string) =>
  `file_drift ${path} has changed since the last request; the model gets the current version.`;

Deno.test("if an included file changes, flemma reports it once, however often the document includes it", async () => {
  const ways = [
    "@You:\nSee @./notes.md.\n",
    '@You:\n{{ include("notes.md") }}\n',
    '@You:\n{{ include("outer.md") }}\n',
    '@You:\n{{ include("notes.md", { [symbols.BINARY] = true }) }}\n',
    '```lua\nnotes = include("notes.md")\n```\n@You:\n{{ notes }}\n',
  ];
  for (const chat of ways) {
    await withPlace(async (place) => {
      place.write("outer.md", 'x {{ include("notes.md") }}');
      place.write("notes.md", "one");
      assert.deepEqual(await place.send(chat, await place.memory()), [], chat);
      assert.deepEqual(await place.send(chat, await place.memory()), [], chat);
      place.write("notes.md", "two");
      assert.deepEqual(
        await place.send(chat, await place.memory()),
        [changed(`${place.folder}/notes.md`)],
        chat,
      );
      assert.deepEqual(await place.send(chat, await place.memory()), [], chat);
      place.write("notes.md", "one");
      assert.equal((await place.send(chat, await place.memory())).length, 1, chat);
    });
  }
});

test("if a template and the frontmatter both read a changed file, flemma reports it once, for the last of the two", async (place) => {
  place.write("a.md", "one");
  place.write("b.md", "one");
  const chat = '```lua\na = include("a.md")\n```\n@You:\n{{ a }}{{ include("a.md") }} @./a.md @./b.md\n';
  await place.send(chat, await place.memory());
  place.write("a.md", "two");
  place.write("b.md", "two");
  const reported = await place.send(chat, await place.memory());
  assert.deepEqual(reported, ["a.md", "b.md"].map((name) => changed(`${place.folder}/${name}`)));
});

test("for an unsaved document, flemma remembers seen files only within its process and stores nothing on disk", async (place) => {
  const chat = "@You:\nSee @./notes.md.\n";
  place.write("notes.md", "one");
  const memory = await place.memory(null);
  await place.send(chat, memory);
  place.write("notes.md", "two");
  assert.equal((await place.send(chat, memory)).length, 1);
  place.write("notes.md", "three");
  assert.deepEqual(await place.send(chat, await place.memory(null)), []);
  await assert.rejects(Deno.stat(`${place.folder}/state`), Deno.errors.NotFound);
});

test("a dry run and a blocked request report a changed file; only a sent request also records the new content", async (place) => {
  const chat = "@You:\nSee @./notes.md.\n";
  place.write("notes.md", "one");
  await place.send(chat, await place.memory());
  place.write("notes.md", "two");
  assert.equal((await place.send(chat, await place.memory(), dryRun)).length, 1);
  const blocked = await place.send(`${chat}{{ two words }}\n`, await place.memory());
  assert.ok(blocked.some((line) => line.startsWith("template_syntax")), blocked.join("\n"));
  assert.deepEqual(await place.send(chat, await place.memory()), [changed(`${place.folder}/notes.md`)]);
});

test("if the record of seen files cannot be written, flemma reports it and still sends the request", async (place) => {
  place.write("notes.md", "one");
  const memory = await place.memory();
  await Deno.writeTextFile(`${place.folder}/state`, "no folder");
  const reported = await place.send("@You:\nSee @./notes.md.\n", memory);
  assert.equal(reported.length, 1);
  assert.match(reported[0]!, /^file_drift_unrecorded .*cannot save their hashes: /);
});

test("the hashes of seen files are kept when a long journal is shortened", async (place) => {
  const chat = "@You:\nSee @./notes.md.\n";
  place.write("notes.md", "one");
  await place.send(chat, await place.memory());
  const journal = `${place.folder}/state/flemma/journal/${await documentKey(place.document)}.jsonl`;
  const noise = '{"kind":"start","id":"x","tool":"bash","time":""}\n{"kind":"end","id":"x"}\n'.repeat(4000);
  await Deno.writeTextFile(journal, noise, { append: true });
  place.write("notes.md", "two");
  assert.equal((await place.send(chat, await place.memory())).length, 1);
  assert.ok((await Deno.stat(journal)).size < 1000, "it was shortened");
});
