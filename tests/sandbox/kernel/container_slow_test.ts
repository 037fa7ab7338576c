// Work in an imitation of a container, where bubblewrap cannot work, after `flemma sandbox use landlock`.

import assert from "node:assert/strict";
import { landlockVersion } from "../../../sandbox/kernel/landlock_version.ts";
import { checkPage } from "../../../scripts/gate/examples.ts";
import { ROOT } from "../../../scripts/gate/root.ts";
import { asBinary, asPackage, baseOfEnvironment, makeBundle, type Way } from "../../../scripts/gate/ways.ts";
import { PROGRAM } from "../../cli/program.ts";
import { inFolder } from "../../folder.ts";
import { plant } from "../fixture.ts";
import { BECOME, giveAway, isSuperuser, reachableDeno, runDeno } from "../ordinary_user.ts";

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

/** Words that run a command as in the container, as an ordinary user. Everything that it needs is in the folder. */
function inContainer(folder: string): readonly string[] {
  const deno = isSuperuser ? reachableDeno(folder) : Deno.execPath();
  const words = ["run", "-A", "--no-check", "--no-lock", "--quiet", here("./container.ts")];
  return [...(isSuperuser ? BECOME : []), "env", `DENO_DIR=${folder}/deno`, deno, ...words];
}

async function output(words: readonly string[], options: Deno.CommandOptions): Promise<string> {
  const [program = "", ...args] = words;
  const { success, stdout, stderr } = await new Deno.Command(program, { ...options, args }).output();
  const [printed, complaint] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.ok(success, `${printed}${complaint}`);
  return printed!;
}

Deno.test("in a container, the examples of the first conversation print under Landlock what the page shows", {
  ignore: !version.ok || version.value < 6,
}, () =>
  inFolder(async (folder) => {
    const around = inContainer(folder);
    const deno = isSuperuser ? reachableDeno(folder) : Deno.execPath();
    const program = [deno, ...reachableProgram(folder).slice(1)];
    const faults = await checkPage(ROOT, "docs/guide/first-conversation.md", program, {
      dir: folder,
      onFile: async (examples) => {
        if (isSuperuser) giveAway(folder);
        await output([...around, ...program, "sandbox", "use", "landlock"], {
          cwd: `${examples}/place`,
          clearEnv: true,
          env: { HOME: `${examples}/home`, PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" },
        });
      },
      wrap: (command) => [...around, ...command],
    });
    assert.deepEqual(faults, []);
  }));

const SHORT_STEPS = `set -e
cd "$HOME/project"
flemma sandbox use landlock > /dev/null
flemma sandbox status > ../status && grep -q '^backend   landlock' ../status && echo "..used"
flemma sandbox run -- sh -c '(echo x > "$HOME/outside") 2>/dev/null || echo "..confined"' 2>/dev/null
flemma execute calls.chat c1 && flemma execute calls.chat c2
grep -c '^42$' calls.chat
`;

Deno.test("in a container, the npm package and the binary run commands and file tools under Landlock", {
  ignore: !version.ok || version.value < 6,
}, async (t) => {
  const base = baseOfEnvironment();
  await inFolder(async (folder) => {
    await makeBundle(`${folder}/bundle`);
    const ways: Readonly<Record<string, () => Promise<Way>>> = {
      package: () => asPackage(`${folder}/bundle`, `${folder}/package`),
      ...(base === null ? {} : { binary: () => asBinary(`${folder}/bundle`, folder, base) }),
    };
    for (const [name, make] of Object.entries(ways)) {
      await t.step(name, async () => {
        const { program, path } = await make();
        const calls = [
          call("bash", "c1", { label: "x", command: "echo $((6 * 7))", timeout: null }),
          call("write", "c2", { path: "made", content: "42\n" }),
        ];
        plant(folder, `${name}-home/project/`, `${name}-home/.config/flemma/`, `${name}-bin/`);
        const home = `${folder}/${name}-home`;
        Deno.writeTextFileSync(`${home}/project/calls.chat`, `@You:\nGo.\n\n@Assistant:\n${calls.join("")}`);
        Deno.writeTextFileSync(`${folder}/steps.sh`, SHORT_STEPS);
        const around = inContainer(folder);
        // The binary needs an installed Deno for the launcher; the package has its own.
        if (name === "binary") {
          Deno.copyFileSync(
            isSuperuser ? reachableDeno(folder) : Deno.execPath(),
            `${folder}/${name}-bin/deno`,
          );
        }
        Deno.symlinkSync(program[0]!, `${folder}/${name}-bin/flemma`);
        if (isSuperuser) giveAway(folder);
        const printed = await output([...around, "/bin/sh", `${folder}/steps.sh`], {
          cwd: home,
          clearEnv: true,
          env: { HOME: home, PATH: `${folder}/${name}-bin:${name === "package" ? path : ""}:/usr/bin:/bin` },
        });
        assert.match(printed, /^\.\.used\n\.\.confined\n[^]*1\n$/);
        assert.equal(Deno.readTextFileSync(`${home}/project/made`), "42\n");
      });
    }
  });
});
