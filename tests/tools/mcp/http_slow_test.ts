// MCP servers over HTTP: the SDK's own, and ones that answer incorrectly.

import assert from "node:assert/strict";
import { startProxy } from "../../providers/proxy_server.ts";
import { listen, type Listening, serveSessions, untilCall } from "./http_server.ts";
import { faultsIn, withPlace } from "./scene.ts";

const events = (body: BodyInit) => new Response(body, { headers: { "content-type": "text/event-stream" } });

async function using<S extends Listening>(server: S, body: (server: S) => Promise<void>): Promise<void> {
  try {
    await body(server);
  } finally {
    await server.close();
  }
}

Deno.test("an MCP server over HTTP gets the headers from the settings, in one session, which is closed at the end", () =>
  using(serveSessions(), (server) =>
    withPlace(async (place) => {
      const web = { url: server.url, headers: { Authorization: "Bearer ${WEB_TOKEN}", "X-Mine": "1" } };
      const ran = await place.run({ web }, [{ name: "web:echo" }, { name: "web:echo" }]);
      assert.deepEqual(faultsIn(ran), []);
      for (const at of [0, 1]) assert.match(ran.result(at), /echo over HTTP/);
      assert.ok(server.seen.every(({ headers }) => headers.get("authorization") === "Bearer tkn"));
      assert.ok(server.seen.every(({ headers }) => headers.get("x-mine") === "1"));
      assert.equal(server.seen.filter(({ asks }) => asks === "initialize").length, 1);
      assert.equal(server.seen.filter(({ method }) => method === "DELETE").length, 1);
    }, { WEB_TOKEN: "tkn" })));

Deno.test("if an HTTP server forgot its session, flemma starts a new session and makes the call once", () =>
  using(serveSessions(), (server) =>
    withPlace(async (place) => {
      await place.run({ web: { url: server.url } }, [{ name: "web:echo" }]);
      const calls = [{ name: "web:echo" }, { name: "web:echo", status: "pending" as const }];
      const ran = await place.with({ web: { url: server.url } }, calls, async (chat) => {
        await chat.advance();
        await server.forget();
        await chat.approve("call_1");
        await chat.advance();
      });
      assert.match(ran.result(1), /echo over HTTP/, ran.text);
      assert.equal(server.calls.echo, 3);
    })));

Deno.test("an HTTP server can also announce a changed list of tools", () =>
  using(serveSessions(), (server) =>
    withPlace(async (place) => {
      let offered: string[] = [];
      const ran = await place.with({ web: { url: server.url } }, [{ name: "web:grow" }], (chat) =>
        chat.advance(), {
        fetch: async (input, init) => {
          if (String(input).startsWith(server.url)) {
            return await fetch(input, init);
          }
          const { tools } = await new Response(init?.body).json();
          offered = tools.map(({ name }: { name: string }) =>
            name
          );
          return Response.json({ error: {} }, { status: 400 });
        },
        settings: { provider: "anthropic", tools: { max_concurrent: 0 } },
      });
      assert.match(ran.result(0), /grow over HTTP/);
      assert.ok(offered.includes("web__grown"), offered.join(" "));
    }, { ANTHROPIC_API_KEY: "sk-of-a-test-000000000000" })));

Deno.test("if an address is not an MCP server, flemma reports its response and what to do", async () => {
  const cases: readonly (readonly [() => Response, RegExp])[] = [
    [
      () => new Response("who are you", { status: 401 }),
      /it cannot be used yet: it needs a sign-in\. Run: flemma auth mcp web/,
    ],
    [() => new Response("", { status: 403 }), /mcp\.servers\.web\.headers/],
    [
      () => new Response("<html>nothing</html>", { status: 404 }),
      /Check the path in mcp\.servers\.web\.url/,
    ],
    [() => new Response("", { status: 405 }), /older HTTP\+SSE transport/],
    [() => new Response("x".repeat(100_000), { status: 500 }), /x{100}/],
    [
      () => new Response("<html>", { headers: { "content-type": "text/html" } }),
      /Unexpected content type: text\/html.*not an MCP server/,
    ],
    [
      () => new Response("{ no json", { headers: { "content-type": "application/json" } }),
      /it did not start/,
    ],
    [() => events("data: no json\n\n"), /ended the stream without an answer/],
    [
      () => Response.redirect("http://127.0.0.2:9/mcp?token=x", 307),
      /Redirect to http:\/\/127\.0\.0\.2:9\/mcp not followed.*set mcp\.servers\.web\.url to that address/,
    ],
  ];
  for (const [answer, expected] of cases) {
    await using(listen(answer), (server) =>
      withPlace(async (place) => {
        const url = `${server.url}?key=of-mine`;
        const { notices } = await place.run({ web: { url } }, [{ name: "web:do" }]);
        const reported = faultsIn({ notices }).join("\n");
        assert.match(reported, expected);
        assert.ok(reported.length < 1500, reported);
        assert.doesNotMatch(reported, /of-mine/);
      }));
  }
  const gone = listen(() => new Response());
  await gone.close();
  await withPlace(async (place) => {
    const { notices } = await place.run({ web: { url: `${gone.url}?key=of-mine` } }, [{
      name: "web:do",
    }]);
    assert.match(
      notices.join("\n"),
      /Check that the server is running and that mcp\.servers\.web\.url is correct/,
    );
    assert.doesNotMatch(notices.join("\n"), /of-mine/);
  });
});

Deno.test("if an HTTP server's response is missing, breaks off or never ends, the call fails without delay", async () => {
  const endless = (piece: string) =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(piece)),
    });
  const broken = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("event: message\ndata: {")),
      pull: (controller) => controller.error(new Error("this server breaks off on purpose")),
    });
  const mega = "x".repeat(1 << 20);
  const cases: readonly (readonly [() => Response, RegExp])[] = [
    [() => events(""), /the server ended the stream without an answer/],
    [() => events(": still here\n\n"), /the server ended the stream without an answer/],
    [() => events(broken()), /the connection broke before the answer arrived/],
    [() => events(endless(mega)), /a message larger than 16 MiB/],
    [() => events(endless(`data: ${mega}\n`)), /a message larger than 16 MiB/],
    [() => events(endless(`data: ${mega}\r\n`)), /a message larger than 16 MiB/],
    [
      () => new Response(endless(mega), { headers: { "content-type": "application/json" } }),
      /a message larger than 16 MiB/,
    ],
    [() => new Response("", { status: 502 }), /did not answer/],
    [() => new Response(null, { status: 202 }), /sent nothing for 2 s/],
    [() => Response.json({ jsonrpc: "2.0", id: 999, result: {} }), /sent nothing for 2 s/],
  ];
  for (const [answer, expected] of cases) {
    await using(listen(untilCall(answer)), (server) =>
      withPlace(async (place) => {
        // What is found out at once is not found out by the clock.
        const timeout = expected.source.includes("2 s") ? 2 : 3600;
        const { result } = await place.run({ web: { url: server.url, timeout } }, [{ name: "web:do" }]);
        assert.match(result(0), /\(error\)/);
        assert.match(result(0), expected);
      }));
  }
});

Deno.test("a call over HTTP continues until its result arrives, whatever events come before and whatever line ends separate them", () =>
  using(
    listen(untilCall(({ id }) => {
      const result = { jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "answer" }] } };
      const noise = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } };
      return events(
        `: hello\r\n\r\nevent: message\r\ndata: ${JSON.stringify(noise)}\r\n\r\nevent: message\rdata: ${
          JSON.stringify(result)
        }\r\r`,
      );
    })),
    (server) =>
      withPlace(async (place) => {
        const { result } = await place.run({ web: { url: server.url } }, [{ name: "web:do" }]);
        assert.match(result(0), /```\nanswer\n```/);
      }),
  ));

Deno.test("an event stream with ids that ends early is resumed at the last id, and no connection stays open", () => {
  let asked: number | undefined;
  const open = (text: string) =>
    new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) });
  const answer = untilCall(({ id }) => {
    asked = id;
    return events("id: event-1\nretry: 50\ndata: \n\n");
  });
  const server = listen((request, message) => {
    if (request.method !== "GET") return answer(request, message);
    if (request.headers.get("last-event-id") !== "event-1") return events(open("id: event-0\ndata: \n\n"));
    const result = { jsonrpc: "2.0", id: asked, result: { content: [{ type: "text", text: "resumed" }] } };
    return events(open(`id: event-2\ndata: ${JSON.stringify(result)}\n\n`));
  });
  return using(server, () =>
    withPlace(async (place) => {
      const { result } = await place.run({ web: { url: server.url } }, [{ name: "web:do" }]);
      assert.match(result(0), /resumed/);
    }));
});

Deno.test("flemma follows a redirect on the same host and sends no header to another host", () =>
  using(listen(() => new Response("", { status: 500 })), (other) => {
    const serve = untilCall(({ id }) =>
      Response.json({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "there" }] } })
    );
    const here = listen((request, message) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/mcp") return new Response(null, { status: 307, headers: { location: "/new/mcp" } });
      if (pathname === "/away") return new Response(null, { status: 307, headers: { location: other.url } });
      return serve(request, message);
    });
    return using(here, () =>
      withPlace(async (place) => {
        const headers = { "X-Key": "of-mine" };
        const { result } = await place.run({ web: { url: here.url, headers } }, [{ name: "web:do" }]);
        assert.match(result(0), /there/);
        await place.run({ away: { url: here.url.replace("/mcp", "/away"), headers } }, [{ name: "away:do" }]);
        assert.deepEqual(other.seen, []);
      }));
  }));

Deno.test("a server over HTTP is reached through the proxy in the environment variables", () =>
  using(serveSessions(), async (server) => {
    const proxy = startProxy({ hosts: { "mcp.test": new URL(server.url).host } });
    try {
      await withPlace(async (place) => {
        const { result } = await place.run({ web: { url: "http://mcp.test/mcp" } }, [{ name: "web:echo" }]);
        assert.match(result(0), /echo over HTTP/);
        assert.ok(proxy.requests.some((line) => /mcp\.test/.test(line)), proxy.requests.join("\n"));
      }, { http_proxy: proxy.url, HTTP_PROXY: proxy.url });
      await withPlace(async (place) => {
        const { result } = await place.run({ web: { url: server.url } }, [{ name: "web:echo" }]);
        assert.match(result(0), /echo over HTTP/);
        // The end of the first session may still be on its way.
        assert.deepEqual(proxy.requests.filter((line) => !/mcp\.test/.test(line)), []);
      }, { http_proxy: proxy.url, no_proxy: "127.0.0.1" });
    } finally {
      await proxy.close();
    }
  }));
