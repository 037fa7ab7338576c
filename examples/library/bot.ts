// A bot with a page: a person asks, sees the call that waits, and approves or rejects it with a button.
//
//   node bot.ts chat.chat 8080
//
// The conversation is a file. The person can also open it in an editor, and continue there when the bot is stopped.

import { createServer } from "node:http";
import { type ChatSession, openChat } from "flemma";

const [file = "bot.chat", port = "8080"] = process.argv.slice(2);

const opened = await openChat(file);
if (!opened.ok) {
  console.error(`${opened.problem.message} ${opened.problem.next ?? ""}`);
  process.exit(1);
}
const chat: ChatSession = opened.value;
/** What the last run ended with. */
let last = "";
/** One request at a time: a run changes the document. */
let turn: Promise<void> = Promise.resolve();

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  if (request.method === "POST") {
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
    await (turn = turn.then(() => act(pathname, form)).catch((thrown: unknown) =>
      void (last = String(thrown))
    ));
    response.writeHead(303, { location: "/" }).end();
    return;
  }
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(await page());
});
server.listen(Number(port), "127.0.0.1", () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : port}`);
});
process.once("SIGTERM", async () => {
  server.close();
  await turn;
  // A browser opens connections ahead of its requests; the server would wait for these.
  server.closeAllConnections();
  await chat.close();
});

async function act(pathname: string, form: URLSearchParams): Promise<void> {
  const id = form.get("id") ?? "";
  if (pathname === "/ask") {
    const problem = await chat.say(form.get("question") ?? "");
    if (problem !== null) return void (last = problem.message);
  } else {
    // The person decides about what the page showed. Another digest means that the call has changed since.
    const shown = await chat.show(id);
    if (!shown.ok || shown.value.digest !== form.get("digest")) {
      return void (last = "The call has changed. Look again.");
    }
    const marked = pathname === "/approve"
      ? await chat.approve(id)
      : await chat.reject(id, "The person said no.");
    if (!marked.ok) return void (last = marked.problem.message);
  }
  const { reason, reply, problem } = await chat.advance();
  last = reply !== "" ? reply : problem?.message ?? `Waiting: ${reason}`;
}

async function page(): Promise<string> {
  const shown = await chat.showOpen();
  const waiting = !shown.ok ? [] : shown.value.map(({ id, tool, input, digest, warnings, wall }) => `
    <form method="post"><pre>${escaped(`${tool} ${JSON.stringify(input, null, 2)}`)}</pre>
    <p>${escaped([...warnings, `Sandbox: ${wall}.`].join(" "))}</p>
    <input type="hidden" name="id" value="${escaped(id)}">
    <input type="hidden" name="digest" value="${escaped(digest)}">
    <button formaction="/approve">Approve</button> <button formaction="/reject">Reject</button></form>`);
  const ask = `<form method="post" action="/ask"><input name="question"><button>Ask</button></form>`;
  return `<!doctype html><title>Bot</title><p>${escaped(last)}</p>${
    waiting.length > 0 ? waiting.join("") : ask
  }`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
