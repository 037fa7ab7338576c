// What flemma leaves when it is removed is what docs/reference/install.md lists, no more.

import assert from "node:assert/strict";
import { parseReplayScript, startReplay } from "../../providers/replay/server.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { output } from "../../scripts/release/packages/run.ts";
import { listedFiles } from "../../scripts/release/rehearsal/left_over.ts";
import { PROGRAM } from "../cli/program.ts";
import { denoFolder, testInFolder as test } from "../folder.ts";

/** Uses that write files of different kinds: state, caches, session, outputs that were too long, undo, saved texts. */
const USES = `set -e
flemma demo
flemma doctor || [ $? = 1 ]
flemma sandbox run -- deno --version
cd ../place
flemma session set temperature=0.5
flemma new first.chat -m "Which text file here is the longest?" --go
echo "Write its name into answer.txt." >> first.chat
flemma first.chat
flemma undo first.chat
flemma usage first.chat
printf '@You:\\nSay hello.\\n' | flemma advance > /dev/full || true
flemma recover
flemma trust first.chat
flemma new long.chat -m "Say hello."
printf '**Tool Use:** \`bash\` (\`c1\`)\\n\\n\`\`\`json\\n{"label":"count","command":"seq 99999"}\\n\`\`\`\\n' > call
printf '@You:\\nCount.\\n\\n@Assistant:\\n' | cat - call > long.chat
flemma execute long.chat c1
grep -q 'flemma_' long.chat
`;

test("after usual work, only documents and what the install page lists are left", async (folder) => {
  for (const name of ["bin", "home", "place", "run", "tmp"]) await Deno.mkdir(`${folder}/${name}`);
  const program = PROGRAM.map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(`${folder}/bin/flemma`, `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  const script = await parseReplayScript(await Deno.readTextFile(`${ROOT}/examples/replay/tutorial.yaml`));
  assert.ok(script.ok);
  await using model = await startReplay(script.value);
  const { code, stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", `exec 2>&1\n${USES}`],
    cwd: `${folder}/home`,
    clearEnv: true,
    env: {
      PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
      HOME: `${folder}/home`,
      TMPDIR: `${folder}/tmp`,
      XDG_RUNTIME_DIR: `${folder}/run`,
      DENO_DIR: denoFolder(),
      NO_COLOR: "1",
      FLEMMA_ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "replay",
    },
    stdin: "null",
  }).output();
  const printed = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert.equal(code, 0, printed);
  const found = new TextDecoder().decode(
    await output("find", [folder, "!", "-type", "d", "-not", "-path", `${folder}/place/*`]),
  );
  const places = { "~": `${folder}/home`, "/tmp": `${folder}/tmp`, "$XDG_RUNTIME_DIR": `${folder}/run` };
  const listed = await listedFiles(places);
  const left = found.split("\n").filter((path) => path !== "" && path !== `${folder}/bin/flemma`);
  assert.deepEqual(left.filter((path) => !listed.test(path)), []);
  // Each of these rows of the page is true.
  for (
    const path of ["home/.local/state/flemma/", "tmp/flemma-demo-", "tmp/flemma_", "run/flemma/session/"]
  ) {
    assert.ok(left.some((each) => each.startsWith(`${folder}/${path}`)), path);
  }
});
