// Sockets of the host: which are masked, which stay, and the variables that name them.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../../config/settings.generated.ts";
import { toolEnvironment } from "../../../sandbox/mod.ts";
import { listeningSockets } from "../../../sandbox/policy/listening.ts";
import {
  findSockets,
  SOCKET_VARIABLES,
  socketVariablesOf,
  unmaskedSockets,
} from "../../../sandbox/policy/sockets.ts";
import { plant, projectSandbox, runInside, world } from "../fixture.ts";
import { inFolder, testInFolder as test } from "../../folder.ts";

const NOTHING = { sockets: [], socketGroups: [] };

/** Listens on sockets while `body` runs. */
async function listening(paths: string[], body: () => Promise<void>): Promise<void> {
  const listeners = paths.map((path) => {
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    return Deno.listen({ transport: "unix", path });
  });
  try {
    await body();
  } finally {
    for (const listener of listeners) listener.close();
  }
}

const CONNECT = `for (const path of Deno.args) {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    console.log("reached");
  } catch (e) { console.log(e.name); }
}`;

test("commands cannot reach the sockets of agents, multiplexers and editors, nor a folder of runtime sockets", async (root) => {
  plant(root, "project/", "run/");
  Deno.writeTextFileSync(`${root}/project/connect.js`, CONNECT);
  const agent = `${root}/tmp/ssh-abc/agent.1`;
  const tmux = `${root}/tmp/tmux-7/default`;
  const bus = `${root}/run/bus`;
  const editor = `${root}/elsewhere/nvim.sock`;
  const own = `${root}/project/own.sock`;
  const variables = {
    XDG_RUNTIME_DIR: `${root}/run`,
    TMPDIR: `${root}/tmp`,
    NVIM: editor,
    SSH_AUTH_SOCK: agent,
  };
  await listening([agent, tmux, bus, editor, own], async () => {
    const reached = async (sockets: string[]) => {
      const sandbox = projectSandbox(root, { policy: { sockets } }, { variables });
      const { out } = await runInside(
        sandbox,
        `"${Deno.execPath()}" run -A --no-config connect.js ${[agent, tmux, bus, editor, own].join(" ")}`,
      );
      return out.trim().split("\n");
    };
    const refused = "ConnectionRefused";
    // Where the folder holds nothing but sockets, it is the folder that is covered.
    const gone = "NotFound";
    assert.deepEqual(await reached([]), [gone, gone, gone, refused, refused]);
    assert.deepEqual(
      await reached(["tmux", bus, "$SSH_AUTH_SOCK"]),
      ["reached", "reached", "reached", refused, refused],
    );
    assert.deepEqual(
      await reached(["$XDG_RUNTIME_DIR", "nvim", own]),
      [gone, gone, "reached", "reached", "reached"],
    );
  });
  assert.deepEqual([...Deno.readDirSync(`${root}/tmp/tmux-7`)].length, 0, "masking made nothing on the host");
});

test("only real sockets are masked, also through links and in the forms that variables contain", async (root) => {
  plant(root, "tmp/tmux-1/file", "tmp/ssh-x/");
  const [bus, agent] = [`${root}/d/bus`, `${root}/real/agent`];
  await listening([bus, agent], () => {
    Deno.symlinkSync(agent, `${root}/tmp/ssh-x/agent.2`);
    const environment = world(root, {
      TMPDIR: `${root}/tmp/`,
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus},guid=1;unix:abstract=/x`,
      TMUX: `${root}/tmp/tmux-1/file,12,0`,
    });
    const { masked, runtime } = findSockets(environment, NOTHING, undefined, []);
    assert.deepEqual(masked.filter((path) => path.startsWith(root)), [bus]);
    assert.deepEqual(
      runtime.filter((path) => path.startsWith(root)),
      [`${root}/tmp/ssh-x`, `${root}/tmp/tmux-1`],
    );
    return Promise.resolve();
  });
});

test("a listed name matches exactly, and a star matches any number of characters in one name", async (root) => {
  const at = (name: string) => `${root}/home/${name}`;
  const named = [".docker/run/docker.sock", ".gnupg/S.gpg-agent", ".ssh/agent", ".ssh/sub/agent"].map(at);
  const others = [".docker/run/docker.sock2", ".docker/run/my-docker.sock", ".gnupg/T.x", ".ssh/a/b/agent"]
    .map(at);
  await listening([...named, ...others], () => {
    const { masked } = findSockets(world(root), NOTHING, undefined, []);
    assert.deepEqual(masked.filter((path) => path.startsWith(root)), named.toSorted());
    return Promise.resolve();
  });
});

test("a path in a variable is masked or kept only if it is an existing socket", async (root) => {
  plant(root, "file", "folder/");
  await listening([`${root}/socket`], () => {
    for (
      const [name, isSocket] of [["socket", true], ["file", false], ["folder", false], [
        "none",
        false,
      ]] as const
    ) {
      const environment = world(root, { NVIM: `${root}/${name}` });
      const found = (policy: typeof NOTHING) => findSockets(environment, policy, undefined, []);
      assert.equal(found(NOTHING).masked.includes(`${root}/${name}`), isSocket, name);
      const keeping = { sockets: [], socketGroups: ["nvim"] } as unknown as typeof NOTHING;
      assert.equal(found(keeping).kept.includes(`${root}/${name}`), isSocket, name);
      assert.equal(found(keeping).masked.includes(`${root}/${name}`), false, name);
    }
    return Promise.resolve();
  });
});

test("a runtime folder that is the root or a top-level folder does not hide everything below it", (root) => {
  for (const XDG_RUNTIME_DIR of ["/", "/usr", "relative", `${root}/missing`]) {
    const { runtime } = findSockets(world(root, { XDG_RUNTIME_DIR }), NOTHING);
    assert.deepEqual(runtime.filter((path) => !/^\/(run|tmp)\/./.test(path)), [], XDG_RUNTIME_DIR);
  }
});

test("variables that name sockets are removed from a tool's environment, unless the policy keeps the socket", (root) => {
  const variables = Object.fromEntries(SOCKET_VARIABLES.map((name) => [name, `${root}/${name}`]));
  const environment = world(root, variables);
  const env = (kept: readonly string[]) =>
    Object.keys(toolEnvironment(environment.variables, DEFAULT_SETTINGS.tools.env, { sandboxed: true, kept }))
      .filter((name) => SOCKET_VARIABLES.includes(name));
  assert.deepEqual(env([]), []);
  assert.deepEqual(
    env(socketVariablesOf(environment, { sockets: [`${root}/SSH_AUTH_SOCK`], socketGroups: ["tmux"] }))
      .sort(),
    ["SSH_AUTH_SOCK", "TMUX"],
  );
  const outside = toolEnvironment(environment.variables, DEFAULT_SETTINGS.tools.env, { sandboxed: false });
  assert.equal(outside.SSH_AUTH_SOCK, `${root}/SSH_AUTH_SOCK`);
  for (
    const name of ["DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "TMUX", "STY", "NVIM"]
  ) {
    assert.ok(SOCKET_VARIABLES.includes(name), name);
  }
});

Deno.test(
  "a socket is not masked if it belongs to another user or is in a folder that commands cannot enter",
  {
    ignore: Deno.uid() !== 0,
  },
  () =>
    inFolder(async (root) => {
      const [foreign, closed, reachable] = ["foreign/s", "closed/s", "open/s"].map((name) =>
        `${root}/${name}`
      );
      const variables = { SSH_AUTH_SOCK: foreign!, NVIM: closed!, SWAYSOCK: reachable! };
      await listening([foreign!, closed!, reachable!], () => {
        Deno.chownSync(foreign!, 64123, 64123);
        Deno.chownSync(`${root}/closed`, 64123, 64123);
        Deno.chmodSync(`${root}/closed`, 0o700);
        const { masked } = findSockets(world(root, variables), NOTHING, undefined, []);
        assert.deepEqual(masked.filter((path) => path.startsWith(root)), [reachable]);
        Deno.chmodSync(`${root}/closed`, 0o711);
        assert.ok(
          findSockets(world(root, variables), NOTHING, undefined, []).masked.includes(closed!),
          "it can be entered now",
        );
        return Promise.resolve();
      });
    }),
);

test("a socket that disappears before it is covered leaves no empty file, and the command is retried", async (root) => {
  plant(root, "project/", "tmp/");
  const path = `${root}/tmp/agent.sock`;
  const variables = { TMPDIR: `${root}/tmp`, SSH_AUTH_SOCK: path };
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", "$TMPDIR"] } }, {
    variables,
  });
  for (let at = 0; at < 30; at++) {
    await listening([path], async () => {
      const prepared = await sandbox.prepare(["/bin/sh", "-c", ":"]);
      assert.ok(prepared.ok && prepared.value.wrapped);
      Deno.removeSync(path);
      const { cwd } = sandbox.host.environment;
      const started = prepared.value.start({ cwd, env: variables });
      assert.ok(started.ok);
      await Promise.all([
        started.value.stdout.cancel(),
        started.value.stderr.cancel(),
        started.value.status,
      ]);
      await prepared.value.dispose();
    });
    assert.deepEqual([...Deno.readDirSync(`${root}/tmp`)], [], `try ${at}`);
  }
});

Deno.test("the table of the kernel is read for sockets that accept connections or receive messages", () => {
  const row = (flags: string, type: string, path: string) =>
    `00000000c200b43a: 00000003 00000000 ${flags} ${type} 01  12345 ${path}`;
  const table = [
    "Num       RefCount Protocol Flags    Type St Inode Path",
    row("00010000", "0001", "/home/me/.colima/default/docker.sock"),
    row("00010000", "0005", "/home/me/.lima/a b/ha.sock"),
    row("00000000", "0002", "/run/systemd/notify"),
    row("00000000", "0001", "/connected"),
    row("00010000", "0001", "@/tmp/.X11-unix/X0"),
    row("00010000", "0001", "relative.sock"),
    row("00010000", "0001", "/dev/log"),
    row("00010000", "0001", "/run/nscd/socket"),
    row("00010000", "0001", "/var/run/nscd/socket"),
    row("00010000", "0001", "/run/systemd/resolve/io.systemd.Resolve"),
    row("00010000", "0001", "/var/lib/sss/pipes/nss"),
    row("00010000", "0001", "/run/nscd2/socket"),
    row("00010000", "0001", "/home/me/.lima/a b/ha.sock"),
    "00000000c200b43a: 00000003 00000000 00010000 0001 01  12345",
    "",
  ];
  assert.deepEqual(listeningSockets(table.join("\n")), [
    "/home/me/.colima/default/docker.sock",
    "/home/me/.lima/a b/ha.sock",
    "/run/nscd2/socket",
    "/run/systemd/notify",
  ]);
  assert.deepEqual(listeningSockets(""), []);
});

/** Places of sockets of container runtimes, password agents and key rings, below a home folder. */
const AGENT_SOCKETS: readonly string[] = [
  ".colima/default/docker.sock",
  ".lima/default/sock/docker.sock",
  ".local/share/containers/podman/machine/podman.sock",
  ".rd/docker.sock",
  ".orbstack/run/docker.sock",
  ".1password/agent.sock",
  ".bitwarden-ssh-agent.sock",
  ".cache/keyring-X/control",
  "any/name/at/all",
];

test("commands cannot reach any socket on which a program of the person listens, unless the policy lists it", async (root) => {
  plant(root, "project/", "home/");
  Deno.writeTextFileSync(`${root}/project/connect.js`, CONNECT);
  const paths = AGENT_SOCKETS.map((name) => `${root}/home/${name}`);
  await listening(paths, async () => {
    const reached = async (sockets: string[]) => {
      const sandbox = projectSandbox(root, { policy: { sockets } });
      const words = paths.map((path) => `'${path}'`).join(" ");
      const { out } = await runInside(sandbox, `"${Deno.execPath()}" run -A --no-config connect.js ${words}`);
      return out.trim().split("\n");
    };
    assert.deepEqual(await reached([]), paths.map(() => "ConnectionRefused"));
    const listed = await reached([paths[0]!, `${root}/home/.orbstack`]);
    assert.deepEqual(
      paths.filter((_, at) => listed[at] === "reached"),
      [paths[0], `${root}/home/.orbstack/run/docker.sock`],
    );
  });
});

test("a socket that appears between two commands of a run is masked for the second", async (root) => {
  plant(root, "project/", "home/");
  Deno.writeTextFileSync(`${root}/project/connect.js`, CONNECT);
  const sandbox = projectSandbox(root);
  const path = `${root}/home/later.sock`;
  const reach = async () =>
    (await runInside(sandbox, `"${Deno.execPath()}" run -A --no-config connect.js ${path}`)).out.trim();
  assert.equal(await reach(), "NotFound");
  await listening([path], async () => assert.equal(await reach(), "ConnectionRefused"));
});

test("a socket that the person may not write to needs no mask", async (root) => {
  const path = `${root}/s`;
  await listening([path], () => {
    // Other programs of this machine may listen in folders that every command can reach.
    const masked = () =>
      findSockets(world(root), NOTHING, undefined, [path]).masked.filter((found) => found.startsWith(root));
    assert.deepEqual(masked(), [path]);
    Deno.chmodSync(path, 0o500);
    assert.deepEqual(masked(), []);
    return Promise.resolve();
  });
});

test("the group of a folder with sockets keeps the sockets in it", async (root) => {
  const path = `${root}/tmp/tmux-5/default`;
  const environment = world(root, { TMPDIR: `${root}/tmp` });
  await listening([path], () => {
    const found = (socketGroups: string[]) =>
      findSockets(environment, { sockets: [], socketGroups }, undefined, [path]);
    assert.ok(found(["tmux"]).kept.includes(path));
    assert.ok(!found(["tmux"]).masked.includes(path));
    assert.ok(found([]).runtime.includes(`${root}/tmp/tmux-5`));
    return Promise.resolve();
  });
});

/** Creates sockets: one to connect, one to listen on, a pair of streams, and a pair of datagrams. */
const CREATE = `use Socket;
print socket(my $s, AF_UNIX, SOCK_STREAM, 0) ? "socket " : "refused ";
print socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) ? "pair " : "refused ";
print socketpair(my $c, my $d, AF_UNIX, SOCK_DGRAM, 0) ? "datagrams " : "refused ";
print socket(my $i, AF_INET, SOCK_STREAM, 0) ? "network" : "refused";`;

test("without a network, commands create no local sockets but pairs, unless the policy lists a socket", async (root) => {
  plant(root, "project/");
  Deno.writeTextFileSync(`${root}/project/create.pl`, CREATE);
  const created = async (policy: NonNullable<Parameters<typeof projectSandbox>[1]>["policy"]) =>
    (await runInside(projectSandbox(root, { policy }), "perl create.pl")).out;
  const everything = "socket pair datagrams network";
  const pairs = "refused pair refused network";
  assert.equal(await created({}), everything);
  assert.equal(await created({ network: false }), pairs);
  assert.equal(await created({ network: { allow: [] } }), pairs);
  assert.equal(await created({ block_unix_sockets: true }), pairs);
  assert.equal(await created({ network: false, sockets: ["tmux"] }), everything);
  assert.equal(await created({ network: false, sockets: ["/run/nscd"] }), everything);
  assert.equal(await created({ network: { allow: ["example.org"] } }), everything);
});

test("only a socket that needs a mask and has none outdates a policy", async (root) => {
  plant(root, "open/file", "runtime/", "kept/");
  const at = (name: string) => `${root}/${name}`;
  const paths = ["open/new", "open/known", "open/closed", "runtime/s", "kept/s"].map(at);
  const policy = { masked: [at("open/known")], runtime: [at("runtime")], sockets: [at("kept")] };
  await listening(paths, () => {
    Deno.chmodSync(at("open/closed"), 0o500);
    const unmasked = () =>
      unmaskedSockets([...paths, at("open/vanished"), at("open/file"), at("link/new")], policy);
    assert.deepEqual(unmasked(), [at("open/new")]);
    assert.deepEqual(unmaskedSockets([at("open/vanished")], policy), []);
    Deno.chmodSync(at("open/closed"), 0o700);
    assert.deepEqual(unmasked(), [at("open/new"), at("open/closed")], "it may be written to now");
    Deno.symlinkSync("open", at("link"));
    assert.deepEqual(unmaskedSockets([at("link/new"), at("link/known")], policy), [at("open/new")]);
    return Promise.resolve();
  });
});

test("only a socket that needs a mask ends the worker of a run", async (root) => {
  plant(root, "project/", "home/");
  const path = `${root}/home/s`;
  let now: string[] = [];
  const sandbox = projectSandbox(root, {}, { listening: () => now });
  const worker = async () => {
    const started = await sandbox.startWorker(["/bin/cat"], {});
    assert.ok(started.ok);
    return started.value;
  };
  try {
    const first = await worker();
    now = [`${root}/home/never-there`];
    assert.equal(await worker(), first);
    await listening([path], async () => {
      Deno.chmodSync(path, 0o500);
      now = [path];
      assert.equal(await worker(), first, "it may not be written to");
      Deno.chmodSync(path, 0o700);
      const second = await worker();
      assert.notEqual(second, first);
      assert.equal(await worker(), second);
      now = [];
      assert.equal(await worker(), second, "a socket that vanished does not matter");
    });
  } finally {
    await sandbox.endWorker();
  }
});

test("a socket is masked where a writable folder is shown inside a hidden one", async (root) => {
  plant(root, "project/.vscode/", "home/");
  Deno.writeTextFileSync(`${root}/project/connect.js`, CONNECT);
  const paths = ["project/s", "project/.vscode/s", "home/s"].map((name) => `${root}/${name}`);
  await listening(paths, async () => {
    const { out } = await runInside(
      projectSandbox(root, { policy: { deny_read: [root] } }),
      `"${Deno.execPath()}" run -A --no-config connect.js ${paths.join(" ")}`,
    );
    assert.deepEqual(out.trim().split("\n"), ["ConnectionRefused", "ConnectionRefused", "NotFound"]);
  });
});
