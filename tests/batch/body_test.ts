// The body of a batched request is that of a live one without the members that ask for a stream.

import assert from "node:assert/strict";
import { withoutStream } from "../../batch/body.ts";

for (
  const [before, after] of [
    ['{"model":"m","stream":true,"messages":[]}', '{"model":"m","messages":[]}'],
    ['{"stream":true}', "{}"],
    ['{"a":1,"stream":true,"stream_options":{"include_usage":true}}', '{"a":1}'],
    [
      '{"a":{"stream":true},"b":["stream",{"stream":1}]}',
      '{"a":{"stream":true},"b":["stream",{"stream":1}]}',
    ],
    ['{"text":"\\"stream\\":true, } ] \\\\","stream":true}', '{"text":"\\"stream\\":true, } ] \\\\"}'],
    // A number keeps its spelling.
    [
      '{"input":{"n":12345678901234567890,"e":1e400},"stream":false}',
      '{"input":{"n":12345678901234567890,"e":1e400}}',
    ],
    ['{ "a" : "x" , "stream" : true }', '{"a" : "x"}'],
  ] as const
) {
  Deno.test(`without a stream, ${before} is ${after}`, () => assert.equal(withoutStream(before), after));
}
