// Keys from programs in PATH: fakes that store keys in a folder, and refuse what real ones refuse.

import assert from "node:assert/strict";
import type { Environment } from "../../base/environment.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { resolveCredential } from "../../providers/keys/credentials.ts";
import { askHelper, findHelper } from "../../providers/keys/key_program.ts";
import { systemKeyring } from "../../providers/keys/keyring.ts";
import { KeyMemory } from "../../providers/keys/memory.ts";
import { keyringResolver } from "../../providers/keys/resolvers.ts";
import { keyReport, keyWords } from "../../providers/keys/sources.ts";
import type { CredentialAnswer, CredentialResolver, KeyOwner } from "../../providers/keys/types.ts";
import { inFolder, writeProgram } from "../folder.ts";
import { GCLOUD, SECRET_TOOL, SECURITY } from "./key_helpers.ts";

const CLAUDE: KeyOwner = { name: "anthropic", display: "Anthropic", keyVariables: ["ANTHROPIC_API_KEY"] };
const VERTEX: KeyOwner = {
  name: "vertex",
  display: "Vertex AI",
  keyVariables: ["VERTEX_ACCESS_TOKEN", "VERTEX_AI_ACCESS_TOKEN"],
  keyKind: "access_token",
};

interface Place {
  readonly environment: Environment;
  readonly ring: string;
  with(variables: Record<string, string>): Environment;
  settings(providers: Settings["providers"], gcloud?: string): Settings;
}

async function withHelpers(
  helpers: Record<string, string>,
  body: (place: Place) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    const ring = `${folder}/ring`;
    await Deno.mkdir(ring);
    await Deno.mkdir(`${folder}/bin`);
    for (const [name, text] of Object.entries(helpers)) {
      writeProgram(`${folder}/bin/${name}`, text);
    }
    const variables = { PATH: `${folder}/bin:/usr/bin:/bin`, RING: ring };
    // The helpers of this machine must stay out of it.
    for (const name of ["secret-tool", "security", "gcloud"]) {
      if (helpers[name] === undefined) {
        writeProgram(`${folder}/bin/${name}`, "#!/bin/sh\necho 'not here' >&2; exit 9\n");
      }
    }
    const environment = { cwd: folder, home: folder, variables };
    await body({
      environment,
      ring,
      with: (more) => ({ ...environment, variables: { ...variables, ...more } }),
      settings: (providers, gcloud = "gcloud") => ({
        ...DEFAULT_SETTINGS,
        providers,
        secrets: { gcloud: { path: gcloud } },
      }),
    });
  });
}

async function found(query: Parameters<typeof resolveCredential>[0]): Promise<string> {
  const credential = await resolveCredential(query);
  return credential.ok
    ? `${credential.value.secret} from ${credential.value.source}`
    : credential.problem.message;
}

Deno.test("a key comes from the environment variable, else from the person's command, else from the keyring", async () => {
  await withHelpers({ "secret-tool": SECRET_TOOL }, async (place) => {
    const keyring = systemKeyring(place.environment, "linux")!;
    assert.equal(await keyring.store("anthropic", "api_key", "ring-key"), null);
    const settings = place.settings({ anthropic: { key_command: "printf 'command-key\\nuser: me\\n'" } });
    const environment = place.with({ ANTHROPIC_API_KEY: "variable-key" });
    assert.equal(
      await found({ provider: CLAUDE, environment, settings }),
      "variable-key from ANTHROPIC_API_KEY",
    );
    assert.equal(
      await found({ provider: CLAUDE, environment: place.environment, settings }),
      "command-key from providers.anthropic.key_command",
    );
    assert.equal(
      await found({ provider: CLAUDE, environment: place.environment, settings: place.settings({}) }),
      "ring-key from the keyring (secret-tool)",
    );
  });
});

Deno.test("a key command may be a list of words, and if it fails, the next source is used and the reason is reported", async () => {
  await withHelpers({ "secret-tool": SECRET_TOOL }, async (place) => {
    const { environment } = place;
    const ask = (key_command: string | readonly string[]) =>
      found({ provider: CLAUDE, environment, settings: place.settings({ anthropic: { key_command } }) });
    assert.match(await ask(["printf", "%s", "$HOME is text"]), /contains spaces/);
    assert.match(await ask(["printf", "%s", "$HOME"]), /^\$HOME from/);
    assert.match(
      await ask("echo no such entry >&2; exit 1"),
      /key_command: no such entry; keyring: it does not contain the key/,
    );
    assert.match(await ask("exit 3"), /key_command: it ended with 3/);
    assert.match(await ask("true"), /key_command: it printed nothing/);
    assert.match(await ask(["/no/such/program"]), /key_command: .*(?:No such file|not found|failed)/i);
  });
});

Deno.test("a key command that takes too long is ended", async () => {
  await withHelpers({}, async ({ environment }) => {
    assert.deepEqual(await askHelper(["/bin/sh", "-c", "exec sleep 60"], { environment, seconds: 0.05 }), {
      reason: "no answer within 0.05 s",
    });
  });
});

Deno.test("a keyring returns a stored key, also one stored under the older name, and deletes both", async () => {
  for (
    const [system, helpers] of [["linux", { "secret-tool": SECRET_TOOL }], ["darwin", {
      security: SECURITY,
    }]] as const
  ) {
    await withHelpers(helpers, async ({ environment, ring }) => {
      const keyring = systemKeyring(environment, system)!;
      const key = `sk-"odd\\key'x`;
      assert.deepEqual(await keyring.lookup("anthropic", "api_key"), {
        reason: "it does not contain the key",
      });
      assert.equal(await keyring.store("anthropic", "api_key", key), null);
      const kept = await keyring.lookup("anthropic", "api_key");
      assert.equal("output" in kept && kept.output.trimEnd(), key);
      const calls = await Deno.readTextFile(`${ring}/calls`);
      assert.doesNotMatch(calls, /odd/, "a key is never an argument");
      assert.deepEqual(await keyring.remove("anthropic", "api_key"), { ok: true, value: true });
      assert.deepEqual(await keyring.remove("anthropic", "api_key"), { ok: true, value: false });
      await Deno.writeTextFile(`${ring}/anthropic.api`, "older-key\n");
      const older = await keyring.lookup("anthropic", "api_key");
      assert.equal("output" in older && older.output.trimEnd(), "older-key");
      assert.deepEqual(await keyring.lookup("anthropic", "access_token"), {
        reason: "it does not contain the key",
      });
      assert.deepEqual(await keyring.remove("anthropic", "api_key"), { ok: true, value: true });
    });
  }
  assert.equal(systemKeyring({ cwd: "/", home: "/", variables: { PATH: "/nowhere" } }, "linux"), null);
  assert.equal(systemKeyring({ cwd: "/", home: "/", variables: { PATH: "/nowhere" } }, "darwin"), null);
  assert.equal(systemKeyring({ cwd: "/", home: "/", variables: {} }, "windows"), null);
});

Deno.test("if a keyring is locked, flemma reports this, and no key is lost", async () => {
  await withHelpers({ "secret-tool": SECRET_TOOL }, async (place) => {
    const keyring = systemKeyring(place.with({ LOCKED: "1" }), "linux")!;
    const stored = await keyring.store("anthropic", "api_key", "k");
    assert.match(stored?.message ?? "", /locked object/);
    const removed = await keyring.remove("anthropic", "api_key");
    assert.ok(!removed.ok && /locked object/.test(removed.problem.message));
    const environment = place.with({ LOCKED: "1" });
    assert.match(
      await found({ provider: CLAUDE, environment }),
      /keyring: secret-tool: Cannot get secret of a locked/,
    );
  });
});

Deno.test("gcloud creates access tokens; if there is a service account, its file exists only temporarily", async () => {
  await withHelpers({ gcloud: GCLOUD, "secret-tool": SECRET_TOOL }, async (place) => {
    const ask = (environment: Environment) =>
      found({ provider: VERTEX, environment, settings: place.settings({}) });
    assert.equal(await ask(place.environment), "token-of-me from gcloud");
    const account = '{"type":"service_account","name":"robot"}';
    assert.equal(await ask(place.with({ VERTEX_SERVICE_ACCOUNT: account })), "token-of-robot from gcloud");
    assert.equal((await Deno.readTextFile(`${place.ring}/mode`)).trim(), "600");
    assert.throws(() => Deno.statSync(Deno.readTextFileSync(`${place.ring}/file`)), Deno.errors.NotFound);
    assert.equal(await ask(place.with({ VERTEX_SERVICE_ACCOUNT: "nonsense" })), "token-of-me from gcloud");
    await Deno.writeTextFile(`${place.ring}/vertex.service_account`, account.replace("robot", "kept"));
    assert.equal(await ask(place.environment), "token-of-kept from gcloud");
    assert.match(await ask(place.with({ LOGGED_OUT: "1" })), /gcloud: ERROR: .* active account/);
    assert.match(
      await found({
        provider: VERTEX,
        environment: place.environment,
        settings: place.settings({}, "/no/gcloud"),
      }),
      /gcloud: the program \/no\/gcloud was not found/,
    );
    assert.equal(
      await found({ provider: VERTEX, environment: place.with({ VERTEX_AI_ACCESS_TOKEN: "t" }) }),
      "t from VERTEX_AI_ACCESS_TOKEN",
    );
    // Keys that hold for ever are not gcloud's.
    assert.doesNotMatch(await found({ provider: CLAUDE, environment: place.environment }), /gcloud/);
  });
});

Deno.test("a key is requested once per run, and a token again when it expires or is refused", async () => {
  let asked = 0;
  let now = 0;
  const resolver: CredentialResolver = {
    name: "counted",
    resolve: () => Promise.resolve({ secret: `k${++asked}`, source: "counted", lifetime: 100 }),
  };
  const keys = new KeyMemory(() => now, [resolver]);
  const get = async () => {
    const key = await keys.get({ provider: CLAUDE, environment: { cwd: "/", home: "/", variables: {} } });
    return key.ok ? key.value.secret : null;
  };
  assert.deepEqual([await get(), await get()], ["k1", "k1"]);
  now = 99_999;
  assert.equal(await get(), "k1");
  now = 100_000;
  assert.equal(await get(), "k2");
  const query = { provider: CLAUDE, environment: { cwd: "/", home: "/", variables: {} } };
  assert.equal(await keys.renew(query), true);
  assert.equal(await get(), "k3");
});

Deno.test("a report of keys names where a key comes from without running the person's command", async () => {
  await withHelpers({ "secret-tool": SECRET_TOOL, gcloud: GCLOUD }, async (place) => {
    const { environment, ring } = place;
    const source = async (provider: KeyOwner, providers: Settings["providers"] = {}) => {
      const answer = await keyReport(
        { provider, environment, settings: place.settings(providers) },
        keyringResolver(() => systemKeyring(environment, "linux")),
      );
      return keyWords(answer);
    };
    assert.match(await source(CLAUDE), /^No key for Anthropic was found/);
    assert.equal(await source({ ...CLAUDE, keyOptional: true }), "none needed");
    assert.equal(await source({ ...CLAUDE, keyVariables: [] }), "none needed");
    assert.equal(
      await source(CLAUDE, { anthropic: { key_command: `touch ${ring}/ran` } }),
      "from the command in providers.anthropic.key_command",
    );
    assert.equal(await source(VERTEX), "from gcloud");
    assert.throws(() => Deno.statSync(`${ring}/ran`), Deno.errors.NotFound);
    assert.doesNotMatch(await Deno.readTextFile(`${ring}/calls`), /print-access-token/);
  });
});

Deno.test("key programs are searched only in absolute folders of PATH, and must be executable", async () => {
  await withHelpers({ gcloud: GCLOUD }, async ({ environment }) => {
    await Deno.writeTextFile(`${environment.cwd}/bin/text`, "no program", { mode: 0o644 });
    const find = (name: string, PATH: string) => findHelper(name, { ...environment, variables: { PATH } });
    const bin = `${environment.cwd}/bin`;
    assert.equal(find("gcloud", bin), `${bin}/gcloud`);
    assert.equal(find("gcloud", "bin"), null);
    assert.equal(find("gcloud", ""), null);
    assert.equal(find("text", bin), null);
    assert.equal(find("bin/gcloud", ""), `${bin}/gcloud`);
    assert.equal(find(`${bin}/none`, bin), null);
  });
});

Deno.test("flemma suggests storing a key in a keyring only if a keyring accepts it", async () => {
  const advice = async (answer: CredentialAnswer) => {
    const places = [{ name: "keyring", resolve: () => Promise.resolve(answer) }];
    const environment = { cwd: "/", home: "/", variables: {} };
    const found = await resolveCredential({ provider: CLAUDE, environment }, places);
    return found.ok ? "" : found.problem.next ?? "";
  };
  assert.match(
    await advice({ reason: "it does not contain the key", keeps: true }),
    /ANTHROPIC_API_KEY.*flemma auth set anthropic/,
  );
  for (const answer of [{ reason: "none is available" }, { reason: "it is locked", keeps: false }, null]) {
    assert.match(
      await advice(answer),
      /^Set the variable ANTHROPIC_API_KEY, for example export ANTHROPIC_API_KEY=…$/,
    );
  }
  await withHelpers(
    { "secret-tool": "#!/bin/sh\necho 'Cannot autolaunch D-Bus' >&2\nexit 1\n" },
    async ({ environment }) => {
      const keyring = keyringResolver(() => systemKeyring(environment, "linux"));
      const answer = await keyring.resolve({ provider: CLAUDE, environment });
      assert.ok(answer !== null && "reason" in answer && answer.keeps === false, JSON.stringify(answer));
    },
  );
  await withHelpers({ "secret-tool": SECRET_TOOL }, async ({ environment }) => {
    const keyring = keyringResolver(() => systemKeyring(environment, "linux"));
    const answer = await keyring.resolve({ provider: CLAUDE, environment });
    assert.ok(answer !== null && "reason" in answer && answer.keeps === true, JSON.stringify(answer));
  });
});
