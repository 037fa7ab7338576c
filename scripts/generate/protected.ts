// Writes the lists of protected paths and watched files into docs/reference/sandbox.md.

import {
  GIT_HOOKS,
  HOME_HOOKS,
  PROJECT_HOOKS,
  WATCHED_IN_HOME,
  WATCHED_IN_PROJECT,
} from "../../sandbox/policy/hooks.ts";

const PAGE = "docs/reference/sandbox.md";
const BEGIN = "<!-- held and watched: generated from sandbox/policy/hooks.ts -->";
const END = "<!-- end of held and watched -->";

export async function generate(): Promise<{ path: string; text: string }[]> {
  const page = await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url));
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${PAGE} has lost the marks around the lists of files.`);
  return [{ path: PAGE, text: `${page.slice(0, from + BEGIN.length)}\n\n${tables()}\n\n${page.slice(to)}` }];
}

function tables(): string {
  const rows = [
    ["`$git`, in a git folder", GIT_HOOKS],
    ...Object.entries({ ...PROJECT_HOOKS, ...HOME_HOOKS }).map(([word, paths]) => [`\`${word}\``, paths]),
  ] as [string, readonly string[]][];
  const watched = [["in the project", WATCHED_IN_PROJECT], ["in your home", WATCHED_IN_HOME]] as const;
  return [
    "| held | |",
    "| --- | --- |",
    ...rows.map(([word, paths]) => `| ${word} | ${paths.map(code).join(", ")} |`),
    "",
    "| watched | |",
    "| --- | --- |",
    ...watched.map(([where, list]) =>
      `| ${where} | ${list.map(({ path, obeyedBy }) => `${code(path)} (${obeyedBy})`).join(", ")} |`
    ),
  ].join("\n");
}

function code(path: string): string {
  return `\`${path}\``;
}
