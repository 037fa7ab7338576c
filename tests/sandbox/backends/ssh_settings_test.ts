// System-wide ssh settings, whose owner is unknown in an ordinary user's namespace: ssh works inside all the same.

import assert from "node:assert/strict";
import { plant, type Ran, script } from "../fixture.ts";
import { inFolder } from "../../folder.ts";

/** A user with a name, which ssh wants, and not the one that stands for nobody: that one would own the superuser's files. */
const USER = "1";

const INSIDE = new URL("../inside.ts", import.meta.url).pathname;

/** Runs `shell` inside the sandbox of an ordinary user where `setUp` has filled an empty `/etc/ssh`. */
async function asOrdinaryUser(root: string, setUp: readonly string[], shell: string): Promise<Ran> {
  plant(root, "project/notes.chat", "home/", "deno/");
  const start = script(
    `${root}/start`,
    "set -e",
    "mount -t tmpfs none /etc/ssh",
    "chmod 755 /etc/ssh",
    "mkdir -m 755 /etc/ssh/ssh_config.d",
    "echo 'Include /etc/ssh/ssh_config.d/*.conf' > /etc/ssh/ssh_config",
    ...setUp,
    `chown -R ${USER}:${USER} ${root}`,
    `exec setpriv --reuid=${USER} --regid=${USER} --clear-groups -- "$@"`,
  );
  const { stdout, stderr, success } = await new Deno.Command("unshare", {
    args: [
      ...["--mount", start, Deno.execPath(), "run", "-A", "--no-check", "--no-lock", "--quiet"],
      ...[INSIDE, root, shell],
    ],
    cwd: "/",
    clearEnv: true,
    env: {
      HOME: `${root}/home`,
      DENO_DIR: `${root}/deno`,
      PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
      NO_COLOR: "1",
    },
    stdin: "null",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

// Only the superuser can put settings there that belong to somebody else than the user of the test.
const ignore = Deno.build.os !== "linux" || Deno.uid() !== 0;

Deno.test("in the sandbox of an ordinary user, ssh and git over ssh read the system-wide ssh settings", {
  ignore,
}, () =>
  inFolder(async (root) => {
    const { code, out, err } = await asOrdinaryUser(
      root,
      [
        // Its output stays open until the file is written: ssh ends what has closed it.
        "printf 'Host far\\nPort 4711\\nProxyCommand sh -c \"echo by the settings > asked; exit 1\"\\n' > /etc/ssh/ssh_config.d/10-far.conf",
        // As packages install theirs.
        "printf 'Host far\\nUser linked\\n' > /etc/ssh/packaged",
        "ln -s ../packaged /etc/ssh/ssh_config.d/20-packaged.conf",
      ],
      "ssh -G far | grep -E '^(port|user) '; git init -q .; git fetch ssh://far/x; echo x > /etc/ssh/ssh_config.d/10-far.conf",
    );
    assert.deepEqual(out.trim().split("\n").sort(), ["port 4711", "user linked"]);
    assert.equal(Deno.readTextFileSync(`${root}/project/asked`), "by the settings\n", err);
    assert.doesNotMatch(err, /Bad owner/);
    assert.match(err, /Read-only file system|Permission denied/);
    assert.notEqual(code, 0);
  }));

Deno.test(
  "an unreadable file or a broken link among the ssh settings does not affect the others",
  { ignore },
  () =>
    inFolder(async (root) => {
      const { out, err } = await asOrdinaryUser(
        root,
        [
          "printf 'Host far\\nPort 4711\\n' > /etc/ssh/ssh_config.d/10-far.conf",
          "install -m 600 /dev/null /etc/ssh/ssh_config.d/10-far.conf.dpkg-old",
          "ln -s /nowhere /etc/ssh/ssh_config.d/20-gone.conf",
          "mkdir /etc/ssh/ssh_config.d/30-folder.conf.d",
        ],
        "ssh -G far | grep '^port '",
      );
      assert.equal(out, "port 4711\n", err);
    }),
);
