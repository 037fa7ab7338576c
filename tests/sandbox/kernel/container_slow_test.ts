// Work in an imitation of a container, where bubblewrap cannot work, after `flemma sandbox use landlock`.

import assert from "node:assert/strict";
import { landlockVersion } from "../../../sandbox/backends/landlock.ts";
import { PROGRAM } from "../../cli/program.ts";
import { inFolder } from "../../folder.ts";
import { plant } from "../fixture.ts";
import { isSuperuser, runDeno } from "../ordinary_user.ts";

const here = (name: string) => new URL(name, import.meta.url).pathname;
const version = landlockVersion();

/** Each step prints a line that starts with two dots if it did what it should. `f` is the program. */
const STEPS = `set -e
unshare -U true 2>/dev/null && { echo "this is not like a container"; exit 1; }
cd "$HOME/project"
git init -q . && git config user.name a && git config user.email a@example.org
f sandbox status > ../status || true
grep -q '^sandbox   on, but calls wait' ../status && echo "..offered"
f sandbox use landlock > /dev/null && f sandbox status > ../status && grep -q '^backend   landlock' ../status && echo "..used"
f sandbox run -- sh -c 'echo x > "$HOME/outside" || echo "..confined"' 2>/dev/null
f demo > ../demo && grep -q 'inside the sandbox (landlock)' ../demo && grep -q 'The test passes' ../demo && echo "..demo"
f sandbox run -- npm install --no-audit --no-fund ../package > /dev/null
[ "$(node -p 'require("local-package")')" = 42 ] && echo "..npm"
f sandbox run -- sh -c 'echo node_modules > .gitignore; git add . && git commit -qm first'
[ "$(git log --format=%s)" = first ] && echo "..git"
f execute calls.chat c1 && f execute calls.chat c2 && f execute calls.chat c3
sed -n '/^\\*\\*Tool Result/,$p' calls.chat
`;

/** The program's words, with a copy of a built program, whose folder may be closed to other users. */
function reachableProgram(folder: string): readonly string[] {
  const file = PROGRAM.at(-1)!;
  if (!file.endsWith("/flemma.js")) return PROGRAM;
  const copy = `${folder}/program`;
  const args = ["-r", file.slice(0, file.lastIndexOf("/")), copy];
  assert.ok(new Deno.Command("cp", { args }).outputSync().success);
  return [...PROGRAM.slice(0, -1), `${copy}/flemma.js`];
}

const call = (tool: string, id: string, input: unknown) =>
  `**Tool Use:** \`${tool}\` (\`${id}\`)\n\n\`\`\`json\n${JSON.stringify(input)}\n\`\`\`\n\n`;

Deno.test("in a container, Landlock runs the demo, npm, git, bash, tool files and MCP servers", {
  ignore: !version.ok || version.value < 6,
}, () =>
  inFolder(async (folder) => {
    plant(folder, "project/", ".config/flemma/tools/", "package/");
    Deno.writeTextFileSync(`${folder}/package/package.json`, '{"name":"local-package","version":"1.0.0"}');
    Deno.writeTextFileSync(`${folder}/package/index.js`, "module.exports = 42;\n");
    Deno.writeTextFileSync(
      `${folder}/.config/flemma/tools/shout.ts`,
      'export default { execute: (): { content: string } => ({ content: "MOIN" }) };\n',
    );
    Deno.copyFileSync(here("../../tools/mcp/scripted.ts"), `${folder}/server.ts`);
    const args = ["run", "-A", "--quiet", "--no-config", `${folder}/server.ts`, `${folder}/project`];
    const one = { command: "DENO", args };
    const settings = JSON.stringify({ mcp: { servers: { one } } });
    const calls = [
      call("shout", "c1", {}),
      call("one:echo", "c2", {}),
      call("bash", "c3", { label: "x", command: "echo $((6 * 7))", timeout: null }),
    ];
    Deno.writeTextFileSync(`${folder}/project/calls.chat`, `@You:\nGo.\n\n@Assistant:\n${calls.join("")}`);
    const options = reachableProgram(folder).slice(1);
    const script = [
      `f() { "$DENO" ${options.map((word) => `'${word}'`).join(" ")} "$@"; }`,
      `sed "s#DENO#$DENO#" > "$HOME/.config/flemma/config.yaml" <<'END'\n${settings}\nEND`,
      STEPS,
    ].join("\n");
    Deno.writeTextFileSync(`${folder}/steps.sh`, script);
    const words = ["run", "-A", "--no-check", "--no-lock", "--quiet", here("./container.ts")];
    const printed = await runDeno(folder, [...words, "/bin/sh", `${folder}/steps.sh`], {
      ordinary: isSuperuser,
    });
    assert.equal(
      printed,
      "..offered\n..used\n..confined\n..demo\n..npm\n..git\n" +
        ["MOIN", "echo {}", "42"].map((text, at) =>
          `**Tool Result:** \`c${at + 1}\`\n\n\`\`\`\n${text}\n\`\`\`\n`
        ).join("\n"),
    );
  }));
