// The page of the architecture lists every place where the program starts a process, or loads code that is not its own.

import assert from "node:assert/strict";
import { ROOMS } from "../../scripts/gate/layers.ts";

const ROOT = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const HEADING = "## What runs outside the sandbox";

/** Starts a process, loads a library, or loads a module by a computed path. */
const PLACES: readonly RegExp[] = [
  /\bnew Deno\.Command\(/,
  /\bDeno\.(?:run|spawn\w*)\(/,
  /\bDeno\.dlopen\(/,
  /\bnew (?:Shared)?Worker\(/,
  /(?<!function |\.)\b(?:spawn|prepareUnsandboxed|runBriefly|askHelper)\((?!\w+\??: )/,
  /\bimport\(\s*(?!["'`\s])/,
  /\b(?:eval|new Function)\(/,
  /\bnode:(?:child_process|worker_threads|vm|module)\b/,
];

function modulesIn(folder: string): string[] {
  return [...Deno.readDirSync(`${ROOT}/${folder}`)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return modulesIn(path);
    return name.endsWith(".ts") && !name.endsWith(".generated.ts") ? [path] : [];
  });
}

/** The code without lines that are only comments, and without the bodies of strings that span no line. */
function codeOf(path: string): string {
  return Deno.readTextFileSync(`${ROOT}/${path}`).split("\n").filter((line) =>
    !/^\s*(?:\/\/|\/?\*)/.test(line)
  )
    .join("\n");
}

function filesWithPlaces(): string[] {
  const rooms = Object.keys(ROOMS);
  const files = rooms.flatMap((room) => room.endsWith(".ts") ? [room] : modulesIn(room));
  return files.filter((path) => {
    const code = codeOf(path);
    return PLACES.some((place) => place.test(code));
  }).sort();
}

/** The files in the last column of the table below the heading. */
function listed(): string[] {
  const page = Deno.readTextFileSync(`${ROOT}/docs/project/architecture.md`);
  const begin = page.indexOf(HEADING);
  assert.ok(begin >= 0, `${HEADING} is missing`);
  const section = page.slice(begin + HEADING.length).split(/^## /m)[0]!;
  const rows = section.split("\n").filter((line) => line.startsWith("| ") && !/^\| (?:---|what)/.test(line));
  return rows.flatMap((row) =>
    [...row.split(" | ").at(-1)!.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = ""]) => path)
  )
    .sort();
}

Deno.test("every place that starts a process or loads foreign code is in the list of the architecture, and no other", () => {
  assert.deepEqual(listed(), filesWithPlaces());
});

Deno.test("the search finds each way to start a process or to load foreign code", () => {
  const rows = [
    "await new Deno.Command(name).output()",
    "Deno.dlopen(path, {})",
    'new Worker(new URL("./w.ts", import.meta.url))',
    "const started = spawn(argv, options);",
    "success(prepareUnsandboxed(argv, false, environment))",
    "await runBriefly(argv, options, 1)",
    "await askHelper(words, place)",
    "module = await import(fileUri(path));",
    "const made = new Function(text);",
    'import { spawn } from "node:child_process";',
  ];
  for (const row of rows) assert.ok(PLACES.some((place) => place.test(row)), row);
  for (
    const row of [
      'await import("./x.ts")',
      "this.#background.spawn(work)",
      "spawn(work: Promise<void>): void {",
    ]
  ) {
    assert.ok(!PLACES.some((place) => place.test(row)), row);
  }
});
