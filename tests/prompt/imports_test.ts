// Imports in instruction files: what counts as one, and which files they reach.

import assert from "node:assert/strict";
import { ignoreFileReader } from "../../base/disk/ignore_rules.ts";
import { readCheckedSync } from "../../base/system/reading.ts";
import { importedPaths } from "../../prompt/template/imports.ts";
import { type ImportRules, mayImport, projectFiles } from "../../prompt/template/project_files.ts";
import { inFolder } from "../folder.ts";

for (
  const [text, paths] of [
    ["See @docs/style.md, and (@./a) or @../b.txt.", ["docs/style.md", "./a", "../b.txt"]],
    ["@~/own.md\n@/etc/x.md and @a.md again @a.md", ["~/own.md", "/etc/x.md", "a.md"]],
    ["user@host.md @scope/pkg @someone @./ x", []],
    ["`@a.md` and ``@b.md ` `` but @c.md", ["c.md"]],
    ["`open @a.md\n\nclosed` @b.md", ["a.md", "b.md"]],
    ["```\n@a.md\n```\n@b.md\n~~~~ md\n@c.md\n~~~\n~~~~\n@d.md", ["b.md", "d.md"]],
    ["``` not `a fence\n@a.md", ["a.md"]],
    ["<!-- @a.md\n\n@b.md --> @c.md <!-- @d.md", ["c.md"]],
    ["`<!--` @a.md `-->`", ["a.md"]],
  ] as const
) {
  Deno.test(`imports of ${JSON.stringify(text)} are ${paths.join(" and ") || "none"}`, () => {
    assert.deepEqual(importedPaths(text), paths);
  });
}

type Files = Readonly<Record<string, string | { readonly link: string } | { readonly size: number } | null>>;

/** What a project's instructions consist of: `path: text`, or `path! why`. */
async function found(
  files: Files,
  from: ImportRules["from"] = "project",
  folder = "project",
): Promise<string[]> {
  return await inFolder(async (root) => {
    Deno.mkdirSync(`${root}/project/.git`, { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      const path = `${root}/${name}`;
      Deno.mkdirSync(path.replace(/\/[^/]*$/, ""), { recursive: true });
      if (typeof content === "string") Deno.writeTextFileSync(path, content);
      else if (content === null) new Deno.Command("mkfifo", { args: [path] }).outputSync();
      else if ("link" in content) Deno.symlinkSync(content.link, path);
      else {
        Deno.writeTextFileSync(path, "");
        Deno.truncateSync(path, content.size);
      }
    }
    const at = `${root}/${folder}`;
    const read = () =>
      projectFiles(at, (path, check = () => null) => {
        const bytes = readCheckedSync(path, check);
        if (typeof bytes === "string") throw new Error(bytes);
        return bytes;
      }, { from, home: `${root}/home`, isSecret: (real) => real.includes("/.ssh/"), readIgnore });
    const readIgnore = mayImport(at) ? await ignoreFileReader() : null;
    const { files: taken, leftOut } = read();
    assert.deepEqual(read(), { files: taken, leftOut }, "the same files give the same prompt");
    return [
      ...taken.map(({ path, text }) => `${path}: ${text}`),
      ...leftOut.map(({ path, why }) => `${path.replace(root, "ROOT")}! ${why}`),
    ];
  });
}

for (
  const [name, files, expected, from, folder] of [
    [
      "an imported file comes behind the file that imports it, and its own imports behind it, relative to it",
      {
        "project/AGENTS.md": "A @docs/a.md",
        "project/CLAUDE.md": "C",
        "project/docs/a.md": "B @b.md",
        "project/docs/b.md": "D",
      },
      ["AGENTS.md: A @docs/a.md", "docs/a.md: B @b.md", "docs/b.md: D", "CLAUDE.md: C"],
    ],
    [
      "a file counts once, however often and by whatever path it is imported",
      {
        "project/AGENTS.md": "A @./docs/a.md @docs/../docs/a.md @CLAUDE.md",
        "project/CLAUDE.md": "@AGENTS.md",
        "project/docs/a.md": "B @../AGENTS.md @a.md",
      },
      [
        "AGENTS.md: A @./docs/a.md @docs/../docs/a.md @CLAUDE.md",
        "docs/a.md: B @../AGENTS.md @a.md",
        "CLAUDE.md: @AGENTS.md",
      ],
    ],
    [
      "imports reach four files deep",
      {
        "project/AGENTS.md": "0 @1.md",
        ...Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`project/${at}.md`, `${at} @${at + 1}.md`])),
      },
      [
        "AGENTS.md: 0 @1.md",
        "1.md: 1 @2.md",
        "2.md: 2 @3.md",
        "3.md: 3 @4.md",
        "4.md: 4 @5.md",
        "5.md! is imported over more than 4 files",
      ],
    ],
    ["a missing file is named", { "project/AGENTS.md": "@no.md" }, [
      "AGENTS.md: @no.md",
      "no.md! does not exist",
    ]],
    ["a folder is nothing to import", { "project/AGENTS.md": "@./docs", "project/docs/a": "" }, [
      "AGENTS.md: @./docs",
    ]],
    [
      "a file outside the project is left out, also behind a link",
      {
        "project/AGENTS.md": "@../out.md @link.md @~/own.md",
        "out.md": "x",
        "other.md": "x",
        "home/own.md": "x",
        "project/link.md": { link: "../other.md" },
      },
      [
        "AGENTS.md: @../out.md @link.md @~/own.md",
        "ROOT/out.md! is outside the project",
        "link.md! is outside the project",
        "ROOT/home/own.md! is outside the project",
      ],
    ],
    [
      "secrets, ignored files, files of git, pipes and large files are left out",
      {
        "project/AGENTS.md": "@./.env @./.env.local @build/a.md @./.git/x.md @./pipe @large.md @docs/kept.md",
        "project/.gitignore": "build/\n*.md\n!AGENTS.md\n",
        "project/docs/.gitignore": "!kept.md\n",
        "project/.env": "KEY=1",
        "project/.env.local": "KEY=1",
        "project/build/a.md": "x",
        "project/.git/x.md": "x",
        "project/pipe": null,
        "project/large.md": { size: 1_000_000_000 },
        "project/docs/kept.md": "kept",
      },
      [
        "AGENTS.md: @./.env @./.env.local @build/a.md @./.git/x.md @./pipe @large.md @docs/kept.md",
        "docs/kept.md: kept",
        ".env! can contain secrets",
        ".env.local! can contain secrets",
        "build/a.md! is ignored by git",
        ".git/x.md! is in a .git folder",
        "pipe! is not a regular file",
        "large.md! is ignored by git",
      ],
    ],
    [
      "a large file is left out",
      { "project/AGENTS.md": "@large.md", "project/large.md": { size: 1_000_000_000 } },
      ["AGENTS.md: @large.md", "large.md! is too long"],
    ],
    [
      "with home, files of the home folder count, but not its secrets",
      {
        "project/AGENTS.md": "@~/own.md @~/.ssh/id.md @../out.md",
        "home/own.md": "own",
        "home/.ssh/id.md": "key",
        "out.md": "x",
      },
      [
        "AGENTS.md: @~/own.md @~/.ssh/id.md @../out.md",
        "ROOT/home/own.md: own",
        "ROOT/home/.ssh/id.md! can contain secrets",
        "ROOT/out.md! is outside the project",
      ],
      "home",
    ],
    [
      "with all, every text counts",
      { "project/AGENTS.md": "@../out.md", "out.md": "x" },
      ["AGENTS.md: @../out.md", "ROOT/out.md: x"],
      "all",
    ],
    ["with off, no file is imported", { "project/AGENTS.md": "@a.md", "project/a.md": "x" }, [
      "AGENTS.md: @a.md",
    ], "off"],
    [
      "paths are shown from the working folder",
      { "project/AGENTS.md": "@docs/a.md", "project/docs/a.md": "x", "project/sub/x": "" },
      ["../AGENTS.md: @docs/a.md", "../docs/a.md: x"],
      "project",
      "project/sub",
    ],
  ] as readonly (readonly [string, Files, readonly string[], ImportRules["from"]?, string?])[]
) {
  Deno.test(name, async () => {
    const lines = await found(files, from, folder);
    assert.deepEqual(lines.map((line) => line.replace(/^\/[^:]*?\/(?=home\/|out\.md)/, "ROOT/")), expected);
  });
}
