// Run on a small file system: writes more than fits, by rename and in place, and prints what is left.

import { replaceFile, takeSnapshot } from "../../tools/files/replace.ts";

const folder = Deno.args[0] ?? ".";
for (const name of ["a", "b"]) {
  let outcome = "accepted";
  try {
    await replaceFile(`${folder}/${name}`, new Uint8Array(1_000_000), {
      shownAs: name,
      temporary: ".flemma-test",
      since: await takeSnapshot(`${folder}/${name}`, name),
    });
  } catch {
    outcome = "refused";
  }
  const content = await Deno.readTextFile(`${folder}/${name}`);
  await Deno.stdout.write(new TextEncoder().encode(`${name} ${outcome}, ${content}\n`));
}
