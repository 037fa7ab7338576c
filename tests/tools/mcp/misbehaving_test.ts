// A server of ours that misbehaves, and servers that do not start: each costs its own calls only.

import assert from "node:assert/strict";
import { misbehaving, withPlace } from "./scene.ts";

Deno.test("a server that prints, dies, floods or never answers costs its own call only", () =>
  withPlace(async (place) => {
    const bad = { ...misbehaving(), timeout: 1 };
    const calls = ["echo", "die", "echo", "flood", "echo", "never", "echo"]
      .map((name) => ({ name: `bad:${name}`, input: name === "echo" ? { text: "here" } : {} }));
    const results: string[] = [];
    // One after the other, so that no call meets the end that another one brings about.
    for (const call of calls) results.push((await place.run({ bad }, [call])).result(0));
    for (const at of [0, 2, 4, 6]) assert.match(results[at]!, /echo here/);
    assert.match(results[1]!, /\(error\)[^]*server bad gave no answer[^]*I am gone/);
    assert.match(results[3]!, /\(error\)[^]*server bad gave no answer/);
    assert.match(results[5]!, /\(error\)[^]*server bad gave no answer[^]*timed out/i);
  }));

Deno.test("what does not start is told and left out; the others work", () =>
  withPlace(async (place) => {
    const servers = {
      gone: { command: "no-such-program-here" },
      neither: { enabled: true },
      bad: { ...misbehaving(), exclude: ["d*"] },
    };
    const { result, notices } = await place.run(servers, [
      { name: "bad:echo", input: { text: "x" } },
      { name: "bad:task" },
      { name: "bad:die" },
    ]);
    assert.match(result(0), /echo x/);
    for (const at of [1, 2]) assert.match(result(at), /\(error\)/);
    assert.ok(notices.some((notice) => /no-such-program-here/.test(notice)), notices.join("\n"));
    assert.ok(
      notices.some((notice) => /neither needs either a command or a url/.test(notice)),
      notices.join("\n"),
    );
  }));
