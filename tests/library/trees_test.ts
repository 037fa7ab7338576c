// Syntax trees are made only if something imports their parsers.

import assert from "node:assert/strict";

/** What a program prints that imports a module of the parser. */
async function printed(module: string): Promise<string> {
  const path = new URL(`../../parser/${module}`, import.meta.url).href;
  const code = `import { parse } from ${JSON.stringify(path)};
    try { console.log(parse(new TextEncoder().encode("@You:\\nHello\\n")).tree.toString()); }
    catch (thrown) { console.log(thrown.message); }`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", code],
    stdout: "piped",
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("the library can print syntax trees; if the module for trees was not imported, the error says what to import", async () => {
  assert.equal(await printed("library.ts"), "Document(Turn(Marker,Text(Lines)))");
  assert.equal(await printed("mod.ts"), "no syntax tree can be made: import parser/tree/trees.ts");
});
