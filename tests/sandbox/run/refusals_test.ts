// The sentence about what the sandbox refused a failed command: when there is one, and when there is none.

import assert from "node:assert/strict";
import { type FailedCommand, refusalNote } from "../../../sandbox/run/refusals.ts";
import { testInFolder as test } from "../../folder.ts";
import { plant } from "../fixture.ts";

type Changes = Partial<Omit<FailedCommand, "policy">> & {
  readonly policy?: Partial<FailedCommand["policy"]>;
};

/** A command of an ordinary user in `root/project`, the only writable path; `root/secret` is hidden. */
function failed(root: string, output: string, { policy, ...more }: Changes = {}): string | null {
  return refusalNote({
    output,
    command: "x",
    cwd: `${root}/project`,
    environment: { cwd: `${root}/project`, home: `${root}/home`, variables: {} },
    policy: {
      rw_paths: [`${root}/project`],
      inner: [],
      network: true,
      network_allow: [],
      allow_privileged: false,
      protect: [`${root}/project/.git/config`, `${root}/project/talk.chat`],
      links: [],
      deny_read: [`${root}/secret`],
      hidden: [{ path: `${root}/secret`, folder: true }],
      sockets: [],
      socketGroups: [],
      runtime: [],
      masked: [],
      block_unix_sockets: false,
      refuses_sockets: false,
      limits: {},
      unsteady: false,
      ...policy,
    },
    document: `${root}/project/talk.chat`,
    refusedHosts: [],
    root: false,
    ...more,
  });
}

function scene(root: string): void {
  plant(root, "project/.git/config", "project/talk.chat", "project/x", "secret/key", "outside/x", "home/");
}

/** Messages, with `ROOT` for the folder, and the path that the sentence must name. */
const OUTSIDE: readonly (readonly [message: string, path: string])[] = [
  ["touch: cannot touch 'ROOT/outside/y': Read-only file system", "ROOT/outside/y"],
  ["bash: line 1: ROOT/outside/x: Read-only file system", "ROOT/outside/x"],
  ["/usr/bin/bash: line 1: ROOT/outside/x: Read-only file system", "ROOT/outside/x"],
  ["/usr/bin/touch: cannot touch 'ROOT/outside/x': Read-only file system", "ROOT/outside/x"],
  ["sh: 1: cannot create ROOT/outside/y: Read-only file system", "ROOT/outside/y"],
  ["zsh:1: read-only file system: ROOT/outside/y", "ROOT/outside/y"],
  ["mkdir: cannot create directory ‘ROOT/outside/d’: Read-only file system", "ROOT/outside/d"],
  ["npm error Error: EROFS: read-only file system, mkdir 'ROOT/home/.npm'", "ROOT/home/.npm"],
  ["OSError: [Errno 30] Read-only file system: 'ROOT/outside/y'", "ROOT/outside/y"],
  ["open ROOT/outside/y: read-only file system", "ROOT/outside/y"],
  ["error: failed to write `ROOT/outside/y`: Read-only file system (os error 30)", "ROOT/outside/y"],
  ["java.io.FileNotFoundException: ROOT/outside/y (Read-only file system)", "ROOT/outside/y"],
  ["touch: cannot touch '../outside/y': Read-only file system", "ROOT/outside/y"],
  ["mv: cannot move 'ROOT/outside/x' to 'ROOT/home/y': Read-only file system", "ROOT/home/y"],
  ["touch: cannot touch '~/y': Read-only file system", "ROOT/home/y"],
  [
    "fatal: Unable to create 'ROOT/outside/.git/index.lock': Read-only file system",
    "ROOT/outside/.git/index.lock",
  ],
  ["\x1b[31mcp: cannot create regular file 'ROOT/outside/y': Read-only file system\x1b[0m", "ROOT/outside/y"],
];

for (const [message, path] of OUTSIDE) {
  test(`the note names sandbox.policy.rw_paths for: ${message}`, (root) => {
    scene(root);
    assert.equal(
      failed(root, `first\n${message.replaceAll("ROOT", root)}\nlast`),
      `[In the sandbox, ${path.replaceAll("ROOT", root)} is read-only. ` +
        "To allow writing, the user can add a folder to sandbox.policy.rw_paths.]",
    );
  });
}

test("a relative path belongs to the folder that the command enters", (root) => {
  scene(root);
  for (const command of [`cd ${root}/outside && touch y`, "x; cd ../outside", `git -C "${root}/outside" x`]) {
    const cd = command.replace(`${root}/`, "../");
    const note = failed(root, "touch: cannot touch 'y': Read-only file system", { command: cd });
    assert.match(note ?? "", /\/outside\/y is read-only/, command);
  }
});

test("the note names the setting for protected, hidden and mounted paths", (root) => {
  scene(root);
  const rows: readonly (readonly [string, RegExp])[] = [
    [
      ".git/config: Read-only file system",
      /^\[In the sandbox, .*\/\.git\/config cannot be changed.*policy\.protect\.\]$/,
    ],
    [
      "mv: cannot move '.git' to 'x': Device or resource busy",
      /^\[In the sandbox, .*\/\.git cannot be .*policy\.protect/,
    ],
    ["rm: cannot remove '.git/config': Device or resource busy", /\.git\/config cannot be changed/],
    [
      `rm: cannot remove '${root}/project': Device or resource busy`,
      /not moved or removed.*policy\.rw_paths/,
    ],
    [
      `sh: 1: cannot create talk.chat: Read-only file system`,
      /talk\.chat cannot be changed, because it is this conv/,
    ],
    [`cat: ${root}/secret: Permission denied`, /^\[The sandbox hides .*\/secret\..*policy\.deny_read\.\]$/],
    [`cat: ${root}/secret/key: No such file or directory`, /hides .*\/secret\./],
    [`cat: ${root}/secret/not-there: No such file or directory`, /hides .*\/secret\./],
    [`[Errno 13] Permission denied: '${root}/secret/key'`, /hides .*\/secret\./],
    [`touch: cannot touch '${root}/secret/new': Read-only file system`, /hides .*\/secret\./],
  ];
  for (const [output, expected] of rows) assert.match(failed(root, output) ?? "", expected, output);
});

test("an error that has nothing to do with the sandbox gets no note", (root) => {
  scene(root);
  Deno.chmodSync(`${root}/project/x`, 0o000);
  const rows = [
    "",
    "no such option: --read-only",
    "cat: x: Permission denied",
    `cat: ${root}/project/x: Permission denied`,
    `cat: ${root}/outside/x: Permission denied`,
    `cat: ${root}/outside/not-there: No such file or directory`,
    "cat: not-there: No such file or directory",
    `ls: cannot access '${root}/project/not-there': No such file or directory`,
    // Really read-only: it is writable in the sandbox.
    `touch: cannot touch '${root}/project/y': Read-only file system`,
    "touch: cannot touch 'y': Read-only file system",
    "rm: cannot remove 'x': Device or resource busy",
    "/usr/bin/bash: line 1: y: Read-only file system",
    "/usr/bin/bash: line 1: y: Permission denied",
    "/usr/bin/touch: cannot touch 'y': Read-only file system",
    "umount: /mnt: device or resource busy",
    "bash: /proc/sys/kernel/x: Read-only file system",
    "remote: https://example.org/x: Read-only file system",
    `${root}/outside/x: everything is fine`,
    "curl: (6) Could not resolve host: example.org",
    "curl: (7) Failed to connect to localhost port 1: Connection refused",
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "gpg: signing failed: No secret key",
    "error: cannot run gpg: No such file or directory\nerror: gpg failed to sign the data",
    "git@example.org: Permission denied (publickey).",
    "fatal: could not read Username for 'https://example.org': terminal prompts disabled",
    "chown: changing ownership of 'x': Operation not permitted",
  ];
  for (const output of rows) assert.equal(failed(root, output), null, output);
});

test("a path that this user could not write without the sandbox either gets no note", (root) => {
  scene(root);
  // The superuser may write everywhere but where nothing is.
  const output = "touch: cannot touch '/proc/self/y': Read-only file system";
  assert.equal(failed(root, output), null);
});

test("a path in a hidden folder that the policy shows again gets no note", (root) => {
  scene(root);
  plant(root, "secret/shown/x");
  const policy = { rw_paths: [`${root}/project`, `${root}/secret/shown`] };
  assert.equal(failed(root, `cat: ${root}/secret/shown/x: Permission denied`, { policy }), null);
  assert.match(failed(root, `cat: ${root}/secret/key: Permission denied`, { policy }) ?? "", /hides/);
});

test("without a network, a failed look-up gets the setting; with a list, the way to it", (root) => {
  scene(root);
  const off = { policy: { network: false } };
  for (
    const output of [
      "curl: (6) Could not resolve host: example.org",
      "ssh: Could not resolve hostname x: Temporary failure in name resolution",
      "npm error code EAI_AGAIN",
      "dial tcp: lookup example.org: no such host",
      "error: failed to lookup address information: Name or service not known",
      "connect: Network is unreachable",
    ]
  ) {
    assert.match(
      failed(root, output, off) ?? "",
      /^\[Commands in the sandbox have no network\..*policy\.network\.\]$/,
    );
    const list = { policy: { network: false, network_allow: ["a.org"] } };
    assert.match(
      failed(root, output, list) ?? "",
      /only the hosts of sandbox\.policy\.network\.allow.*HTTPS_PROXY/,
    );
  }
  assert.equal(failed(root, "curl: (22) The requested URL returned error: 404", off), null);
});

test("hosts that the proxy refused are named, at most three", (root) => {
  scene(root);
  const refused = (...refusedHosts: string[]) =>
    failed(root, "curl: (56) CONNECT tunnel failed, response 403", {
      refusedHosts,
      policy: { network: false, network_allow: ["a.org"] },
    });
  assert.equal(refused(), null);
  assert.equal(
    refused("b.org:443"),
    "[The sandbox refused a connection to b.org:443. " +
      "To allow it, the user can add the host to sandbox.policy.network.allow.]",
  );
  assert.match(refused("a:1", "b:2", "c:3", "d:4", "e:5") ?? "", /to a:1, b:2, c:3 and 2 more\./);
});

test("a temporary file without a path is one in TMPDIR", (root) => {
  scene(root);
  const output = "error: could not create temporary file: Read-only file system";
  const environment = (folder: string) => ({
    cwd: root,
    home: `${root}/home`,
    variables: { TMPDIR: `${root}/${folder}` },
  });
  assert.match(failed(root, output, { environment: environment("outside") }) ?? "", /\/outside is read-only/);
  assert.equal(failed(root, output, { environment: environment("project") }), null);
});

test("root without capabilities learns why it cannot change owners or read files of others", (root) => {
  scene(root);
  const chown = "tar: x: Cannot change ownership to uid 1000, gid 1000: Operation not permitted";
  assert.match(failed(root, chown, { root: true }) ?? "", /root has no capabilities.*allow_privileged/);
  const mount = "x\nmount: /mnt: permission denied.\n";
  assert.match(failed(root, mount, { root: true }) ?? "", /root has no capabilities/);
  assert.equal(failed(root, mount), null);
  assert.equal(failed(root, chown, { root: true, policy: { allow_privileged: true } }), null);
  if (Deno.uid() !== 0) return;
  Deno.chownSync(`${root}/project/x`, 12345, 12345);
  Deno.chmodSync(`${root}/project/x`, 0o600);
  const denied = "cat: x: Permission denied";
  assert.match(
    failed(root, denied, { root: true }) ?? "",
    /rights of others for files of other users, such as .*\/x\./,
  );
  assert.equal(failed(root, denied), null);
  assert.equal(failed(root, denied, { root: true, policy: { allow_privileged: true } }), null);
  Deno.chmodSync(`${root}/project/x`, 0o666);
  assert.equal(failed(root, denied, { root: true }), null);
});

/** Listens on sockets while the body runs. */
async function listening(paths: readonly string[], body: () => void | Promise<void>): Promise<void> {
  const listeners = paths.map((path) => Deno.listen({ transport: "unix", path }));
  try {
    await body();
  } finally {
    for (const listener of listeners) listener.close();
  }
}

test("agents of this user that commands cannot reach are named with their entry for sandbox.policy.sockets", async (root) => {
  scene(root);
  plant(root, "home/.gnupg/", "home/.ssh/", "home/.docker/run/");
  const [gpg, ssh, docker] = [
    `${root}/home/.gnupg/S.gpg-agent`,
    `${root}/agent`,
    `${root}/home/.docker/run/docker.sock`,
  ];
  const environment = { cwd: root, home: `${root}/home`, variables: { SSH_AUTH_SOCK: ssh } };
  const rows: readonly (readonly [group: string, output: string])[] = [
    [
      "gpg",
      "gpg: can't connect to the gpg-agent: IPC connect call failed\nerror: gpg failed to sign the data",
    ],
    ["gpg", "error: gpg failed to sign the data\nfatal: failed to write commit object"],
    [
      "gpg",
      "gpg: failed to create temporary file '/usr/share/.#lk0': Read-only file system\ngpg: can't connect to the agent",
    ],
    ["gpg", 'gpg: skipped "me": No secret key\ngpg: signing failed: No secret key'],
    ["ssh", 'error: No private key found for public key "/x"?\nfatal: failed to write commit object'],
    ["ssh", "Could not open a connection to your authentication agent."],
    ["ssh", "git@example.org: Permission denied (publickey).\nfatal: Could not read from remote repository."],
    [
      "docker",
      "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    ],
  ];
  await listening([gpg, ssh, docker], () => {
    for (const [group, output] of rows) {
      const note = failed(root, output, { environment }) ?? "";
      assert.match(
        note,
        new RegExp(
          `^\\[In the sandbox, commands cannot reach .* add ${group} to sandbox\\.policy\\.sockets\\.\\]$`,
        ),
      );
      // Allowed by name, or by path.
      for (const policy of [{ socketGroups: [group] }, { sockets: [gpg, ssh, docker] }]) {
        assert.doesNotMatch(failed(root, output, { environment, policy }) ?? "", /sockets/, output);
      }
    }
    // A relative path is not one below the root.
    const relative = { ...environment, variables: { SSH_AUTH_SOCK: ssh.slice(1) } };
    const [, output] = rows.find(([group]) => group === "ssh")!;
    assert.equal(failed(root, output, { environment: relative }), null);
    const others = [
      "make: *** [all] Error 1",
      "error: cannot run gpg: No such file or directory\nerror: gpg failed to sign the data",
      "sh: 1: docker: command not found\nCannot connect to the Docker daemon",
    ];
    for (const output of others) assert.equal(failed(root, output, { environment }), null, output);
  });
  for (const [, output] of rows) {
    assert.doesNotMatch(failed(root, output, { environment }) ?? "", /sockets/, `no agent: ${output}`);
  }
});

test("a masked socket that a message names is named itself", async (root) => {
  scene(root);
  const path = `${root}/tmux`;
  await listening([path], () => {
    const output = `error connecting to ${path} (Connection refused)`;
    const policy = { masked: [path] };
    assert.match(
      failed(root, output, { policy }) ?? "",
      new RegExp(`the socket ${path}\\. .* add ${path} to`),
    );
    assert.equal(failed(root, output), null);
    assert.equal(failed(root, `saved ${path}`, { policy }), null);
  });
  assert.equal(
    failed(root, `error connecting to ${path} (Connection refused)`, { policy: { masked: [path] } }),
    null,
  );
});

test("a credential helper of git that needs the session bus is named", async (root) => {
  scene(root);
  const environment = {
    cwd: root,
    home: `${root}/home`,
    variables: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${root}/bus` },
  };
  const output = "fatal: could not read Username for 'https://example.org': terminal prompts disabled";
  await listening([`${root}/bus`], () => {
    assert.equal(failed(root, output, { environment }), null, "no helper is configured");
    Deno.writeTextFileSync(`${root}/home/.gitconfig`, "[credential]\n\thelper = store\n");
    assert.equal(failed(root, output, { environment }), null, "this helper needs no socket");
    Deno.writeTextFileSync(
      `${root}/home/.gitconfig`,
      "[credential]\n\thelper = /usr/lib/git-credential-libsecret\n",
    );
    assert.match(
      failed(root, output, { environment }) ?? "",
      /credential helper \/usr\/lib\/git-credential-libsecret\. .* add session-bus to sandbox\.policy\.sockets/,
    );
    assert.equal(failed(root, output, { environment, policy: { socketGroups: ["session-bus"] } }), null);
  });
});

test("hostile output is searched in bounded time", (root) => {
  scene(root);
  const filler = 64 * 1024;
  const rows = ["a", "/", "'", ": ", "chown ", "a/", "cd ", "gpg: ", "no such file ", "\n: "].map((piece) =>
    piece.repeat(filler / piece.length) + "Read-only file system"
  );
  // Each of these would take minutes in a search that is not linear.
  for (const output of rows) failed(root, output, { root: true, command: output });
});
