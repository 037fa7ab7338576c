// Servers that the real program mcporter knows: listed by it, called by it, from the person's own configuration only.

import assert from "node:assert/strict";
import { EVERYTHING, type Place, withPlace } from "./scene.ts";

const MCPORTER = "npm:mcporter@0.12.3";

/** Puts the program and a configuration of two servers, one of which does not start, where the person has them. */
async function install({ root }: Place): Promise<string> {
  const deno = `${Deno.execPath()} run -A --quiet`;
  const path = `${root}/mcporter`;
  const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  await Deno.writeTextFile(
    path,
    `#!/bin/sh\nDENO_DIR='${cache}' exec ${deno} ${MCPORTER} --config '${root}/servers.json' "$@"\n`,
    { mode: 0o755 },
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
      { name: "every-thing:get-resource-links", input: { count: 0 } },
      { name: "every-thing:get-env" },
    ];
    const ran = await place.with({}, calls, (chat) => chat.advance(), { settings: { tools } });
    assert.match(ran.result(0), /Echo: it's "here" --now/);
    assert.match(ran.result(1), /sum of 1 and 2 is 3/);
    assert.match(ran.result(2), /\[image\/png, [\d.]+KB; to see it, read (\S+)\]/);
    assert.match(ran.result(3), /\(error\)|`call_3`/);
    assert.match(ran.result(4), /every-thing:get-env/);
    const notices = ran.notices.filter((notice) => notice.startsWith("mcporter-server"));
    assert.deepEqual(notices, [
      "mcporter-server: The server broken of mcporter is not asked for tools: it is offline.",
    ]);
  });
});
