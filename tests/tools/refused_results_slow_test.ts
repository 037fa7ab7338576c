// The result of a command that failed because of the sandbox names the setting; other failures get no such line.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type SandboxSettings } from "../../config/settings.generated.ts";
import { createSandbox, type RunSandbox } from "../../sandbox/sandbox.ts";
import { inFolder } from "../folder.ts";
import { inScene, type Scene } from "./scene.ts";

/** A scene, and a folder with a home that this user can write, but commands cannot. */
interface World extends Scene {
  readonly out: string;
}

function test(name: string, body: (place: World) => Promise<void>): void {
  Deno.test(name, () =>
    inScene((place) =>
      inFolder(async (root) => {
        for (const folder of ["out", "home"]) Deno.mkdirSync(`${root}/${folder}`);
        await body(Object.assign(place, { out: `${root}/out` }));
      })
    ));
}

function realSandbox(
  place: World,
  policy: Partial<SandboxSettings["policy"]> = {},
  variables: Record<string, string> = {},
): RunSandbox {
  return createSandbox({
    settings: {
      ...DEFAULT_SETTINGS.sandbox,
      backend: "required",
      policy: { ...DEFAULT_SETTINGS.sandbox.policy, rw_paths: ["urn:flemma:buffer:path"], ...policy },
    },
    environment: {
      cwd: place.folder,
      home: `${place.out}/../home`,
      variables: { PATH: Deno.env.get("PATH") ?? "", XDG_RUNTIME_DIR: `${place.folder}-run`, ...variables },
    },
    document: place.document,
    protect: [place.document],
  });
}

/** The line about the sandbox in the result of a failed command; null if there is none. */
async function lineOf(place: World, command: string, sandbox = realSandbox(place)): Promise<string | null> {
  const error = await place.error("bash", { label: "l", command }, { sandbox });
  const lines = error.split("\n").filter((line) => /^\[.*sandbox/i.test(line));
  assert.ok(lines.length <= 1, error);
  return lines[0] ?? null;
}

test("a refused path is named with its setting, whatever program says it", async (place) => {
  Deno.mkdirSync(place.path(".git/hooks"), { recursive: true });
  Deno.writeTextFileSync(place.path(".envrc"), "x\n");
  const out = place.out;
  const rows: readonly (readonly [command: string, line: RegExp])[] = [
    [`touch ${out}/x`, /\/out\/x is read-only\. .*sandbox\.policy\.rw_paths/],
    [`echo x > ${out}/x`, /\/out\/x is read-only/],
    [`mkdir ${out}/x`, /\/out\/x is read-only/],
    [`cd ${out} && touch x`, /\/out\/x is read-only/],
    [`cd ${out}/..; cd ${out}; touch x`, /\/out\/x is read-only/],
    [`python3 -c "open('${out}/x', 'w')"`, /\/out\/x is read-only/],
    ["sh -c 'echo x > .envrc'", /\.envrc cannot be changed.*sandbox\.policy\.protect/],
    ["rm .envrc", /\.envrc cannot be changed/],
    ["mv .git x", /\.git cannot be changed/],
    ["echo x >> talk.chat", /talk\.chat cannot be changed, because it is this conversation/],
    [`touch ${out}/x || true; exit 5`, /\/out\/x is read-only/],
  ];
  for (const [command, line] of rows) assert.match(String(await lineOf(place, command)), line, command);
});

test("the line is about the refused path, also if git tracks a file of the same name", async (place) => {
  await place.output("bash", { label: "l", command: "git init -q . && git add -A" });
  assert.match(String(await lineOf(place, `cp talk.chat ${place.out}/`)), /\/out\/talk\.chat is read-only/);
  assert.match(
    String(await lineOf(place, "chown 1000 talk.chat")),
    /talk\.chat cannot be changed, because it is this/,
  );
});

test("errors that have nothing to do with the sandbox get no line", async (place) => {
  const rows = [
    "exit 3",
    "cat not-there",
    "cat /not-there",
    "ls no-such-folder/x",
    "cd no-such-folder",
    "no_such_program_at_all",
    "mkdir -p a; rmdir a/b",
    "echo 'Read-only file system' >&2; exit 1",
    "echo 'open x: permission denied'; exit 1",
    "echo x > y; touch y/z",
    "ln -s talk.chat b; ln -s talk.chat b",
    "grep nothing talk.chat",
    "curl --max-time 2 -sS http://127.0.0.1:9/",
  ];
  for (const command of rows) assert.equal(await lineOf(place, command), null, command);
});

test("a path that this user could not write without the sandbox either gets no line", async (place) => {
  if (Deno.uid() === 0) return; // The superuser can write everywhere.
  await place.output("bash", { label: "l", command: "git init -q . && git add -A" });
  for (const command of ["touch /usr/share/x", "cp talk.chat /usr/share/"]) {
    assert.equal(await lineOf(place, command), null, command);
  }
});

test("a command that succeeds gets no line, whatever it prints", async (place) => {
  const output = await place.output("bash", { label: "l", command: `touch ${place.out}/x; true` }, {
    sandbox: realSandbox(place),
  });
  assert.doesNotMatch(output, /sandbox/);
});

test("without a sandbox there is no line", async (place) => {
  const error = await place.error("bash", { label: "l", command: "touch /proc/x 2>&1; exit 1" });
  assert.doesNotMatch(error, /sandbox/);
});

test("a hidden path is named", async (place) => {
  Deno.mkdirSync(place.path("secret"));
  Deno.writeTextFileSync(place.path("secret/key"), "k\n");
  const sandbox = realSandbox(place, { deny_read: [place.path("secret")], rw_paths: [place.path("other")] });
  for (const command of ["cat secret/key", "ls secret", "cat secret/not-there", "touch secret/new"]) {
    assert.match(
      String(await lineOf(place, command, sandbox)),
      /The sandbox hides .*\/secret\..*deny_read/,
      command,
    );
  }
});

test("without a network, the setting is named; with a list, the refused host", async (place) => {
  const off = realSandbox(place, { network: false });
  assert.match(
    String(await lineOf(place, "curl -sS --max-time 5 http://example.org/", off)),
    /have no network.*sandbox\.policy\.network/,
  );
  const list = realSandbox(place, { network: { allow: ["127.0.0.1:1"] } });
  const fetch = "curl -sSf --max-time 5 http://example.org/ && true";
  assert.match(
    String(await lineOf(place, fetch, list)),
    /refused a connection to example\.org:80\. .*sandbox\.policy\.network\.allow/,
  );
});

test("a socket of the host that commands cannot reach is named", async (place) => {
  const path = place.path("agent");
  using _ = Deno.listen({ transport: "unix", path });
  const sandbox = realSandbox(place, {}, { SSH_AUTH_SOCK: path });
  const command =
    `SSH_AUTH_SOCK=${path} ssh-add -l || python3 -c "import socket; s = socket.socket(socket.AF_UNIX)
try: s.connect('${path}')
except OSError as e: print(e, '${path}'); raise SystemExit(1)"`;
  assert.match(String(await lineOf(place, command, sandbox)), /sandbox\.policy\.sockets/);
});

test("file tools name the setting, and only the one that is the reason", async (place) => {
  Deno.mkdirSync(place.path("secret"));
  Deno.writeTextFileSync(place.path("secret/key"), "k\n");
  Deno.writeTextFileSync(place.path(".envrc"), "x\n");
  const sandbox = realSandbox(place, { deny_read: [place.path("secret")] });
  const error = (name: string, input: object) => place.error(name, { label: "l", ...input }, { sandbox });
  assert.match(
    await error("write", { path: `${place.out}/x`, content: "" }),
    /add one to sandbox\.policy\.rw_paths\.$/,
  );
  assert.match(
    await error("write", { path: ".envrc", content: "" }),
    /only the user .*\(sandbox\.policy\.protect\)\.$/,
  );
  assert.match(
    await error("read", { path: "secret/key" }),
    /tools may not read .*sandbox\.policy\.deny_read\.$/,
  );
  assert.match(await error("ls", { path: "secret" }), /tools may not read .*sandbox\.policy\.deny_read\.$/);
  assert.doesNotMatch(await error("read", { path: "/proc/self/environ" }), /policy/);
  assert.doesNotMatch(await error("ls", { path: "/proc/self" }), /policy/);
});
