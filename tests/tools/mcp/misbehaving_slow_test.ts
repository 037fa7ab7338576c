// A misbehaving MCP server, and servers that do not start: each affects only its own calls.

import assert from "node:assert/strict";
import { misbehaving, withPlace } from "./scene.ts";

Deno.test("an MCP server that prints, dies, floods or never responds affects only its own call", () =>
  withPlace(async (place) => {
    const bad = { ...misbehaving(), timeout: 4 };
    const calls = ["echo", "die", "echo", "flood", "echo", "never", "echo"]
      .map((name) => ({ name: `bad:${name}`, input: name === "echo" ? { text: "here" } : {} }));
    const results: string[] = [];
    // One after the other, so that no call meets the end that another one brings about.
    for (const call of calls) results.push((await place.run({ bad }, [call])).result(0));
    for (const at of [0, 2, 4, 6]) assert.match(results[at]!, /echo here/);
    assert.match(results[1]!, /\(error\)[^]*server bad did not answer[^]*I am gone/);
    assert.match(
      results[3]!,
      /\(error\)[^]*server bad did not answer: it sent a message larger than 16 MiB\. Request less at a time/,
    );
    assert.match(results[5]!, /\(error\)[^]*server bad did not answer: it sent nothing for 4 s/);
  }));

Deno.test("if an MCP server does not start, or may not be started, its calls wait and are reported, and other servers work", () =>
  withPlace(async (place) => {
    const servers = {
      gone: { command: "no-such-program-here" },
      neither: { enabled: true },
      off: { ...misbehaving(), enabled: false },
      bad: { ...misbehaving(), exclude: ["d*"] },
      much: misbehaving("floods"),
    };
    const { result, notices } = await place.run(servers, [
      { name: "bad:echo", input: { text: "x" } },
      { name: "bad:task" },
      { name: "bad:die" },
      { name: "gone:run" },
      { name: "neither:run" },
      { name: "off:echo" },
      { name: "much:run" },
    ]);
    assert.match(result(0), /echo x/);
    assert.match(result(1), /\(error\)[^]*must run as a task/);
    assert.match(result(2), /\(error\)/);
    for (const at of [3, 4, 5]) assert.doesNotMatch(result(at), /\(error\)/);
    const reported = notices.join("\n");
    assert.match(reported, /server much could not list its tools: [^]*larger than 16 MiB\. Request less/);
    assert.match(reported, /no-such-program-here was not found/);
    assert.match(reported, /neither needs either a command or a url/);
    for (const name of ["gone", "neither", "off"]) {
      assert.match(reported, new RegExp(`the server ${name}`), reported);
    }
  }));
