// The pages are complete: each stored file, each page in the index, no broken link.

import assert from "node:assert/strict";
import { PAGES } from "../../scripts/build/pages.ts";
import { documentationPages } from "../../scripts/gate/documentation.ts";
import { readHouse } from "../../scripts/gate/module_graph.ts";
import { COMMANDS } from "../../commands/line/table.ts";
import { EDITOR_PLACES } from "../../commands/setup/editor_places.ts";
import { RULE_MEMBERS } from "../../config/rules/read_rule.ts";
import { STATUS_WORDS } from "../../parser/text/status_words.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { outputSchema } from "../../scripts/generate/schemas.ts";
import { walk } from "../../scripts/mutate/walk.ts";

const PLACE = /\$\{(?:stateFolder|runtimeFolder)\([^`]*?\)\}\/([a-z_-]+)/g;

async function placesIn(folder: string): Promise<string[]> {
  const places: string[] = [];
  for await (const path of walk(`${ROOT}/${folder}`, ".ts")) {
    for (const [, name] of (await Deno.readTextFile(path)).matchAll(PLACE)) places.push(name!);
  }
  return places;
}

Deno.test("the table in SECURITY.md contains every folder and file of the state folder", async () => {
  const rooms = ["agent", "commands", "config", "cycle", "providers", "sandbox", "tools"];
  const places = new Set((await Promise.all(rooms.map(placesIn))).flat());
  assert.ok(places.size >= 12, [...places].join());
  const page = await Deno.readTextFile(`${ROOT}/SECURITY.md`);
  const missing = [...places].filter((name) =>
    [`${name}/`, `${name}.json`, name].every((shown) => !page.includes(`\`${shown}\``))
  );
  assert.deepEqual(missing, []);
});

const VARIABLE = /\bvariables(?:\.|\[")([A-Z][A-Z0-9_]{2,})\b/g;

Deno.test("the page about the environment contains every environment variable that the program reads by name", async () => {
  const rooms = ["agent", "base", "commands", "config", "cycle", "editors", "providers", "sandbox", "tools"];
  const read = new Set<string>();
  for (const room of rooms) {
    for await (const path of walk(`${ROOT}/${room}`, ".ts")) {
      for (const [, name] of (await Deno.readTextFile(path)).matchAll(VARIABLE)) read.add(name!);
    }
  }
  assert.ok(read.size >= 12, [...read].join());
  const page = await Deno.readTextFile(`${ROOT}/docs/reference/environment.md`);
  assert.deepEqual([...read].filter((name) => !page.includes(`\`${name}`)), []);
});

Deno.test("the index of the docs links to every page", async () => {
  const index = await Deno.readTextFile(`${ROOT}/docs/README.md`);
  const missing = (await documentationPages()).map((page) => page.slice("docs/".length))
    .filter((page) => /^(guide|reference|project)\/[^/]+$/.test(page) && !index.includes(`](${page})`));
  assert.deepEqual(missing, []);
});

const WORDS_OF_A_GUIDE_PAGE = 800;
const PAGES_OF_THE_GUIDE = 12;

Deno.test("the guide has twelve pages of at most 800 words each", async () => {
  const counts: [string, number][] = [];
  for await (const path of walk(`${ROOT}/docs/guide`, ".md")) {
    const words = (await Deno.readTextFile(path)).split(/\s+/).filter((word) => word !== "").length;
    counts.push([path.split("/").at(-1)!, words]);
  }
  assert.equal(counts.length, PAGES_OF_THE_GUIDE);
  assert.deepEqual(counts.filter(([, words]) => words > WORDS_OF_A_GUIDE_PAGE), []);
});

Deno.test("every link from page to page leads to an existing heading and to a file that packages include", async () => {
  const pages = ["SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", ...await documentationPages()];
  const anchors = new Map<string, Set<string>>();
  const anchorsOf = (path: string) => {
    const known = anchors.get(path);
    if (known !== undefined) return known;
    const headings = [...Deno.readTextFileSync(path).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      title!.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")
    );
    const found = new Set(headings);
    anchors.set(path, found);
    return found;
  };
  const packaged = [...PAGES, "docs/"].map((path) => `${ROOT}/${path}`);
  const broken: string[] = [];
  for (const page of pages) {
    const text = (await Deno.readTextFile(`${ROOT}/${page}`)).replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1`*$/gm, "");
    for (const [, target] of text.matchAll(/(?:\]\(|src(?:set)?=")(?!https?:)([^)"\s]+)[)"]/g)) {
      const [file = "", anchor] = target!.split("#");
      const path = new URL(file === "" ? page.split("/").at(-1)! : file, `file://${ROOT}/${page}`).pathname;
      const there = await Deno.stat(path).then(() => true, () => false);
      if (!there || !packaged.some((each) => path.startsWith(each))) broken.push(`${page}: ${target}`);
      else if (anchor !== undefined && !anchorsOf(path).has(anchor)) broken.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
});

Deno.test("every page that is named in the code exists", async () => {
  const gone: string[] = [];
  let count = 0;
  for (const path of (await readHouse(ROOT)).modules.keys()) {
    if (path.startsWith("tests/")) continue;
    for (
      const [page] of (await Deno.readTextFile(`${ROOT}/${path}`)).matchAll(/\bdocs(?:\/[a-z_-]+)+\.md\b/g)
    ) {
      count++;
      const found = await Deno.lstat(`${ROOT}/${page}`).catch(() => null);
      const isPointer = found !== null &&
        (await Deno.readTextFile(`${ROOT}/${page}`)).startsWith("This page is now ");
      if (found === null || isPointer) gone.push(`${path}: ${page}`);
    }
  }
  assert.deepEqual(gone, []);
  assert.ok(count >= 8, `only ${count} names were found`);
});

Deno.test("the page about events contains every event of a run and every reason why a run stops", async () => {
  const page = await Deno.readTextFile(`${ROOT}/docs/reference/events.md`);
  const types = await Deno.readTextFile(`${ROOT}/cycle/types.ts`) +
    await Deno.readTextFile(`${ROOT}/agent/views/run_event.ts`);
  const events = new Set([...types.matchAll(/\bevent: "([a-z:]+)"/g)].map(([, name]) => name!));
  assert.ok(events.size >= 16);
  assert.deepEqual([...events].filter((name) => !page.includes(`| \`${name}\` |`)), []);
  const shown = [...page.matchAll(/^\{"event":"([a-z:]+)"/gm)].map(([, name]) => name!);
  assert.deepEqual([...events].filter((name) => !shown.includes(name)), [], "no example shows it");
  const [, union] = /export type StopReason =([\s\S]*?);\n\n/.exec(types)!;
  const reasons = [...union!.matchAll(/"([a-z-]+)"/g)].map(([, name]) => name!);
  assert.ok(reasons.length >= 12);
  assert.deepEqual(reasons.filter((name) => !page.includes(`\`${name}\``)), []);
});

Deno.test("the page about events names every field that each event always has", async () => {
  const page = await Deno.readTextFile(`${ROOT}/docs/reference/events.md`);
  // deno-lint-ignore no-explicit-any
  const $defs = outputSchema().$defs as any;
  const open = (schema: { $ref?: string }) =>
    schema.$ref === undefined ? schema : $defs[schema.$ref.split("/").at(-1)!];
  const kinds = (open($defs.event).anyOf as { $ref?: string }[]).map(open);
  assert.ok(kinds.length >= 20);
  const missing = kinds.flatMap(({ properties, required }) => {
    const name: string = properties.event.const;
    const row = page.split("\n").find((line) => line.startsWith(`| \`${name}\` |`)) ?? "";
    return required.filter((member: string) => member !== "event" && !row.includes(`\`${member}\``))
      .map((member: string) => `${name}: ${member}`);
  });
  assert.deepEqual(missing, []);
});

Deno.test("the help and the pages about editors name every editor that flemma has files for", async () => {
  const { details = "" } = COMMANDS.find(({ name }) => name === "editor")!;
  const folder = `${ROOT}/docs/reference/editors`;
  const pages = await Promise.all(
    [...Deno.readDirSync(folder)].map(({ name }) => Deno.readTextFile(`${folder}/${name}`)),
  );
  const missing = Object.keys(EDITOR_PLACES).filter((name) =>
    !new RegExp(`\\b${name}\\b`).test(details) ||
    !pages.some((page) => page.includes(`flemma editor ${name}`))
  );
  assert.deepEqual(missing, []);
});

Deno.test("pages and files for editors have every status, built-in tool and member of a rule", async () => {
  const statuses = [...new Set(STATUS_WORDS.values())];
  const editors = ["vim/syntax/chat.vim", "emacs/flemma.el", "kakoune/flemma.kak"];
  const names: Readonly<Record<string, readonly string[]>> = {
    "docs/reference/format.md": statuses,
    "docs/reference/tools.md": builtinTools().map(({ name }) => `\`${name}\``),
    "docs/reference/approval.md": Object.keys(RULE_MEMBERS).map((name) => `\`${name}\``),
    ...Object.fromEntries(editors.map((file) => [`editors/${file}`, statuses])),
  };
  const missing = await Promise.all(
    Object.entries(names).map(async ([file, each]) => {
      const text = await Deno.readTextFile(`${ROOT}/${file}`);
      return each.filter((name) => !text.includes(name)).map((name) => `${file}: ${name}`);
    }),
  );
  assert.deepEqual(missing.flat(), []);
});
