// The question before a batch is sent, at a real terminal.

import assert from "node:assert/strict";
import { withScene } from "../cli/harness.ts";
import { AtTerminal } from "../cli/terminal.ts";
import { withBatchServer } from "./servers.ts";

for (
  const [what, keys, code, paid, said] of [
    ["yes sends", "y\r", 0, 1, /1 document sent to openai/],
    ["no sends nothing", "n\r", 0, 0, /Nothing was sent\./],
    ["Enter sends nothing", "\r", 0, 0, /Nothing was sent\./],
    ["Ctrl-C sends nothing and ends the command", "\x03", 130, 0, /\[y\/N\]/],
  ] as const
) {
  Deno.test(`asked at a terminal before a batch is sent, ${what}`, () =>
    withScene((place) =>
      withBatchServer("openai", { answer: () => ({ text: "Yes." }) }, async (server) => {
        place.settings(server.settings);
        place.write("q0.chat", "@You:\nQuestion 0?\n");
        const terminal = new AtTerminal(place, ["batch", "send", "q0.chat"], { env: server.env });
        await terminal.press("Send 1 document? [y/N] ", keys);
        const ended = await terminal.ended();
        assert.deepEqual([ended.code, server.paid.length], [code, paid], ended.shown);
        assert.match(ended.shown, said);
        assert.equal(place.read("q0.chat").includes("flemma:reply"), paid === 1);
      })
    ));
}
