// `flemma auth mcp`: signs in to an MCP server in the browser.

import { type ServerSignIn, serverSignIn } from "../../agent/extensions/sign_in.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import type { Environment } from "../../base/environment.ts";
import { operands } from "../../base/shell_word.ts";
import { helperPlace } from "../../agent/extensions/helper_place.ts";
import type { Loaded } from "../../config/sources/find.ts";
import { findHelper } from "../../providers/keys/key_program.ts";
import { toolEnvironment } from "../../sandbox/policy/tool_environment.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { readHidden } from "../io/hidden_line.ts";
import { Interrupts } from "../io/interrupt.ts";
import { refuse } from "../io/refuse.ts";
import { switchOption } from "../line/options.ts";
import { settingsOf } from "../line/overrides.ts";

/** Minutes in which the person has to consent. */
const PATIENCE = 5;

/** Path of the callback. */
const CALLBACK = "/callback";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, environment, messages } = invocation;
  const [name = ""] = given.positionals;
  const loaded = await settingsOf(given, environment, null);
  if (!loaded.ok) return refuse(invocation, loaded.problem);
  const found = await serverSignIn(name, { loaded: loaded.value, environment });
  if (!found.ok) return refuse(invocation, found.problem);
  const server = found.value;
  if (switchOption(given, "remove") === true) return await remove(invocation, name, server);
  const interrupts = new Interrupts((_fault, exit) => exit);
  try {
    const signedIn = switchOption(given, "paste") === true
      ? await byPasting(invocation, name, server)
      : await byBrowser(invocation, name, server, loaded.value, interrupts.signal);
    if (signedIn === null) return Exit.interrupted;
    if (!signedIn.ok) return refuse(invocation, signedIn.problem);
    messages.note(`flemma: You are signed in to the MCP server ${name}.`);
    return Exit.ok;
  } finally {
    interrupts.dispose();
  }
}

async function remove(invocation: Invocation, name: string, server: ServerSignIn): Promise<number> {
  const { messages } = invocation;
  try {
    const { removed, left, reason } = await server.remove();
    if (left.length > 0) {
      return refuse(invocation, {
        code: "keyring-failed",
        message:
          `The sign-in at the MCP server ${name} was removed, but not its tokens in the keyring: ${reason}`,
        next: `Delete them with the keyring's own program, by this name: ${left.join(", ")}`,
      });
    }
    if (removed) {
      messages.note(`flemma: The sign-in at the MCP server ${name} was removed from this machine.`);
    } else messages.say(`flemma: There is no sign-in at the MCP server ${name}.`);
    return removed ? Exit.ok : Exit.failure;
  } catch (thrown) {
    return refuse(invocation, {
      code: "mcp-sign-in-failed",
      message: `The sign-in at the MCP server ${name} cannot be removed: ${thrownText(thrown)}`,
    });
  }
}

/** Waits for the browser on this machine; null if the person canceled. */
async function byBrowser(
  { messages, environment }: Invocation,
  name: string,
  server: ServerSignIn,
  loaded: Loaded,
  cancel: AbortSignal,
): Promise<Outcome<void> | null> {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams | null>();
  let isOwn: (answer: URLSearchParams) => boolean = () => false;
  const listening = listen(server.port, (answer) => {
    if (!isOwn(answer)) return false;
    resolve(answer);
    return true;
  });
  if (!listening.ok) return listening;
  const { port, close } = listening.value;
  const stop = () => resolve(null);
  const over = setTimeout(stop, PATIENCE * 60_000);
  cancel.addEventListener("abort", stop, { once: true });
  try {
    const started = await server.begin(`http://127.0.0.1:${port}${CALLBACK}`);
    if (cancel.aborted) return null;
    if (!started.ok) return started;
    isOwn = started.value.isOwn;
    showPage(messages, name, started.value);
    openBrowser(started.value.page, environment, loaded);
    const answer = await promise;
    if (cancel.aborted) return null;
    if (answer === null) return failed(name, `nobody answered within ${PATIENCE} minutes`);
    return await keep(messages, server, await started.value.finish(answer));
  } finally {
    clearTimeout(over);
    cancel.removeEventListener("abort", stop);
    await close();
  }
}

/** Reads the address at which a browser on another machine ended; null if the person canceled. */
async function byPasting(
  { messages, input }: Invocation,
  name: string,
  server: ServerSignIn,
): Promise<Outcome<void> | null> {
  const port = server.port === 0 ? UNUSED_PORT : server.port;
  const started = await server.begin(`http://127.0.0.1:${port}${CALLBACK}`);
  if (!started.ok) return started;
  showPage(messages, name, started.value);
  messages.note("The browser then cannot open a page on 127.0.0.1. Copy the whole address of that page.");
  const text = Deno.stdin.isTerminal()
    ? await readHidden("Address (not shown): ")
    : new TextDecoder().decode(input.read().bytes);
  if (text === null) return null;
  const answer = URL.parse(text.trim())?.searchParams;
  if (!answer?.has("state")) return failed(name, "this is not the address of the page after the sign-in");
  if (!started.value.isOwn(answer)) return failed(name, "this address belongs to another sign-in");
  return await keep(messages, server, await started.value.finish(answer));
}

/** Port in the address to paste. Nothing listens there. */
const UNUSED_PORT = 49151;

type Started = Extract<Awaited<ReturnType<ServerSignIn["begin"]>>, { ok: true }>["value"];

function showPage(messages: Invocation["messages"], name: string, { page, scope }: Started): void {
  const rights = scope === null ? "" : ` It asks for: ${scope}.`;
  messages.say(
    `flemma: To sign in to the MCP server ${name}, open this page in a browser.${rights}\n${page}`,
  );
}

async function keep(
  messages: Invocation["messages"],
  server: ServerSignIn,
  signIn: Awaited<ReturnType<Started["finish"]>>,
): Promise<Outcome<void>> {
  if (!signIn.ok) return signIn;
  const kept = await server.keep(signIn.value);
  if (kept === "file") {
    messages.note(
      "flemma: No keyring is available, so the tokens are in a file. Commands in the sandbox cannot read it.",
    );
  }
  return success(undefined);
}

function failed(name: string, why: string): { readonly ok: false; readonly problem: Problem } {
  return failure(
    "mcp-sign-in-failed",
    `The sign-in at the MCP server ${name} failed: ${why}.`,
    `Try again: flemma auth mcp ${operands(name)}`,
  );
}

/** Pages after the sign-in. They contain nothing of the request, which anybody may send. */
const DONE = page("You can close this page and go back to the terminal.");
const OTHER = page("This address belongs to no sign-in that is going on.");

function page(text: string): string {
  return `<!doctype html><meta charset="utf-8"><title>flemma</title><p>${text}</p>\n`;
}

/** Listens on this machine. `take` returns whether an answer belongs to the sign-in; others change nothing. */
function listen(
  port: number,
  take: (answer: URLSearchParams) => boolean,
): Outcome<{ readonly port: number; close(): Promise<void> }> {
  const headers = { "content-type": "text/html; charset=utf-8", "referrer-policy": "no-referrer" };
  try {
    const server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, ({ url, method }) => {
      const { pathname, searchParams } = new URL(url);
      const isTaken = method === "GET" && pathname === CALLBACK && take(searchParams);
      return new Response(isTaken ? DONE : OTHER, { status: isTaken ? 200 : 400, headers });
    });
    return success({ port: server.addr.port, close: () => server.shutdown() });
  } catch (thrown) {
    return failure(
      "mcp-sign-in-failed",
      `The port ${port} for the callback cannot be used: ${thrownText(thrown)}.`,
      "Choose another port in oauth.callback_port; 0 takes any.",
    );
  }
}

/** Opens a page, if there is a browser. The page is shown in any case. */
function openBrowser(url: string, environment: Environment, { settings }: Loaded): void {
  const { environment: within, refusal } = helperPlace(settings, environment, null)();
  // A browser needs the sockets of the desktop, but no key.
  const variables = toolEnvironment(within.variables, settings.tools.env, {
    passCredentials: false,
    sandboxed: false,
  });
  const names = [environment.variables.BROWSER ?? "", Deno.build.os === "darwin" ? "open" : "xdg-open"];
  for (const name of names) {
    const program = name === "" ? null : findHelper(name, within);
    if (program === null || refusal([program]) !== null) continue;
    try {
      const child = new Deno.Command(program, {
        args: [url],
        cwd: within.cwd,
        clearEnv: true,
        env: variables,
        stdin: "null",
        stdout: "null",
        stderr: "null",
      }).spawn();
      child.unref();
      return;
    } catch {
      // The program cannot be started; the person opens the page.
    }
  }
}
