// Writes the table of files that other programs obey into docs/reference/sandbox.md.

import { PROTECTED_IN_GIT } from "../../sandbox/git/table.ts";
import { type FileTreatment, OBEYED_FILES } from "../../sandbox/policy/hooks.ts";

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
  const programs = [...new Set(OBEYED_FILES.map(([_, who]) => who))];
  const files = (who: string, how: FileTreatment) =>
    OBEYED_FILES.filter((row) => row[1] === who && row[0] === how).flatMap(([_, __, ...paths]) => paths)
      .map(code).join(", ");
  return [
    "| read or run by | protected | reported |",
    "| --- | --- | --- |",
    `| git, in a git folder (\`$git\`) | ${PROTECTED_IN_GIT.map(code).join(", ")} | |`,
    ...programs.map((who) => {
      const instructions = files(who, "instructions");
      const reported = [files(who, "reported"), instructions === "" ? "" : `with a diff: ${instructions}`]
        .filter((part) => part !== "").join("; ");
      return `| ${who} | ${files(who, "held")} | ${reported} |`.replaceAll(/\|  +(?=\|)/g, "| ");
    }),
  ].join("\n");
}

function code(path: string): string {
  return `\`${path}\``;
}
