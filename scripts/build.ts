// Builds the files that are shipped, in the folder `dist`.
//
//   build.ts            a bundle of the command line and one of the library, for Deno; the manual page and JSON Schemas
//   build.ts npm        the packages for npm
//   build.ts vscode F   the extension for VS Code as a package, in the folder F
//   build.ts codemirror the page of examples/codemirror
//   build.ts binary …   one binary, which scripts/compile asks for
//   build.ts program F  the bundle of the command line alone, in the new folder F, for tests

import { compileCommand } from "./build/binary.ts";
import { bundleLibrary, bundleProgram, bundleText } from "./build/bundle.ts";
import { buildPackages } from "./build/npm.ts";
import { writeReferences } from "./build/references.ts";
import { packExtension } from "./build/vscode.ts";
import { versioned } from "./build/versioned.ts";
import { print, ROOT } from "./gate/root.ts";
import { makeBundle } from "./gate/ways.ts";

if (Deno.args[0] === "binary") Deno.exit(await compileCommand(Deno.args.slice(1)));
if (Deno.args[0] === "vscode") {
  print(await packExtension(Deno.args[1]!));
  Deno.exit(0);
}
if (Deno.args[0] === "program") {
  await makeBundle(Deno.args[1]!);
  Deno.exit(0);
}

// Leftovers of an earlier build would be shipped too.
await Deno.remove(`${ROOT}/dist`, { recursive: true }).catch((error) => {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
});
await Deno.mkdir(`${ROOT}/dist`);
const [what = "bundle"] = Deno.args;
if (what === "npm") {
  for (const folder of await buildPackages(`${ROOT}/dist/npm`)) print(folder);
} else if (what === "codemirror") {
  const page = "examples/codemirror";
  await Deno.mkdir(`${ROOT}/dist/codemirror`);
  await Deno.copyFile(`${ROOT}/${page}/index.html`, `${ROOT}/dist/codemirror/index.html`);
  await Deno.writeTextFile(`${ROOT}/dist/codemirror/main.js`, await bundleText(`${page}/main.js`));
} else if (what === "bundle") {
  const program = await bundleProgram(`${ROOT}/dist/flemma.js`);
  await versioned(`${ROOT}/dist/flemma.js`);
  for (
    const [name, size] of [
      ["dist/flemma.js", program],
      ["dist/advanced.js", await bundleLibrary(`${ROOT}/dist/advanced.js`)],
    ] as const
  ) print(`${name}  ${(size / 1024).toFixed(1)} KB`);
  await writeReferences(`${ROOT}/dist`);
} else {
  print("deno task build [bundle|npm|codemirror|vscode FOLDER]");
  Deno.exit(2);
}
