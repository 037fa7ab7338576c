// The network list under Landlock: ordinary programs reach its hosts through the proxy, and nothing else leads out. A
// missing program among those that are tried is a skipped test.

import assert from "node:assert/strict";
import { prepareLandlock } from "../../../sandbox/backends/landlock.ts";
import { landlockVersion } from "../../../sandbox/kernel/landlock_version.ts";
import type { LauncherPlan } from "../../../sandbox/kernel/launcher_plan.ts";
import { sandboxStatus } from "../../../sandbox/mod.ts";
import { emptyPolicy } from "../../../sandbox/protect/mountable.ts";
import { inFolder, testInFolder } from "../../folder.ts";
import { git, IDENTITY, plant, projectSandbox, runPrepared } from "../fixture.ts";

const version = landlockVersion();
const isMissing = !version.ok || version.value < 6;
const test: typeof testInFolder = isMissing ? () => {} : testInFolder;

/** A server that gives out the files of a folder, and what it was asked. */
async function withFiles(folder: string, body: (port: number, asked: string[]) => Promise<void>) {
  const asked: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { pathname, origin } = new URL(request.url);
    asked.push(pathname);
    const path = `${folder}${decodeURIComponent(pathname).replace(/\/$/, "/index")}`;
    const bytes = await Deno.readFile(path).catch(() => null);
    if (bytes === null) return new Response("missing\n", { status: 404 });
    if (path.endsWith("/index")) return new Response(bytes, { headers: { "content-type": "text/html" } });
    if (bytes[0] !== "{".charCodeAt(0)) return new Response(bytes);
    const text = new TextDecoder().decode(bytes).replaceAll("ORIGIN", origin);
    return new Response(text, { headers: { "content-type": "application/json" } });
  });
  try {
    await body(server.addr.port, asked);
  } finally {
    await server.shutdown();
  }
}

function listSandbox(root: string, allow: string[], variables: Record<string, string> = {}) {
  return projectSandbox(root, { backend: "landlock", policy: { network: { allow } } }, { variables });
}

async function run(sandbox: ReturnType<typeof listSandbox>, shell: string) {
  const ran = await runPrepared(sandbox, ["/bin/sh", "-c", shell]);
  assert.equal(ran.setup, null, ran.err);
  return ran;
}

/** Writes a file for the server. */
function serve(root: string, path: string, text: string): void {
  plant(`${root}/served`, path);
  Deno.writeTextFileSync(`${root}/served/${path}`, text);
}

function outside(cwd: string, program: string, ...args: string[]): void {
  const { success, stderr } = new Deno.Command(program, { args, cwd, stdin: "null" }).outputSync();
  assert.ok(success, new TextDecoder().decode(stderr));
}

const DENO = `DENO_NO_UPDATE_CHECK=1 "${Deno.execPath()}"`;

interface Program {
  /** A command without which it is skipped. */
  readonly needs: string;
  prepare?(root: string): void;
  readonly shell: (origin: string) => string;
}

/** Each prints "works" if it got what it asked for. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  "curl": { needs: "curl --version", shell: (origin) => `curl -sS ${origin}/text` },
  "wget": { needs: "wget --version", shell: (origin) => `wget -qO - ${origin}/text` },
  "Python": {
    needs: "python3 --version",
    shell: (origin) =>
      `python3 -c 'import urllib.request as u; print(u.urlopen("${origin}/text").read().decode())'`,
  },
  "Deno": {
    needs: "true",
    shell: (origin) =>
      `${DENO} eval --no-config 'console.log(await (await fetch("${origin}/text")).text())' && ` +
      `${DENO} run --no-config --no-lock --reload ${origin}/module.js`,
  },
  "git": {
    needs: "git --version",
    prepare(root) {
      const folder = `${root}/served/repository`;
      plant(folder, "text");
      Deno.writeTextFileSync(`${folder}/text`, "works\n");
      git(folder, "init", "-q");
      git(folder, "add", ".");
      git(folder, ...IDENTITY, "commit", "-qm", "one");
      git(folder, "update-server-info");
    },
    shell: (origin) => `git clone -q ${origin}/repository/.git copy && cat copy/text`,
  },
  "npm": {
    needs: "npm --version",
    prepare(root) {
      plant(root, "made/package/");
      Deno.writeTextFileSync(`${root}/made/package/index.js`, 'console.log("works")');
      const own = { name: "served-package", version: "1.0.0" };
      Deno.writeTextFileSync(`${root}/made/package/package.json`, JSON.stringify(own));
      plant(root, "served/tarballs/");
      outside(`${root}/made`, "tar", "-czf", `${root}/served/tarballs/a.tgz`, "package");
      const version = { ...own, dist: { tarball: "ORIGIN/tarballs/a.tgz" } };
      const about = { ...own, "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } };
      serve(root, "served-package", JSON.stringify(about));
    },
    shell: (origin) =>
      `echo {} > package.json; npm install --cache cache --no-audit --no-fund --loglevel=error --registry ${origin} served-package ` +
      `>&2 && node -e 'require("served-package")'`,
  },
  "pip": {
    needs: "python3 -m pip --version",
    prepare(root) {
      const code = "import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1],'w')\n" +
        "z.writestr('served.py','print(\"works\")')\n" +
        "z.writestr('served-1.dist-info/METADATA','Metadata-Version: 2.1\\nName: served\\nVersion: 1\\n')\n" +
        "z.writestr('served-1.dist-info/WHEEL','Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n" +
        "z.writestr('served-1.dist-info/RECORD','served.py,,\\n')\nz.close()";
      plant(root, "served/simple/served/");
      const wheel = "served-1-py3-none-any.whl";
      outside(root, "python3", "-c", code, `${root}/served/simple/served/${wheel}`);
      serve(root, "simple/served/index", `<a href="${wheel}">${wheel}</a>`);
    },
    shell: (origin) =>
      `PIP_CONFIG_FILE=/dev/null python3 -m pip install -q --no-cache-dir --index-url ${origin}/simple ` +
      `--trusted-host 127.0.0.1 --target there served >&2; python3 there/served.py`,
  },
};

const succeeds = (shell: string) =>
  new Deno.Command("sh", { args: ["-c", shell], stdin: "null" }).outputSync().success;

for (const [name, { needs, prepare, shell }] of Object.entries(PROGRAMS)) {
  Deno.test(
    `under Landlock, ${name} reaches a listed host through the proxy, whatever proxy the person has`,
    {
      ignore: isMissing || !succeeds(needs),
    },
    () =>
      inFolder(async (root) => {
        plant(root, "project/");
        serve(root, "text", "works\n");
        serve(root, "module.js", 'console.log("works")');
        prepare?.(root);
        await withFiles(`${root}/served`, async (port, asked) => {
          const variables = {
            PATH: Deno.env.get("PATH")!,
            http_proxy: "http://127.0.0.1:9",
            NO_PROXY: "127.0.0.1",
            no_proxy: "*",
          };
          const sandbox = listSandbox(root, [`127.0.0.1:${port}`], variables);
          const { out, err } = await run(sandbox, shell(`http://127.0.0.1:${port}`));
          assert.match(out, /^(?:works\s+)+$/, err);
          assert.ok(asked.length > 0);
          assert.deepEqual(sandbox.notices().filter(({ code }) => code === "network-refused"), []);
        });
      }),
  );
}

/** Python that tries each way out without the proxy, and prints how each ended. */
const WAYS = `
import socket, sys
port, proxy, other = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
def attempt(name, work):
    try: print(name, "WORKED", work())
    except OSError as e: print(name, type(e).__name__)
def ask(family, kind, protocol, to, flags=0):
    s = socket.socket(family, kind, protocol)
    if flags == 0: s.connect(to)
    s.sendto(b"GET / HTTP/1.0\\r\\n\\r\\n", flags, to) if flags else s.send(b"GET / HTTP/1.0\\r\\n\\r\\n")
    return s.recv(12)
def serve(at):
    s = socket.socket()
    if at is not None: s.bind(at)
    s.listen()
    return s.getsockname()
stream, datagram, near = socket.SOCK_STREAM, socket.SOCK_DGRAM, "127.0.0.1"
attempt("listed port", lambda: ask(socket.AF_INET, stream, 0, (near, port)))
attempt("other proxy", lambda: ask(socket.AF_INET, stream, 0, (near, other)))
attempt("fast open", lambda: ask(socket.AF_INET, stream, 0, (near, port), 0x20000000))
attempt("multipath", lambda: ask(socket.AF_INET, stream, 262, (near, port)))
attempt("datagram", lambda: ask(socket.AF_INET, datagram, 0, (near, port)))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 6))
attempt("IPv6", lambda: ask(socket.AF_INET6, stream, 0, ("::1", proxy)))
attempt("mapped", lambda: ask(socket.AF_INET6, stream, 0, ("::ffff:127.0.0.1", port)))
attempt("bind", lambda: serve((near, 0)))
attempt("bind proxy", lambda: serve(("127.0.0.2", proxy)))
attempt("listen", lambda: serve(None))
attempt("local socket", lambda: socket.socket(socket.AF_UNIX))
print("stranger", ask(socket.AF_INET, stream, 0, (near, proxy)))
`;

test("under a network list, only the command's own proxy can be reached, and only with its secret", async (root) => {
  plant(root, "project/", "other/project/");
  Deno.writeTextFileSync(`${root}/project/ways.py`, WAYS);
  serve(root, "text", "works\n");
  await withFiles(`${root}/served`, async (port, asked) => {
    const path = { PATH: Deno.env.get("PATH")! };
    // Another command with a list of its own, which lives meanwhile.
    const other = listSandbox(`${root}/other`, [`127.0.0.1:${port}`], path);
    const waits = run(other, `echo "$HTTP_PROXY" > proxy; while [ ! -e ../../end ]; do sleep 0.01; done`);
    const written = () => {
      try {
        return Deno.readTextFileSync(`${root}/other/project/proxy`).endsWith("\n");
      } catch {
        return false;
      }
    };
    while (!written()) await new Promise((resolve) => setTimeout(resolve, 5));
    const address = new URL(Deno.readTextFileSync(`${root}/other/project/proxy`).trim());
    assert.equal(address.username, "flemma");
    try {
      const { out } = await run(
        listSandbox(root, [`127.0.0.1:${port}`], path),
        `p=\${HTTP_PROXY##*:}; python3 ways.py ${port} "\${p%/}" ${address.port}`,
      );
      const lines = out.trim().split("\n");
      assert.deepEqual(lines.filter((line) => line.includes("WORKED")), []);
      assert.equal(lines.length, 13, out);
      assert.match(lines.at(-1)!, /^stranger b'HTTP\/1\.1 407/);
      assert.deepEqual(asked, []);
      // Without the sandbox, and without the secret or with a wrong one.
      for (const secret of [[], ["-U", "flemma:wrong"]]) {
        const { stdout } = await new Deno.Command("curl", {
          args: [
            ...["-s", "-o", "/dev/null", "-w", "%{http_code}", "-x", `http://127.0.0.1:${address.port}`],
            ...secret,
            `http://127.0.0.1:${port}/text`,
          ],
          env: { NO_PROXY: "" },
          stdin: "null",
        }).output();
        assert.equal(new TextDecoder().decode(stdout), "407", secret.join(" "));
      }
      assert.deepEqual(asked, []);
    } finally {
      Deno.writeTextFileSync(`${root}/end`, "");
      await waits;
    }
    // The proxy ends with its command.
    await assert.rejects(Deno.connect({ hostname: "127.0.0.1", port: Number(address.port) }));
  });
});

test("under Landlock, a host that is not listed is refused and reported, and status names what a list does not cover", async (root) => {
  plant(root, "project/");
  const sandbox = listSandbox(root, ["listed.test", "127.0.0.1:1"], { PATH: Deno.env.get("PATH")! });
  const { out } = await run(
    sandbox,
    `curl -s -o /dev/null -w '%{http_code} ' http://other.test/; curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:1/; ` +
      `echo " [$NO_PROXY$no_proxy]"; env | grep -ci "^[a-z]*_proxy=http://flemma:"`,
  );
  assert.equal(out, "403 502 []\n6\n");
  const refusals = sandbox.notices().filter(({ code }) => code === "network-refused");
  assert.deepEqual(refusals.map(({ message }) => message.split(": ")[0]), [
    "A command tried to reach other.test:80",
  ]);
  const { kind, notCovered } = await sandboxStatus(sandbox);
  assert.equal(kind, "repaired");
  assert.ok(notCovered.some((line) => line.includes("port of the proxy")));
});

/** Runs a prepared command whose plan was changed, and returns why it did not run. */
async function runChanged(root: string, change: (plan: LauncherPlan) => Partial<LauncherPlan>) {
  const { host } = listSandbox(root, []);
  const policy = { ...emptyPolicy(false), network: false, network_allow: ["listed.test"] };
  const prepared = await prepareLandlock(policy, ["/bin/sh", "-c", "echo ran"], host);
  assert.ok(prepared.ok);
  const [program = "", ...args] = prepared.value.argv;
  const file = args.find((word) => /\/plan[^/]*$/.test(word))!;
  const plan: LauncherPlan = JSON.parse(Deno.readTextFileSync(file));
  Deno.writeTextFileSync(file, JSON.stringify({ ...plan, ...change(plan) }));
  const { stdout, stderr } = await new Deno.Command(program, { args, stdin: "null" }).output();
  const failed = await prepared.value.setupFailure(new TextDecoder().decode(stderr), null);
  const isKept = await Deno.stat(file).then(() => true, () => false);
  await prepared.value.dispose();
  return { out: new TextDecoder().decode(stdout), why: failed?.message ?? null, isKept };
}

test("if the kernel does not refuse what a network list forbids, the command does not run; the plan with the secret is removed", async (root) => {
  plant(root, "project/");
  assert.deepEqual(await runChanged(root, () => ({})), { out: "ran\n", why: null, isKept: false });
  const { seccompFilter } = await import("../../../sandbox/kernel/seccomp.ts");
  const filter = (blockNetwork: boolean, allowTcp: boolean) => {
    const alone = { blockNetwork, allowTcp, refuseTruncate: false };
    const options = { blockUnixSockets: true, blockHostSockets: true, refuseSetuid: true, alone };
    return [...seccompFilter(Deno.build.arch, options)!];
  };
  const unchecked = (checks: LauncherPlan["checks"]) => ({ ...checks, families: [] });
  const rows: [change: (plan: LauncherPlan) => Partial<LauncherPlan>, why: RegExp][] = [
    [() => ({ refusesTcp: false }), /refused a rule for the port of the proxy/],
    [() => ({ filter: filter(false, true) }), /did not refuse sockets of family 10/],
    [({ checks }) => ({ filter: filter(false, true), checks: unchecked(checks) }), /did not refuse UDP/],
    [({ checks }) => ({ filter: filter(false, false), checks: unchecked(checks) }), /not refuse listening/],
    [() => ({ filter: filter(true, false) }), /network list cannot be used/],
    [({ proxy }) => ({ proxy: { ...proxy!, port: 1 } }), /refused the way to the proxy/],
  ];
  for (const [change, why] of rows) {
    const ran = await runChanged(root, change);
    assert.deepEqual([ran.out, ran.isKept], ["", false], String(why));
    assert.match(ran.why ?? "", why);
  }
});
