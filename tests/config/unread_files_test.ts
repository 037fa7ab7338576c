import assert from "node:assert/strict";
import { loadSettingsLayers } from "../../config/load.ts";
import { inWorld, testInWorld as test, type World } from "./world.ts";

const RESTRICTS = "tools: { auto_approve: [] }\n";

async function refusal(world: World, options: { configPath?: string } = {}) {
  const loaded = await loadSettingsLayers({ environment: world.environment(), ...options });
  return loaded.ok ? null : loaded.problem;
}

Deno.test("an unreadable settings file of the person or a project stops the program, and the message names the file", async () => {
  const kinds: readonly (readonly [string, RegExp, (path: string) => Promise<unknown>])[] = [
    [
      "a link to nothing",
      /is a symbolic link to .*gone.*, which does not exist/,
      (path) => Deno.symlink("gone.yaml", path),
    ],
    ["a link to a link to nothing", /is a symbolic link to .*, which does not exist/, async (path) => {
      await Deno.symlink("gone", `${path}.2`);
      await Deno.symlink(`${path}.2`, path);
    }],
    ["a link that leads to itself", /cannot be read: .*link/i, (path) => Deno.symlink(path, path)],
    ["a link below a file", /is a symbolic link to .*, which does not exist/, async (path) => {
      await Deno.writeTextFile(`${path}.2`, "");
      await Deno.symlink(`${path}.2/x`, path);
    }],
    ["a folder", /it is a folder/, (path) => Deno.mkdir(path)],
    ["a pipe", /it is not a regular file/, (path) => new Deno.Command("mkfifo", { args: [path] }).output()],
    ["a link to a device", /it is not a regular file/, (path) => Deno.symlink("/dev/zero", path)],
    [
      "Latin-1",
      /line 2, column 4: the text is not valid UTF-8 \(byte 0xE4\)/,
      (path) => Deno.writeFile(path, new Uint8Array([0x23, 0x0a, 0x23, 0xc3, 0xa4, 0xe4, 0x0a])),
    ],
    ["UTF-16", /not valid UTF-8/, (path) => Deno.writeFile(path, new Uint8Array([0xff, 0xfe, 0x23, 0]))],
    ["NUL", /line 1, column 3: the text contains a NUL byte/, (path) => Deno.writeTextFile(path, "# \0\n")],
  ];
  for (const where of ["home/.config/flemma", "project/.flemma"]) {
    for (const [what, reason, make] of kinds) {
      await inWorld(async (world) => {
        const path = `${world.folder}/${where}/config.yaml`;
        await Deno.mkdir(`${world.folder}/${where}`, { recursive: true });
        await make(path);
        const problem = await refusal(world);
        assert.equal(problem?.code, "config-unreadable", `${what} in ${where}`);
        assert.ok(problem.message.includes(path), problem.message);
        assert.match(problem.message, reason);
        assert.notEqual(problem.next, undefined);
      });
    }
  }
});

test("a socket in place of a settings file is refused", async (world) => {
  await Deno.mkdir(`${world.project}/.flemma`);
  using _listener = Deno.listen({ transport: "unix", path: `${world.project}/.flemma/config.yaml` });
  assert.match((await refusal(world))?.message ?? "", /it is not a regular file/);
});

Deno.test("a settings folder that is a broken link or a file counts as unreadable settings", async () => {
  for (const where of ["home/.config/flemma", "home/.config", "project/.flemma"]) {
    await inWorld(async (world) => {
      const path = `${world.folder}/${where}`;
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await Deno.symlink("/nowhere/at/all", path);
      assert.match(
        (await refusal(world))?.message ?? "",
        /is a symbolic link to \/nowhere\/at\/all, which does not exist/,
        where,
      );
      await Deno.remove(path);
      await Deno.writeTextFile(path, RESTRICTS);
      assert.match((await refusal(world))?.message ?? "", /is not a folder/, where);
      await Deno.remove(path);
      await Deno.mkdir(path);
      assert.equal(await refusal(world), null, where);
    });
  }
});

test("a settings file named explicitly must exist; it may have any size or be /dev/null, but no other special file", async (world) => {
  await Deno.symlink("gone", `${world.project}/link.yaml`);
  const named = (configPath: string) => refusal(world, { configPath });
  assert.equal((await named("none.yaml"))?.code, "config-missing");
  assert.match((await named("link.yaml"))?.message ?? "", /is a symbolic link to gone, which does not exist/);
  assert.match((await named("."))?.message ?? "", /it is a folder/);
  assert.equal(await named("/dev/null"), null);
  for (const device of ["/dev/zero", "/dev/full"]) {
    assert.match((await named(device))?.message ?? "", /it is not a regular file/, device);
  }
  const pipe = `${world.project}/pipe.yaml`;
  assert.ok((await new Deno.Command("mkfifo", { args: [pipe] }).output()).success);
  const refused = await named("pipe.yaml");
  assert.match(
    refused?.message ?? "",
    /pipe\.yaml cannot be read: it is a pipe, which can be read only once\.$/,
  );
  assert.equal(refused?.next, "Write the text to a file, and name that file.");
});

test("session settings behind a broken link also stop the program, because they may be the only restriction", async (world) => {
  await Deno.mkdir(`${world.folder}/run/flemma/session`, { recursive: true });
  await Deno.symlink("gone", `${world.folder}/run/flemma/session/default.json`);
  assert.match((await refusal(world))?.message ?? "", /is a symbolic link to gone/);
});

Deno.test("if a folder contains two settings files, the ignored file is reported with the one that takes precedence", async () => {
  for (
    const [folder, read, other] of [
      ["home/.config/flemma", "config.yaml", "config.yml"],
      ["home/.config/flemma", "config.yaml", "config.json"],
      ["home/.config/flemma", "config.yml", "config.json"],
      ["home/.config/flemma", "config.json", "settings.yaml"],
      ["home/.config/flemma", "config.yaml", "config.toml"],
      ["project/.flemma", "config.yaml", "config.yml"],
      ["project/.flemma", "config.yaml", "config.json"],
    ] as const
  ) {
    await inWorld(async (world) => {
      await world.write(`${world.folder}/${folder}/${read}`, "{}\n");
      const reported = async () => {
        const loaded = await loadSettingsLayers({ environment: world.environment() });
        assert.ok(loaded.ok);
        return loaded.value.notices.map(({ message, next }) => `${message} ${next}`);
      };
      assert.deepEqual(await reported(), []);
      const path = `${world.folder}/${folder}/${other}`;
      await world.write(path, RESTRICTS);
      assert.deepEqual(await reported(), [
        `Ignored ${path}; flemma reads ${world.folder}/${folder}/${read} instead. Keep one of the two: rm ${path}`,
      ]);
    });
  }
});

Deno.test("a folder whose only settings file has a wrong name stops the program, because no setting would apply", async () => {
  for (
    const [folder, name, next] of [
      ["home/.config/flemma", "settings.yaml", /^Rename it: mv .*settings\.yaml .*config\.yaml$/],
      ["home/.config/flemma", "flemma.json", /^Rename it/],
      ["home/.config/flemma", "config.toml", /^Copy its settings to .*config\.yaml, and remove it\.$/],
      ["project/.flemma", "config.yml", /^Rename it: mv .*config\.yml .*config\.yaml$/],
      ["project/.flemma", "settings.json", /^Rename it/],
      ["project/.flemma", "config.lua", /^Copy its settings/],
    ] as const
  ) {
    await inWorld(async (world) => {
      await world.write(`${world.folder}/${folder}/${name}`, RESTRICTS);
      const problem = await refusal(world);
      assert.equal(problem?.code, "config-unread", name);
      assert.match(problem.next ?? "", next);
    });
  }
});

test("if settings cannot be read, every command exits with 2 and names the file", async (world) => {
  await Deno.mkdir(`${world.home}/.config/flemma`, { recursive: true });
  await Deno.symlink("/gone", `${world.home}/.config/flemma/config.yaml`);
  for (const words of [["config", "check"], ["config", "show"], ["sandbox", "status"]]) {
    const { code, err, out } = await world.run(...words);
    assert.equal(code, 2, words.join(" "));
    assert.match(err + out, /config\.yaml is a symbolic link to \/gone, which does not exist/);
  }
});
