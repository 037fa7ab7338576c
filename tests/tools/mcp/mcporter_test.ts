// Servers that the real program mcporter knows: listed by it, called by it, from the person's own configuration only.

import assert from "node:assert/strict";
import { success } from "../../../base/problem.ts";
import { DEFAULT_SETTINGS } from "../../../config/defaults.ts";
import type { Sandbox } from "../../../sandbox/types.ts";
import type { Registration } from "../../../tools/definition.ts";
import { mcporterSource } from "../../../tools/mcp/mcporter/source.ts";
import type { RegisterTool } from "../../../tools/registration/types.ts";
import { EVERYTHING, type Place, withPlace } from "./scene.ts";
import { writeProgram } from "../../folder.ts";

const MCPORTER = "npm:mcporter@0.12.3";

/** Puts the program and a configuration of two servers, one of which does not start, where the person has them. */
async function install({ root }: Place): Promise<string> {
  const deno = `${Deno.execPath()} run -A --quiet`;
  const path = `${root}/mcporter`;
  const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  writeProgram(
    path,
    `#!/bin/sh\nDENO_DIR='${cache}' exec ${deno} ${MCPORTER} --config '${root}/servers.json' "$@"\n`,
  );
  const servers = {
    "every.thing": {
      command: Deno.execPath(),
      args: ["run", "-A", "--quiet", EVERYTHING],
      env: { DENO_DIR: cache },
    },
    broken: { command: "false" },
  };
  await Deno.writeTextFile(`${root}/servers.json`, JSON.stringify({ mcpServers: servers }));
  return path;
}

Deno.test("tools of mcporter's servers are called by their names; what one answers, refuses and shows is the result", async () => {
  await withPlace(async (place) => {
    const path = await install(place);
    const tools = {
      autopilot: { enabled: false },
      max_concurrent: 0,
      mcporter: { enabled: true, path, exclude: ["every-thing:get-env"] },
    };
    const calls = [
      { name: "every-thing:echo", input: { message: 'it\'s "here" --now' } },
      { name: "every-thing:get-sum", input: { a: 1, b: 2, c: "--x" } },
      { name: "every-thing:get-tiny-image" },
      { name: "every-thing:get-resource-links", input: { count: 2 } },
      { name: "every-thing:get-env" },
    ];
    const ran = await place.with({}, calls, (chat) => chat.advance(), { settings: { tools } });
    assert.match(ran.result(0), /Echo: it's "here" --now/);
    assert.match(ran.result(1), /sum of 1 and 2 is 3/);
    assert.match(ran.result(2), /^ \(attachments=[0-9a-f]{64}\)[^]*\[image\/png, [\d.]+KB\]/);
    assert.doesNotMatch(ran.result(3), /\(error\)/);
    assert.match(
      ran.result(3),
      /\[[^\n]*: demo:\/\/resource\/dynamic\/blob\/1\][^]*\[[^\n]*: demo:\/\/resource\/dynamic\/text\/2\]/,
    );
    assert.match(ran.result(4), /every-thing:get-env/);
    const notices = ran.notices.filter((notice) => notice.startsWith("mcporter-server"));
    assert.deepEqual(notices, [
      "mcporter-server: The server broken of mcporter is not asked for tools: it is offline.",
    ]);
  });
});

/** A program in the place of mcporter that knows one server with one tool, and does this when that is called. */
function pretend({ root }: Place, calling: string, listing = ""): string {
  const path = `${root}/mcporter`;
  const tools = [{ name: "t", inputSchema: { type: "object" } }, {
    name: "other",
    inputSchema: { type: "object" },
  }];
  writeProgram(
    path,
    `#!/bin/sh
echo "$*" >> '${root}/asked'
case "$1 $2" in
  "list --json") echo '${
      JSON.stringify({ servers: [{ name: "s", status: "ok" }, { name: "-x", status: "ok" }] })
    }' ;;
  list*) ${listing} echo '${JSON.stringify({ tools })}' ;;
  *) ${calling} ;;
esac
`,
  );
  return path;
}

for (
  const [what, calling, expected] of [
    [
      "an error with an exit code of one",
      `echo '{"content":[{"type":"text","text":"no"}],"isError":true}'; exit 1`,
      /\(error\)[^]*no/,
    ],
    [
      "a server that is not there",
      `echo '{"error":"closed"}'; echo beside >&2; exit 1`,
      /\(error\)[^]*closed\n/,
    ],
    ["text that is no JSON", `echo plain words`, /^\n\n```\nplain words\n/],
    ["nothing but standard error", `echo broken >&2; exit 3`, /\(error\)[^]*broken/],
    ["nothing at all", `exit 0`, /\(error\)[^]*mcporter ended with exit code 0 and said nothing\./],
    ["no end", `exec sleep 1000`, /\(error\)[^]*mcporter gave no answer within 1 s\./],
    ["more than memory may hold", `exec yes`, /\(error\)[^]*mcporter answered with more than 16 MiB\./],
    ["where it works", `pwd`, /\n\/\S+flemma-mcp-[^/\n]+\n/],
  ] as const
) {
  Deno.test(`what mcporter says in answer to a call: ${what}`, async () => {
    await withPlace(async (place) => {
      const mcporter = {
        enabled: true,
        path: await pretend(place, calling),
        timeout: what === "no end" ? 1 : 30,
      };
      const tools = { autopilot: { enabled: false }, mcporter };
      const ran = await place.with({}, [{ name: "s:t" }], (chat) => chat.advance(), { settings: { tools } });
      assert.match(ran.result(0), expected);
    });
  });
}

Deno.test("include says what of mcporter is offered, exclude what is there; a whole server left out is not asked", async () => {
  await withPlace(async (place) => {
    const path = await pretend(place, "exit 0");
    const rows = [
      [{}, ["s:other", "s:t"], ["s:other", "s:t"]],
      [{ include: ["*:t"] }, ["s:t"], ["s:other", "s:t"]],
      [{ exclude: ["s:o*"] }, ["s:t"], ["s:t"]],
      [{ exclude: ["s:*"] }, [], []],
    ] as const;
    for (const [lists, expectedOffered, expected] of rows) {
      await Deno.writeTextFile(`${place.root}/asked`, "");
      const there: string[] = [];
      const offered: string[] = [];
      const source = mcporterSource({
        path,
        settings: { ...DEFAULT_SETTINGS.tools.mcporter, ...lists },
        environment: place.environment,
        sandbox: { enabled: false } as Sandbox,
        env: () => ({ PATH: Deno.env.get("PATH")! }),
        signal: new AbortController().signal,
        warn: (message) => assert.fail(message),
      });
      const register: RegisterTool = (given: string | Registration) => {
        const { name, enabled } = given as Registration;
        there.push(name!);
        if (enabled !== false) offered.push(name!);
        return success([]);
      };
      await source.resolve(register, (error) => assert.equal(error, undefined), () => {});
      assert.deepEqual([there.sort(), offered.sort()], [expected, expectedOffered], JSON.stringify(lists));
      const asked = (await Deno.readTextFile(`${place.root}/asked`)).split("\n").filter((line) =>
        line.startsWith("list s")
      );
      assert.equal(asked.length, there.length === 0 ? 0 : 1, JSON.stringify(lists));
    }
  });
});

Deno.test("a program that is not there is told, and costs no other tool", async () => {
  await withPlace(async (place) => {
    const mcporter = { enabled: true, path: `${place.root}/gone` };
    const ran = await place.with(
      {},
      [{ name: "calculator", input: { expression: "1+1" } }, { name: "s:t" }],
      (chat) => chat.advance(),
      {
        settings: { tools: { autopilot: { enabled: false }, mcporter } },
      },
    );
    assert.match(ran.result(0), /\n2\n/);
    assert.ok(
      ran.notices.some((notice) => notice.includes("mcporter") && notice.includes("gone")),
      ran.notices.join("\n"),
    );
  });
});
