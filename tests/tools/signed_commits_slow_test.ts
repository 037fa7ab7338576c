// Commits that an agent signs: the result names the setting, and with that setting the commit is signed.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { createSandbox } from "../../sandbox/sandbox.ts";
import { inFolder } from "../folder.ts";
import { testInScene as test } from "./scene.ts";

function shell(script: string, variables: Record<string, string>): string {
  const env = { PATH: Deno.env.get("PATH") ?? "", ...variables };
  const { stdout, stderr, success } = new Deno.Command("sh", { args: ["-ec", script], clearEnv: true, env })
    .outputSync();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

/** Starts an agent with a key; `sign` are the options that make git use it, `end` stops it. */
const AGENTS: Readonly<
  Record<string, (home: string) => { sign: string; variables: Record<string, string>; end: string }>
> = {
  ssh(home) {
    const variables = { HOME: home, SSH_AUTH_SOCK: `${home}/agent` };
    const started = shell("ssh-agent -a $SSH_AUTH_SOCK", variables);
    const [, pid = ""] = /SSH_AGENT_PID=(\d+)/.exec(started) ?? [];
    // Only the agent has the key.
    const key = `ssh-keygen -q -t ed25519 -N '' -f ${home}/key; ssh-add -q ${home}/key; rm ${home}/key`;
    shell(key, variables);
    return { sign: `-c gpg.format=ssh -c user.signingkey=${home}/key.pub`, variables, end: `kill ${pid}` };
  },
  gpg(home) {
    const variables = { HOME: home };
    Deno.mkdirSync(`${home}/.gnupg`, { mode: 0o700 });
    shell("gpg -q --batch --passphrase '' --quick-gen-key a@example.org default default never", variables);
    return { sign: "-c user.signingkey=a@example.org", variables, end: "gpgconf --kill all" };
  },
};

for (const [name, start] of Object.entries(AGENTS)) {
  test(`a commit signed by the ${name} agent names the setting that allows its socket, and then succeeds`, async (place) => {
    await inFolder(async (home) => {
      const { sign, variables, end } = start(home);
      try {
        const commit = (sockets: string[]) =>
          place.run("bash", {
            label: "l",
            command: `git -c user.name=a -c user.email=a@example.org ${sign} commit -S --allow-empty -qm x`,
          }, {
            sandbox: createSandbox({
              settings: {
                ...DEFAULT_SETTINGS.sandbox,
                backend: "required",
                policy: {
                  ...DEFAULT_SETTINGS.sandbox.policy,
                  rw_paths: ["urn:flemma:buffer:path", "/tmp"],
                  sockets,
                },
              },
              environment: {
                cwd: place.folder,
                home,
                variables: { PATH: Deno.env.get("PATH") ?? "", ...variables },
              },
              document: place.document,
              protect: [place.document],
            }),
            variables: { PATH: Deno.env.get("PATH") ?? "", ...variables },
          });
        shell(`git init -q ${place.folder}`, variables);
        const refused = await commit([]);
        assert.match(
          refused.error ?? "",
          new RegExp(
            `\\[In the sandbox, commands cannot reach the ${name} agent\\. .* add ${name} to sandbox\\.policy\\.sockets`,
          ),
        );
        // Other programs may change repositories in /tmp meanwhile, which the result then names.
        const { success, output } = await commit([name]);
        assert.equal(success, true);
        assert.match(String(output), /^\(no output\)/);
        assert.match(shell(`git -C ${place.folder} cat-file -p HEAD`, variables), /^gpgsig /m);
      } finally {
        shell(end, variables);
      }
    });
  });
}
