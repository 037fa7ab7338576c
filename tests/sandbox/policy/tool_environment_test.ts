// Which environment variables reach a tool.

import assert from "node:assert/strict";
import { KNOWN_PROVIDERS } from "../../../providers/known.ts";
import {
  HARMLESS_NAMES,
  isAddressWithCredentials,
  isCredential,
  OTHER_CREDENTIALS,
  PROVIDER_CREDENTIALS,
  PROXY_NAMES,
} from "../../../sandbox/policy/credentials.ts";
import { toolEnvironment, withheldVariables } from "../../../sandbox/mod.ts";
import { testInFolder as test } from "../../folder.ts";

const NOTHING = { block: [], pass: [] };

/** The names among `names` that reach a tool. */
function reach(
  names: readonly string[],
  settings = NOTHING as { block: string[]; pass: string[] },
): string[] {
  const variables = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
  const kept = toolEnvironment(variables, settings, { sandboxed: true });
  return names.filter((name) => kept[name] === `value of ${name}`);
}

Deno.test("the key of the person's own server never reaches a tool, nor does another variable with the same value", () => {
  const variables = { LAB_API_KEY: "a key of a server at home", COPY: "a key of a server at home", CI: "1" };
  const settings = { ...NOTHING, keys: ["LAB_API_KEY"] };
  const kept = toolEnvironment(variables, settings, { sandboxed: true });
  assert.deepEqual(Object.keys(kept).filter((name) => name in variables), ["CI"]);
  const passed = toolEnvironment(variables, { ...settings, pass: ["LAB_API_KEY"] }, { sandboxed: true });
  assert.equal(passed.LAB_API_KEY, variables.LAB_API_KEY);
});

Deno.test("credentials of model providers never reach a tool, sandboxed or not", () => {
  const secrets = [...Object.values(PROVIDER_CREDENTIALS).flat(), ...OTHER_CREDENTIALS];
  for (const { name, keyVariables } of Object.values(KNOWN_PROVIDERS)) {
    const missing = keyVariables.filter((variable) => !PROVIDER_CREDENTIALS[name]?.includes(variable));
    assert.deepEqual(missing, [], name);
  }
  const variables = Object.fromEntries([...secrets, "PATH", "HOME", "CI"].map((name) => [name, "secret"]));
  for (const sandboxed of [true, false]) {
    const kept = toolEnvironment(variables, NOTHING, { sandboxed });
    assert.deepEqual(secrets.filter((name) => name in kept), []);
    assert.equal(kept.PATH, "secret");
    assert.equal(kept.CI, "secret");
  }
});

Deno.test("a credential is recognized by its provider, whatever the rest of its name", () => {
  const names = [
    ..."CLAUDE_API_KEY OPENAI_KEY AZURE_API_KEY AI_GATEWAY_API_KEY LANGSMITH_API_KEY openai_api_key".split(
      " ",
    ),
    ..."OpenAI_Api_Key ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN ANTHROPIC_API_KEY_2 OPENAI_KEY3".split(
      " ",
    ),
    ..."VITE_OPENAI_API_KEY NEXT_PUBLIC_GEMINI_API_KEY MY_ANTHROPIC_KEY OPENAIKEY OPENAI_APIKEY".split(" "),
    ..."OPENAI_API_KEYS API_KEY_OPENAI TEAM_TOKEN_HF HF_TOKEN HUGGINGFACEHUB_API_TOKEN OPENAI_SECRET".split(
      " ",
    ),
    ..."AZURE_OPENAI_AD_TOKEN GOOGLE_GENERATIVE_AI_API_KEY DEEPSEEK_API_KEY LANGFUSE_SECRET_KEY".split(" "),
    ..."XAI_API_KEY ZAI_API_KEY KIMI_API_KEY DASHSCOPE_API_KEY WATSONX_APIKEY OPENROUTER_API_KEY".split(" "),
    ..."CODESTRAL_API_KEY MISTRAL_API_KEY GROQ_API_KEY CEREBRAS_API_KEY REPLICATE_API_TOKEN".split(" "),
    ..."VOYAGE_API_KEY JINA_API_KEY COHERE_API_KEY CO_API_KEY PERPLEXITY_API_KEY NVIDIA_NIM_API_KEY".split(
      " ",
    ),
    ..."TOGETHER_AI_API_KEY FIREWORKS_AI_API_KEY GITHUB_COPILOT_TOKEN OPENCODE_API_KEY".split(" "),
  ];
  assert.deepEqual(names.filter((name) => !isCredential(name)), []);
});

Deno.test("a word for a credential between underscores is enough, in upper or lower case", () => {
  const names = [
    ..."AIHUBMIX_API_KEY BAICHUAN_API_KEY MODELSCOPE_API_KEY LMSTUDIO_API_KEY VLLM_API_KEY NIM_API_KEY".split(
      " ",
    ),
    ..."INFERENCE_API_KEY CURSOR_API_KEY DATABRICKS_TOKEN ANYTHING_API_KEY_PROD X_API_KEY_2 KEY TOKEN SECRET"
      .split(" "),
    ..."MAPS_API_KEY STRIPE_API_KEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN"
      .split(" "),
    ..."NPM_TOKEN SECRET_KEY_BASE DB_PASSWORD PASSWORD PGPASSWORD SMTP_PASS MYSQL_PWD SSHPASS BORG_PASSPHRASE"
      .split(" "),
    ..."GOOGLE_APPLICATION_CREDENTIALS CREDENTIALS_DIRECTORY TWINE_PASSWORD CI_JOB_TOKEN SIGNING_SECRETS"
      .split(" "),
    ..."DENO_AUTH_TOKENS github_token Db_Password OPENAIKEY OPENAI_APIKEY X_PRIVATEKEY MY.TOKEN KEY1 TOKEN_2"
      .split(" "),
    "npm_config_//registry.example.org/:_authToken",
    "npm_config__auth",
  ];
  assert.deepEqual(names.filter((name) => !isCredential(name)), []);
  assert.deepEqual(reach(names), []);
  assert.deepEqual(
    reach(names, { block: [], pass: ["*"] }),
    names,
    "the person's list of variables to pass wins",
  );
});

Deno.test("a name that only contains such letters, or is listed as harmless, reaches a tool", () => {
  const names = [
    ..."TOKENIZERS_PARALLELISM MAX_TOKENS TOKENS OPENAI_MAX_TOKENS ANTHROPIC_MODEL OPENAI_BASE_URL MONKEY"
      .split(" "),
    ..."KEYBOARD OPENAI_KEYBOARD TURKEY KEYTIMEOUT PASSAGE BYPASS COMPASS_HOME SECRETARY PATH HOME CI PWD OLDPWD"
      .split(" "),
    ..."SSH_ASKPASS GIT_ASKPASS SUDO_ASKPASS GNOME_KEYRING_CONTROL TOKENIZER_KEYSPACE CREDENTIALISM".split(
      " ",
    ),
    ..."GIT_AUTHOR_NAME GIT_CONFIG_COUNT GIT_CONFIG_GLOBAL GIT_SSH_COMMAND MONKEY_TOKENS".split(" "),
    ...HARMLESS_NAMES.map((name) => name.replace("*", "0")),
  ];
  assert.deepEqual(reach(names), names);
});

Deno.test("an address with credentials is withheld whatever its name, except that of a proxy", () => {
  const rows: readonly (readonly [value: string, holds: boolean])[] = [
    ["postgres://me:pw@db.example.org/x", true],
    ["redis://:pw@localhost:6379", true],
    ["jdbc:postgresql://me:pw@db/x", true],
    ["a=https://x.org https://me:pw@y.org", true],
    ["https://ghx_0123@github.com/x.git", true],
    ["postgres://db/x?user=me&password=pw", true],
    ["https://x.org/hook?access_token=1", true],
    ["Server=db;User=me;Password=pw;", true],
    ["DefaultEndpointsProtocol=https;AccountName=a;AccountKey=k==;", true],
    ["https://example.org:8443/a@b", false],
    ["https://example.org/a:b@c", false],
    ["ssh://git@example.org/x.git", false],
    ["git@example.org:x.git", false],
    ["postgres://db.example.org/x", false],
    ["https://x.org/?q=token", false],
    ["https://x.org/?token=", false],
    ["rs=0:di=01;34:ln=01;36:*.key=01;31", false],
    ["password", false],
    ["a:b@c", false],
  ];
  for (const [value, holds] of rows) {
    assert.equal(isAddressWithCredentials("SERVICE", value), holds, value);
    assert.equal(
      "SERVICE" in toolEnvironment({ SERVICE: value }, NOTHING, { sandboxed: true }),
      !holds,
      value,
    );
  }
  const passed = { block: [], pass: ["SERVICE"] };
  assert.ok("SERVICE" in toolEnvironment({ SERVICE: rows[0]![0] }, passed, { sandboxed: true }));
  for (const name of [...PROXY_NAMES, "https_proxy"]) {
    assert.ok(
      name in toolEnvironment({ [name]: "http://me:pw@proxy:3128" }, NOTHING, { sandboxed: true }),
      name,
    );
  }
});

Deno.test("in the list of withheld variables, each provider and each variable occurs once", () => {
  const all = [...Object.values(PROVIDER_CREDENTIALS).flat(), ...OTHER_CREDENTIALS];
  assert.equal(new Set(all).size, all.length);
});

Deno.test("a variable is withheld if its value is the key in a withheld variable", () => {
  const key = "sk-ant-0123456789abcdef";
  const variables = { ANTHROPIC_API_KEY: key, MY_LLM: key, OLLAMA_API_KEY: "ollama", USER: "ollama" };
  const kept = (pass: string[]) =>
    Object.keys(toolEnvironment(variables, { block: [], pass }, { sandboxed: true }))
      .filter((name) => name in variables);
  assert.deepEqual(kept([]), ["USER"]);
  assert.deepEqual(kept(["MY_LLM"]), ["MY_LLM", "USER"]);
  assert.deepEqual(kept(["ANTHROPIC_API_KEY"]), ["ANTHROPIC_API_KEY", "MY_LLM", "USER"]);
});

Deno.test("variables that make git and cd use other folders are removed unless the settings pass them", () => {
  const names = [
    ..."GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_OBJECT_DIRECTORY GIT_PREFIX CDPATH GIT_COMMON_DIR".split(
      " ",
    ),
    ..."GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_GRAFT_FILE GIT_SHALLOW_FILE GIT_QUARANTINE_PATH"
      .split(" "),
  ];
  assert.deepEqual(reach(names), []);
  assert.deepEqual(reach(names, { block: [], pass: ["GIT_DIR", "CD*"] }), ["GIT_DIR", "CDPATH"]);
});

Deno.test("the addresses of agents such as ssh-agent are withheld only inside the sandbox", () => {
  const agents = { SSH_AUTH_SOCK: "s", GPG_AGENT_INFO: "g", DBUS_SESSION_BUS_ADDRESS: "d" };
  const names = (sandboxed: boolean) => Object.keys(toolEnvironment(agents, NOTHING, { sandboxed }));
  for (const name of Object.keys(agents)) {
    assert.ok(!names(true).includes(name));
    assert.ok(names(false).includes(name));
  }
});

Deno.test("a person can block and pass variables by name and by pattern, and blocking takes precedence", () => {
  const variables = { OPENAI_API_KEY: "o", GITHUB_REPO: "g", AWS_REGION: "a", "A.B": "dot", AXB: "x" };
  const kept = (block: string[], pass: string[]) => {
    const result = toolEnvironment(variables, { block, pass }, { sandboxed: true });
    return Object.keys(variables).filter((name) => name in result);
  };
  assert.deepEqual(kept([], []), ["GITHUB_REPO", "AWS_REGION", "A.B", "AXB"]);
  assert.deepEqual(kept(["*_REPO", "AWS_*"], []), ["A.B", "AXB"]);
  assert.deepEqual(kept(["A.B"], ["OPENAI_*"]), ["OPENAI_API_KEY", "GITHUB_REPO", "AWS_REGION", "AXB"]);
  assert.deepEqual(kept(["*"], ["*"]), []);
});

Deno.test("the list of withheld variables contains their names but not their values", () => {
  const variables = { OPENAI_API_KEY: "o", GIT_DIR: "/x", SSH_AUTH_SOCK: "/s", NPM_CACHE: "n", PATH: "/bin" };
  const settings = { block: ["NPM_*"], pass: [] };
  assert.deepEqual(
    withheldVariables(variables, settings, { sandboxed: true, kept: ["SSH_AUTH_SOCK"] }),
    ["GIT_DIR", "NPM_CACHE", "OPENAI_API_KEY"],
  );
  assert.deepEqual(withheldVariables({ PATH: "/bin" }, NOTHING, { sandboxed: true }), []);
});

Deno.test("of all credentials, a server of the person's own settings lacks only keys of model providers and blocked variables", () => {
  const variables = {
    OPENAI_API_KEY: "a-key-of-a-provider",
    COPY: "a-key-of-a-provider",
    LAB_KEY: "k",
    GIT_DIR: "/x",
    NPM_TOKEN: "n",
    GITHUB_TOKEN: "t",
    DATABASE_URL: "postgres://me:pw@host/db",
  };
  const settings = { block: ["NPM_*"], pass: [], keys: ["LAB_KEY"] };
  const options = { sandboxed: true, passCredentials: true };
  assert.deepEqual(
    withheldVariables(variables, settings, options),
    ["COPY", "GIT_DIR", "LAB_KEY", "NPM_TOKEN", "OPENAI_API_KEY"],
  );
});

Deno.test("programs cannot page, prompt, open an editor or use colors, whatever the caller has set", () => {
  const caller = { PAGER: "less", GIT_EDITOR: "vim", EDITOR: "vim", HGEDITOR: "vim", NO_COLOR: "" };
  const kept = toolEnvironment(caller, NOTHING, { sandboxed: true });
  const { EDITOR, ...rest } = kept;
  assert.match(EDITOR!, /exit 1/);
  assert.deepEqual(rest, {
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
    VISUAL: EDITOR,
    GIT_EDITOR: EDITOR,
    GIT_SEQUENCE_EDITOR: EDITOR,
    HGEDITOR: EDITOR,
    NO_COLOR: "1",
  });
  const asked = toolEnvironment(caller, { block: ["NO_COLOR"], pass: ["EDITOR", "VISUAL", "*"] }, {
    sandboxed: true,
  });
  assert.equal(asked.EDITOR, "vim");
  assert.ok(!("NO_COLOR" in asked));
  // Nothing was there to be passed, and a pattern does not mean to wait for an editor.
  assert.equal(asked.VISUAL, EDITOR);
  assert.equal(asked.GIT_EDITOR, EDITOR);
});

test("where git would open an editor, it fails and suggests another command, and that command works", async (folder) => {
  const env = {
    ...toolEnvironment({ PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin", EDITOR: "true" }, NOTHING, {
      sandboxed: false,
    }),
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.org",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.org",
  };
  const sh = async (command: string) => {
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", command],
      cwd: folder,
      clearEnv: true,
      env,
      stdin: "null",
    }).output();
    return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
  };
  const set = await sh(
    "git init -q -b main . && echo 1 > f && git add f && git commit -qm one && git checkout -qb side && " +
      "echo 2 > f && git commit -qam two && git checkout -q main && echo 3 > f && git commit -qam three",
  );
  assert.equal(set.code, 0, set.err);
  for (const command of ["git commit --amend", "git rebase -i HEAD~1", "git commit --allow-empty"]) {
    const { code, err } = await sh(command);
    assert.notEqual(code, 0, command);
    assert.match(err, /No editor is available.*-m TEXT.*--no-edit/, command);
  }
  assert.equal((await sh("git log --oneline | wc -l")).out.trim(), "2");
  assert.equal((await sh("git commit --amend --no-edit && git commit --amend -m again")).code, 0);
  const sequence = await sh("GIT_SEQUENCE_EDITOR='sed -i s/^pick/drop/' git rebase -i HEAD~1");
  assert.equal(sequence.code, 0, sequence.err);
  assert.equal(
    (await sh("echo 3 > f && git commit -qam three && git rebase side; echo 23 > f; git add f")).code,
    0,
  );
  const stopped = await sh("git rebase --continue");
  assert.match(stopped.err, /GIT_EDITOR=true git \.\.\. --continue/);
  assert.equal((await sh("GIT_EDITOR=true git rebase --continue")).code, 0);
  assert.equal(
    (await sh("git checkout -qb other HEAD~1 && echo 9 > f && git commit -qam nine; git merge main")).code,
    1,
  );
  await sh("echo 239 > f; git add f");
  assert.match((await sh("git merge --continue")).err, /No editor is available/);
  assert.equal((await sh("git commit --no-edit")).code, 0);
});
