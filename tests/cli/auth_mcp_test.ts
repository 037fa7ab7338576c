// Signing in to an MCP server, and calls with that sign-in, at a strict authorization server.

import assert from "node:assert/strict";
import { SECRET_TOOL } from "../providers/key_helpers.ts";
import { type Conduct, type Protected, serveProtected } from "../tools/mcp/authorization_server.ts";
import { writeProgram } from "../folder.ts";
import { type Finished, type RunOptions, type Scene, testWithScene } from "./harness.ts";

/** A scene with a protected server, its program as the browser, and everything that the program printed. */
interface Signing {
  readonly place: Scene;
  readonly server: Protected;
  readonly output: string[];
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  exits(code: number, args: readonly string[], options?: RunOptions): Promise<Finished>;
}

/** A browser in which the person consents without being asked. */
const BROWSER = `#!/bin/sh
exec "$DENO" eval --quiet 'await (await fetch(Deno.args[0])).body?.cancel()' "$1"
`;

function test(
  name: string,
  body: (signing: Signing) => Promise<void>,
  { conduct = {}, ring = true, oauth = "" }: {
    readonly conduct?: Partial<Conduct>;
    readonly ring?: boolean;
    readonly oauth?: string;
  } = {},
): void {
  testWithScene(name, async (place) => {
    const server = serveProtected(conduct);
    const bin = `${place.folder}/bin`;
    Deno.mkdirSync(bin);
    Deno.mkdirSync(`${place.folder}/ring`);
    writeProgram(`${bin}/browser`, BROWSER.replace("$DENO", Deno.execPath()));
    if (ring) writeProgram(`${bin}/secret-tool`, SECRET_TOOL);
    const env = { PATH: `${bin}:${place.env.PATH}`, RING: `${place.folder}/ring`, BROWSER: `${bin}/browser` };
    place.settings(`
tools: { autopilot: { enabled: false } }
mcp:
  servers:
    web:
      url: ${server.url}
${oauth === "" ? "" : `      oauth: ${oauth}\n`}`);
    const output: string[] = [];
    const run = async (args: readonly string[], options: RunOptions = {}) => {
      const finished = await place.run(args, { ...options, env: { ...env, ...options.env } });
      output.push(finished.stdout, finished.stderr);
      return finished;
    };
    const exits = async (code: number, args: readonly string[], options: RunOptions = {}) => {
      const finished = await run(args, options);
      assert.equal(finished.code, code, `${args.join(" ")}: ${finished.stdout}${finished.stderr}`);
      return finished;
    };
    try {
      await body({ place, server, output, run, exits });
      assert.deepEqual(server.faults, []);
    } finally {
      await server.close();
    }
  });
}

/** Writes a document with approved calls of these tools. */
function write(place: Scene, name: string, ...tools: readonly string[]): void {
  const uses = tools.map((tool, at) =>
    `**Tool Use:** \`web:${tool}\` (\`call_${at}\`)\n\n\`\`\`json\n{}\n\`\`\`\n\n`
  );
  const results = tools.map((_, at) =>
    `**Tool Result:** \`call_${at}\`\n\n\`\`\`flemma:tool status=approved\n\`\`\`\n\n`
  );
  place.write(name, `@You:\nGo.\n\n@Assistant:\nI will.\n\n${uses.join("")}@You:\n\n${results.join("")}`);
}

/** All text in a folder but in the places where a sign-in may be. */
function textsBelow(folder: string, except: readonly string[]): string {
  let text = "";
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    if (except.some((each) => path.endsWith(each))) continue;
    if (isDirectory) text += textsBelow(path, except);
    else if (Deno.statSync(path).isFile) text += new TextDecoder().decode(Deno.readFileSync(path));
  }
  return text;
}

function signInFiles(place: Scene): string {
  const folder = `${place.folder}/state/flemma/sign-ins`;
  return [...Deno.readDirSync(folder)].map(({ name }) => Deno.readTextFileSync(`${folder}/${name}`)).join("");
}

test("after a sign-in in the browser, calls carry its token, and no token is in a document, a file or a message", async ({ place, server, output, exits }) => {
  write(place, "a.chat", "echo");
  const before = await exits(3, ["advance", "a.chat"]);
  assert.match(before.stderr, /MCP server web cannot be used yet|web could not list its tools/);
  assert.match(before.stderr, /flemma auth mcp web/);
  const signed = await exits(0, ["auth", "mcp", "web"]);
  assert.match(
    signed.stderr,
    /open this page in a browser\. It asks for: read\.\nhttp:\/\/127\.0\.0\.1:\d+\/authorize\?/,
  );
  assert.match(signed.stderr, /You are signed in to the MCP server web/);
  write(place, "a.chat", "echo");
  await exits(0, ["advance", "a.chat"]);
  assert.match(place.read("a.chat"), /echo done/);
  const shown = await exits(0, ["auth", "show"]);
  assert.match(shown.stdout, /web +signed in at http:\/\/127\.0\.0\.1:\d+ \(read\), in the keyring/);
  const { mcp } = JSON.parse((await exits(0, ["auth", "show", "--json"])).stdout);
  assert.equal(mcp[0].issuer, server.issuer);
  assert.equal(server.secrets.length, 3);
  const elsewhere = textsBelow(place.folder, ["/ring", "/bin", "/home/.cache"]) + output.join("");
  for (const secret of server.secrets) assert.ok(!elsewhere.includes(secret), secret);
  assert.doesNotMatch(signInFiles(place), /access-|refresh-/);
  await exits(0, ["auth", "mcp", "web", "--remove"]);
  await exits(1, ["auth", "mcp", "web", "--remove"]);
  assert.deepEqual([...Deno.readDirSync(`${place.folder}/ring`)].map(({ name }) => name), ["calls"]);
  write(place, "b.chat", "echo");
  await exits(3, ["advance", "b.chat"]);
  assert.match(place.read("b.chat"), /status=approved/);
});

test("a token is refreshed before it expires", async ({ place, server, exits }) => {
  server.conduct.lifetime = 30;
  await exits(0, ["auth", "mcp", "web"]);
  write(place, "a.chat", "echo", "echo");
  await exits(0, ["advance", "a.chat"]);
  assert.equal(place.read("a.chat").match(/echo done/g)?.length, 2);
  assert.ok(server.refreshes >= 1);
});

test("two runs that need a new token at the same time refresh it once", async ({ place, server, exits }) => {
  server.conduct.lifetime = 30;
  await exits(0, ["auth", "mcp", "web"]);
  server.conduct.lifetime = 3600;
  for (const name of ["a.chat", "b.chat"]) write(place, name, "echo");
  await Promise.all(["a.chat", "b.chat"].map((name) => exits(0, ["advance", name])));
  for (const name of ["a.chat", "b.chat"]) assert.match(place.read(name), /echo done/);
  assert.equal(server.refreshes, 1);
});

test("if the tokens were revoked, the call stays approved and runs after the next sign-in", async ({ place, server, run, exits }) => {
  await exits(0, ["auth", "mcp", "web"]);
  write(place, "known.chat", "echo");
  await exits(0, ["advance", "known.chat"]);
  server.revoke();
  write(place, "a.chat", "echo");
  const refused = await exits(3, ["advance", "a.chat"]);
  assert.match(refused.stderr, /web cannot be used yet: the sign-in has ended\.\n.*Run: flemma auth mcp web/);
  assert.match(place.read("a.chat"), /status=approved/);
  assert.doesNotMatch((await run(["auth", "show"])).stdout, /signed in/);
  await exits(0, ["auth", "mcp", "web"]);
  await exits(0, ["advance", "a.chat"]);
  assert.match(place.read("a.chat"), /echo done/);
  assert.equal(server.calls.echo, 2);
});

test("an answer with another issuer is refused, and its code is not redeemed", async ({ place, server, exits }) => {
  server.conduct.iss = "https://other.example";
  const { stderr } = await exits(1, ["auth", "mcp", "web"]);
  assert.match(stderr, /The sign-in at the MCP server web failed: .*other\.example/);
  assert.equal(server.secrets.filter((secret) => secret.startsWith("access")).length, 0);
  assert.ok(!place.exists("../state/flemma/sign-ins") || signInFiles(place) === "");
});

test("a server that names another authorization server gets no refresh token, and a message says so", async ({ place, server, exits }) => {
  const other = serveProtected();
  try {
    await exits(0, ["auth", "mcp", "web"]);
    write(place, "known.chat", "echo");
    await exits(0, ["advance", "known.chat"]);
    server.conduct.names = other.issuer;
    server.revoke();
    write(place, "a.chat", "echo");
    const { stderr } = await exits(3, ["advance", "a.chat"]);
    assert.match(stderr, /it now names another authorization server than the one where you signed in/);
    assert.deepEqual([server.refreshes, other.refreshes, other.registrations], [0, 0, 0]);
  } finally {
    await other.close();
  }
});

test("a call that needs more rights stays approved; the next sign-in asks for all of them", async ({ place, server, exits }) => {
  await exits(0, ["auth", "mcp", "web"]);
  write(place, "a.chat", "echo", "admin");
  const { stderr } = await exits(3, ["advance", "a.chat"]);
  assert.match(stderr, /the call needs the rights admin\. It has: read\.\n.*Run: flemma auth mcp web/);
  assert.match(place.read("a.chat"), /echo done/);
  assert.match(place.read("a.chat"), /`call_1`\n\n```flemma:tool status=approved/);
  await exits(0, ["auth", "mcp", "web"]);
  assert.deepEqual(server.consents.map((scope) => scope.split(" ").sort().join(" ")), ["read", "admin read"]);
  assert.equal(server.registrations, 1);
  await exits(0, ["advance", "a.chat"]);
  assert.match(place.read("a.chat"), /admin done/);
  assert.deepEqual(server.calls, { echo: 1, admin: 1 });
});

test("with --paste the address of the last page is typed; one of another sign-in is refused", async ({ place, exits }) => {
  const other = "http://127.0.0.1:49151/callback?code=x&state=y";
  assert.match(
    (await exits(1, ["auth", "mcp", "web", "--paste"], { stdin: other })).stderr,
    /belongs to another sign-in/,
  );
  assert.match(
    (await exits(1, ["auth", "mcp", "web", "--paste"], { stdin: "hello" })).stderr,
    /not the address/,
  );
  assert.ok(!place.exists("../state/flemma/sign-ins/x"));
});

test("a request with another state does not end the waiting and gets nothing back", async ({ place, exits }) => {
  // This browser first calls the callback as anybody on this machine could.
  writeProgram(
    `${place.folder}/bin/browser`,
    `#!/bin/sh
exec ${Deno.execPath()} eval --quiet '
const page = new URL(Deno.args[0]);
const back = page.searchParams.get("redirect_uri");
const other = await fetch(back + "?state=wrong&code=<b>x</b>");
const text = await other.text();
if (other.status !== 400 || text.includes("<b>")) Deno.exit(1);
await (await fetch(page)).body?.cancel();' "$1"
`,
  );
  await exits(0, ["auth", "mcp", "web"]);
});

test(
  "a refused consent, and a server without PKCE S256 or registration, end with a sentence",
  async ({ server, exits }) => {
    server.conduct.error = "access_denied";
    assert.match((await exits(1, ["auth", "mcp", "web"])).stderr, /failed: it was not allowed\./);
    server.conduct.methods = ["plain"];
    assert.match((await exits(1, ["auth", "mcp", "web"])).stderr, /does not offer PKCE with S256/);
    server.conduct.methods = ["S256"];
    server.conduct.registers = false;
    assert.match(
      (await exits(1, ["auth", "mcp", "web"])).stderr,
      /registers no clients by itself\.\n.*mcp\.servers\.web\.oauth\.client_id/,
    );
    const names = await exits(2, ["auth", "mcp", "wep"]);
    assert.match(names.stderr, /There is no MCP server wep in the settings\.\n.*Did you mean web\?/);
  },
  { conduct: { registers: true } },
);

test("a client id and scopes of the settings are used", async ({ server, exits }) => {
  await exits(0, ["auth", "mcp", "web"]);
  assert.deepEqual([server.registrations, server.consents], [0, ["read write"]]);
}, { oauth: "{ client_id: mine, scopes: [read, write] }", conduct: { registers: false } });

test(
  "without a keyring the tokens are in a file that commands cannot read",
  async ({ place, server, exits }) => {
    const { stderr } = await exits(0, ["auth", "mcp", "web"]);
    assert.match(stderr, /No keyring is available, so the tokens are in a file/);
    assert.ok(server.secrets.some((secret) => signInFiles(place).includes(secret)));
    const folder = `${place.folder}/state/flemma/sign-ins`;
    for (const { name } of Deno.readDirSync(folder)) {
      assert.equal(Deno.statSync(`${folder}/${name}`).mode! & 0o777, 0o600, name);
    }
    const read = await place.process(["sandbox", "run", "--", "sh", "-c", `cat ${folder}/* 2>&1; echo end`]);
    assert.match(read.stdout, /end/);
    assert.doesNotMatch(read.stdout, /access-|refresh-/);
    write(place, "a.chat", "echo");
    await exits(0, ["advance", "a.chat"]);
    assert.match(place.read("a.chat"), /echo done/);
  },
  { ring: false },
);

test("a keyring that refuses counts as none", async ({ place, server, exits }) => {
  const { stderr } = await exits(0, ["auth", "mcp", "web"], { env: { LOCKED: "1" } });
  assert.match(stderr, /the tokens are in a file/);
  assert.ok(server.secrets.some((secret) => signInFiles(place).includes(secret)));
});

/** Names of the entries in the keyring. */
function ringOf(place: Scene): string[] {
  return [...Deno.readDirSync(`${place.folder}/ring`)].map(({ name }) => name).filter((name) =>
    name !== "calls"
  );
}

const LOCKED = { env: { LOCKED: "1" } };

test("while the keyring refuses, the person can sign in again, and later nothing of both is left", async ({ place, exits }) => {
  await exits(0, ["auth", "mcp", "web"]);
  assert.equal(ringOf(place).length, 1);
  assert.match((await exits(0, ["auth", "mcp", "web"], LOCKED)).stderr, /the tokens are in a file/);
  write(place, "a.chat", "echo");
  await exits(0, ["advance", "a.chat"], LOCKED);
  assert.match(place.read("a.chat"), /echo done/);
  assert.equal(ringOf(place).length, 1);
  await exits(0, ["auth", "mcp", "web", "--remove"]);
  assert.deepEqual(ringOf(place), []);
});

test("an earlier sign-in is removed from the keyring once the keyring works again", async ({ place, exits }) => {
  await exits(0, ["auth", "mcp", "web"]);
  await exits(0, ["auth", "mcp", "web"], LOCKED);
  const [old] = ringOf(place);
  await exits(0, ["auth", "mcp", "web"]);
  assert.equal(ringOf(place).length, 1);
  assert.ok(signInFiles(place).includes('"kept":"keyring"'));
  assert.doesNotMatch(signInFiles(place), /"left":\["/);
  await exits(0, ["auth", "mcp", "web", "--remove"]);
  assert.deepEqual(ringOf(place), [], old);
});

test("if the keyring refuses to remove a sign-in, the message names its entry, and the sign-in is no longer used", async ({ place, exits }) => {
  await exits(0, ["auth", "mcp", "web"]);
  const [entry = ""] = ringOf(place);
  const { stderr } = await exits(1, ["auth", "mcp", "web", "--remove"], LOCKED);
  assert.match(stderr, /was removed, but not its tokens in the keyring: The keyring failed: .*locked/);
  assert.match(stderr, /Delete them with the keyring's own program, by this name: mcp:127\.0\.0\.1:/);
  assert.ok(stderr.includes(entry.replace(".access_token", "")), entry);
  assert.doesNotMatch((await exits(0, ["auth", "show"])).stdout, /signed in at/);
  await exits(0, ["auth", "mcp", "web"]);
});

for (const damage of ["{", "{}", '{"name":"web"}', "folder"]) {
  test(`a damaged record of a sign-in counts as none: ${damage}`, async ({ place, exits }) => {
    await exits(0, ["auth", "mcp", "web"]);
    const folder = `${place.folder}/state/flemma/sign-ins`;
    const [{ name } = { name: "" }] = [...Deno.readDirSync(folder)].filter(({ name }) =>
      name.endsWith(".json")
    );
    await Deno.remove(`${folder}/${name}`);
    if (damage === "folder") await Deno.mkdir(`${folder}/${name}`);
    else await Deno.writeTextFile(`${folder}/${name}`, damage);
    assert.doesNotMatch((await exits(0, ["auth", "show"])).stdout, /signed in at/);
    assert.match((await exits(1, ["auth", "mcp", "web", "--remove"])).stderr, /There is no sign-in/);
    if (damage === "folder") return;
    await exits(0, ["auth", "mcp", "web"]);
    assert.match((await exits(0, ["auth", "show"])).stdout, /signed in at/);
  });
}

test("a server of a project is signed in to only after the file is trusted, and does not share your own sign-in", async ({ place, server, exits }) => {
  await exits(0, ["auth", "mcp", "web"]);
  place.write(
    ".mcp.json",
    JSON.stringify({ mcpServers: { theirs: { url: server.url, oauth: { clientSecret: "x" } } } }),
  );
  assert.match((await exits(2, ["auth", "mcp", "theirs"])).stderr, /is not trusted\.\n.*flemma trust/);
  const trusted = await exits(0, ["trust", ".mcp.json"], { stdin: "y\n" });
  assert.match(trusted.stdout + trusted.stderr, /theirs is at http.* and uses your sign-in there/);
  const { stderr } = await exits(1, ["tools", "list"]);
  assert.match(stderr, /theirs could not list its tools: it cannot be used yet: it needs a sign-in\./);
  const checked = await exits(0, ["config", "check"]);
  assert.match(
    checked.stdout + checked.stderr,
    /a project may not set these members of oauth.*theirs: clientSecret/,
  );
  await exits(0, ["auth", "mcp", "theirs"]);
  assert.equal(server.registrations, 2);
});

test("a server that has a token in its settings gets no other, even after a sign-in", async ({ place, server, exits }) => {
  await exits(0, ["auth", "mcp", "web"]);
  place.settings(
    `tools: { autopilot: { enabled: false } }\nmcp: { servers: { web: { url: "${server.url}", headers: { Authorization: "Bearer mine" } } } }\n`,
  );
  write(place, "a.chat", "echo");
  const { stderr } = await exits(3, ["advance", "a.chat"]);
  assert.match(stderr, /headers/);
  assert.equal(server.calls.echo ?? 0, 0);
});
