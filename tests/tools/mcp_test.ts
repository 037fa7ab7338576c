// Servers of tools: real ones that nobody here wrote, and one of ours that misbehaves.

import assert from "node:assert/strict";
import { chatInMemory } from "../../agent/open.ts";
import { environmentAt } from "../../base/environment.ts";
import type { McpServer } from "../../config/settings.ts";
import { freshFolder } from "../folder.ts";

const MISBEHAVING = new URL("mcp_servers/misbehaving.ts", import.meta.url).pathname;
const deno = (...args: string[]): McpServer => ({
  command: Deno.execPath(),
  args: ["run", "-A", "--quiet", ...args],
  // Fetched once for all tests.
  env: { DENO_DIR: denoFolder() },
});
const EVERYTHING = "npm:@modelcontextprotocol/server-everything@2026.8.31";
const FILES = "npm:@modelcontextprotocol/server-filesystem@2026.8.31";

interface Place {
  readonly folder: string;
  /** Runs calls of tools of these servers in one document; answers its text. */
  run(
    servers: Record<string, McpServer>,
    calls: readonly Call[],
  ): Promise<{ text: string; notices: string[] }>;
}

interface Call {
  readonly name: string;
  readonly input?: Record<string, unknown>;
}

async function withPlace(body: (place: Place) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await freshFolder("flemma-mcp-"));
  for (const name of ["work", "tmp"]) await Deno.mkdir(`${folder}/${name}`);
  const here = environmentAt(`${folder}/work`);
  const environment = {
    ...here,
    home: folder,
    variables: {
      ...here.variables,
      HOME: folder,
      XDG_STATE_HOME: `${folder}/state`,
      XDG_CACHE_HOME: `${folder}/cache`,
      XDG_CONFIG_HOME: `${folder}/config`,
      XDG_RUNTIME_DIR: `${folder}/run`,
      TMPDIR: `${folder}/tmp`,
    },
  };
  try {
    await body({
      folder: `${folder}/work`,
      run: async (servers, calls) => {
        const uses = calls.map(({ name, input = {} }, at) =>
          `**Tool Use:** \`${name}\` (\`call_${at}\`)\n\n\`\`\`json\n${JSON.stringify(input)}\n\`\`\`\n\n`
        );
        const answers = calls.map((_, at) =>
          `**Tool Result:** \`call_${at}\`\n\n\`\`\`flemma:tool status=approved\n\`\`\`\n\n`
        );
        const text = `@You:\nGo.\n\n@Assistant:\nI will.\n\n${uses.join("")}@You:\n\n${answers.join("")}`;
        const notices: string[] = [];
        const opened = await chatInMemory(new TextEncoder().encode(text), {
          environment,
          path: `${folder}/work/a.chat`,
          settings: {
            overrides: {
              mcp: { servers },
              tools: { autopilot: { enabled: false }, max_concurrent: 0 },
              trust: { documents: "always" },
            },
          },
          emit: (event) => void (event.event === "notice" && notices.push(`${event.code}: ${event.message}`)),
        });
        assert.ok(opened.ok, JSON.stringify(opened));
        await using chat = opened.value;
        await chat.advance();
        return { text: new TextDecoder().decode(chat.chat.bytes), notices };
      },
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What stands in the result of a call. */
function result(text: string, at: number): string {
  const found = new RegExp(`\\*\\*Tool Result:\\*\\* \`call_${at}\`([^]*?)(?=\\n\\*\\*Tool Result|$)`).exec(
    text,
  );
  return found?.[1] ?? "";
}

Deno.test("a real server is started, asked and called: text, image, resource, structured answer, error", () =>
  withPlace(async (place) => {
    const { text, notices } = await place.run({ every: { ...deno(EVERYTHING), sandbox: false } }, [
      { name: "every:echo", input: { message: "hello" } },
      { name: "every:get-sum", input: { a: 2, b: 3 } },
      { name: "every:get-tiny-image" },
      { name: "every:get-structured-content", input: { location: "New York" } },
      { name: "every:echo", input: { wrong: 1 } },
    ]);
    assert.deepEqual(notices.map((notice) => notice.split(":")[0]), ["invalid-input"], notices.join("\n"));
    assert.match(result(text, 0), /Echo: hello/);
    assert.match(result(text, 1), /5/);
    const [, image = ""] = /\[image\/png, [^;]+; to see it, read (\S+)\]/.exec(result(text, 2)) ?? [];
    assert.deepEqual([...Deno.readFileSync(image).subarray(1, 4)], [0x50, 0x4e, 0x47], text);
    assert.match(result(text, 3), /temperature/);
    // Checked here, before the server is asked.
    assert.match(result(text, 4), /\(error\)[^]*message: is missing/);
  }));

Deno.test("a server in the sandbox writes where commands may and nowhere else", () =>
  withPlace(async (place) => {
    const outside = await Deno.realPath(await freshFolder("flemma-mcp-outside-"));
    try {
      const server = deno(FILES, place.folder, outside);
      const { text, notices } = await place.run({ files: server }, [
        { name: "files:write_file", input: { path: `${place.folder}/in.txt`, content: "in\n" } },
        { name: "files:read_text_file", input: { path: `${place.folder}/in.txt` } },
        { name: "files:write_file", input: { path: `${outside}/out.txt`, content: "out\n" } },
        { name: "read", input: { label: "x", path: "in.txt", offset: null, limit: null } },
      ]);
      assert.deepEqual(notices.filter((notice) => notice.startsWith("mcp")), [], text);
      assert.equal(Deno.readTextFileSync(`${place.folder}/in.txt`), "in\n", text);
      assert.match(result(text, 2), /\(error\)[^]*(read-only|EROFS|denied)/i);
      assert.deepEqual([...Deno.readDirSync(outside)], []);
      // File tools do not wait for a server that has nothing to do.
      assert.match(result(text, 3), /in/);
    } finally {
      await Deno.remove(outside, { recursive: true });
    }
  }));

Deno.test("a server that prints, dies, floods or never answers costs its own call only", () =>
  withPlace(async (place) => {
    const bad: McpServer = { ...deno(MISBEHAVING), sandbox: false, timeout: 2 };
    const calls = ["echo", "die", "echo", "flood", "echo", "never", "echo"]
      .map((name) => ({ name: `bad:${name}`, input: name === "echo" ? { text: "here" } : {} }));
    const texts: string[] = [];
    // One after the other, so that no call meets the end that another one brings about.
    for (const call of calls) texts.push((await place.run({ bad }, [call])).text);
    for (const at of [0, 2, 4, 6]) assert.match(result(texts[at]!, 0), /echo here/, texts[at]);
    assert.match(result(texts[1]!, 0), /\(error\)[^]*server bad gave no answer[^]*I am gone/);
    assert.match(result(texts[3]!, 0), /\(error\)[^]*server bad gave no answer/);
    assert.match(result(texts[5]!, 0), /\(error\)[^]*server bad gave no answer[^]*timed out/i);
  }));

Deno.test("what does not start is told and left out; the others work", () =>
  withPlace(async (place) => {
    const servers = {
      gone: { command: "no-such-program-here" },
      neither: { enabled: true },
      bad: { ...deno(MISBEHAVING), sandbox: false, exclude: ["d*"] },
    };
    const { text, notices } = await place.run(servers, [
      { name: "bad:echo", input: { text: "x" } },
      { name: "bad:task" },
      { name: "bad:die" },
    ]);
    assert.match(result(text, 0), /echo x/);
    for (const at of [1, 2]) assert.match(result(text, at), /\(error\)/);
    assert.ok(notices.some((notice) => /no-such-program-here/.test(notice)), notices.join("\n"));
    assert.ok(
      notices.some((notice) => /neither needs either a command or a url/.test(notice)),
      notices.join("\n"),
    );
  }));

function denoFolder(): string {
  return Deno.env.get("DENO_DIR") ??
    `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/deno`;
}
