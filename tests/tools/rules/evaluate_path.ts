// Evaluates paths by the rule `read(./src/**)` in a separate process: FOLDER PATH…; prints a list of answers.

import { evaluate } from "./policy.ts";

const [folder = "", ...paths] = Deno.args;
const answers: boolean[] = [];
for (const path of paths) {
  answers.push(
    (await evaluate([{ approve: "read", path: "./src/**" }], "read", { path }, { folder })).approved,
  );
}
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(answers)));
