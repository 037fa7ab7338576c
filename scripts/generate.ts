// Writes every generated file of the project: grammar tables, validators, reference pages.

import { generateAll } from "./gate/generated.ts";
import { print, ROOT } from "./gate/root.ts";

for (const { path, text } of await generateAll()) {
  await Deno.writeTextFile(`${ROOT}/${path}`, text);
  print(`wrote ${path}`);
}
