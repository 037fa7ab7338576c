// Faults that a filter can hit, one row each: the fault, and the output required all the same.

import { callsDocument } from "../cli/harness.ts";
import { callReply, type Reply, textReply } from "../cli/replies.ts";

/** What must come out. */
export type Ending =
  /** The input byte for byte, this exit code, and a sentence on standard error. */
  | { readonly is: "back"; readonly code: number }
  /** The input and exit code 130, or more than the input and exit code 0. */
  | { readonly is: "interrupted" }
  /** More than the input, which is the beginning of it, and exit code 0. */
  | { readonly is: "more" }
  /** The input up to its first result, then something else, and exit code 0. */
  | { readonly is: "answered" };

/** One thing that goes wrong. */
export interface FilterFault {
  /** The words behind `flemma`. @default advance */
  readonly words?: string;
  /** @default a question */
  readonly stdin?: string | Uint8Array<ArrayBuffer>;
  readonly env?: Readonly<Record<string, string>>;
  /** The settings file. */
  readonly settings?: string | Uint8Array<ArrayBuffer>;
  /** What the provider answers, request by request; afterwards it fails with 500. @default nothing listens */
  readonly replies?: readonly Reply[];
  /** Shell before the program, in the folder where it runs. */
  readonly before?: string;
  /** Redirections of the program besides its input; what comes out is read from standard output. */
  readonly to?: string;
  /** Sent once the request, or the command, has begun. */
  readonly signal?: Deno.Signal;
  readonly ending: Ending;
}

export const QUESTION = "@You:\nHow are you?\n";
const bytes = (...values: number[]) => new Uint8Array(values);
const text = (value: string) => new TextEncoder().encode(value);
const called = (command: string, status = "approved") => callsDocument([{ id: "c1", command, status }]);
const PENDING = called("touch ran", "pending");
const APPROVED = called("echo hello");
const back = (code: number): Ending => ({ is: "back", code });
const more: Ending = { is: "more" };
const answered: Ending = { is: "answered" };
const blocked = (stdin: string): FilterFault => ({ stdin, ending: back(4) });
const refused = (words: string, code = 2, rest: Partial<FilterFault> = {}): FilterFault => ({
  words,
  ending: back(code),
  ...rest,
});
const setting = (settings: FilterFault["settings"]): FilterFault => ({ settings, ending: back(2) });
const provider = (reply: Reply, ending: Ending = back(1)): FilterFault => ({
  words: "advance --no-retry",
  replies: [reply],
  ending,
});
const signalled = (signal: Deno.Signal): FilterFault => ({
  replies: [{ ...textReply("I am"), hang: true }],
  signal,
  ending: { is: "interrupted" },
});
const first = (block: string, language = "lua") => `\`\`\`${language}\n${block}\n\`\`\`\n\n${QUESTION}`;
const call = (input: string) => PENDING.replace(/\{"command.*\}/, () => input);
const tool = (command: string, rest: Partial<FilterFault> = {}): FilterFault => ({
  words: "advance --no-autopilot",
  stdin: called(command),
  ending: answered,
  ...rest,
});

/** Faults by what is wrong. */
export const FILTER_FAULTS: Readonly<Record<string, FilterFault>> = {
  // The command line
  "a command that does not exist": refused("advanse"),
  "an option that does not exist": refused("advance --modle x"),
  "an option of another command": refused("approve --stream"),
  "an option without its value": refused("advance --model"),
  "a value for an option that takes none": refused("advance --quiet=yes"),
  "an invalid number": refused("approve --line abc"),
  "a number below the minimum": refused("advance --max-turns=-1"),
  "a file in addition to the document": refused("advance a.chat", 2, { before: "echo x > a.chat" }),
  "a missing file in addition to the document": refused("send missing.chat"),
  "a call that does not exist": refused("approve call_9", 1, { stdin: PENDING }),
  "a rejection of a call that does not exist": refused("reject call_9", 1, { stdin: PENDING }),
  "an execution of a call that does not exist": refused("execute call_9", 1, { stdin: PENDING }),
  "an approval when nothing waits": refused("approve", 1),
  "a settings file that does not exist": refused("advance --config missing.yaml"),
  "a provider that does not exist": refused("advance --provider nobody"),
  "an empty model name": refused("advance --model ''"),
  "a parameter that does not exist": refused("advance --param temprature=1"),
  "a parameter without a value": refused("advance --param temperature"),
  "a parameter of the wrong type": refused("advance --param temperature=hot"),
  "events to a descriptor that is not open": refused("advance --events fd:99"),
  "events to a folder that does not exist": refused("advance --events none/events", 1),
  "messages to a folder that does not exist": refused("advance --messages none/told", 1),
  "a migration of a text that is not a document": refused("migrate", 1, { stdin: bytes(0xff, 0xfe, 0x0a) }),
  // The bytes of the document
  "no bytes at all": blocked(""),
  "only line breaks": blocked("\n\n\r\n"),
  "no message": blocked("hello\n"),
  "a byte that is not UTF-8": { stdin: bytes(...text(QUESTION), 0xff, 0x0a), ending: back(1) },
  "half a character at the end": { stdin: bytes(...text(QUESTION), 0xc3), ending: back(1) },
  "UTF-16": { stdin: bytes(0xff, 0xfe, 0x40, 0x00, 0x59, 0x00), ending: back(1) },
  "NUL": { stdin: `${QUESTION}a\0b\n`, ending: back(1) },
  "a program instead of a document": {
    stdin: bytes(0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xfe),
    ending: back(1),
  },
  "lines that end in CR": blocked("@You:\rhi\r"),
  "CR LF, a byte order mark and no final line break": {
    stdin: `\ufeff${QUESTION.replaceAll("\n", "\r\n")}no line end`,
    ending: back(1),
  },
  "a line of two million characters": { stdin: `${QUESTION}${"x".repeat(2_000_000)}`, ending: back(1) },
  "a hundred thousand lines": { stdin: `${QUESTION}${"a line\n".repeat(100_000)}`, ending: back(1) },
  // The conversation
  "a document that ends with the model's turn": {
    stdin: `${QUESTION}\n@Assistant:\nWell.\n`,
    ending: back(3),
  },
  "a call whose input is a list": blocked(call("[1]")),
  "a call whose input breaks off": blocked(call('{"command":"ls')),
  "a call with a key twice": { stdin: call('{"command":"ls","command":"rm"}'), ending: answered },
  "a tag that is not Lua": blocked("@You:\n{{ 1 + }}\n"),
  "a tag that never ends": blocked("@You:\n{{ (function() while true do end end)() }}\n"),
  "a tag that fails": { stdin: '@You:\n{{ error("no") }}\n', ending: back(1) },
  "a missing included file": { stdin: '@You:\n{{ include("missing.txt") }}\n', ending: back(1) },
  "a file that includes itself": {
    ...blocked('@You:\n{{ include("self.txt") }}\n'),
    before: `printf '{{ include("self.txt") }}' > self.txt`,
  },
  // The first block
  "frontmatter that is not Lua": blocked(first("x =")),
  "frontmatter that never ends": blocked(first("while true do end")),
  "frontmatter that takes all memory": blocked(
    first("local t = {} while true do t[#t+1] = ('x'):rep(1e6) end"),
  ),
  "frontmatter that fails": blocked(first('error("no")')),
  "frontmatter that reads a file": blocked(first('io.open("/etc/passwd")')),
  "frontmatter with a setting that does not exist": blocked(first("flemma.opt.modle = 'x'")),
  "frontmatter with a value of the wrong type": blocked(first("flemma.opt.tools.max_concurrent = 'x'")),
  "frontmatter of broken JSON": blocked(first('{"a":', "json")),
  "frontmatter of broken YAML": blocked(first("a: [", "yaml")),
  "settings in frontmatter without effect": blocked(first("tools: { auto_approve: [] }", "yaml")),
  "frontmatter below the first line": blocked(`\n${first("flemma.opt.sandbox = false")}`),
  "an unknown language": blocked(first("x", "cobol")),
  // Settings files
  "settings that are not YAML": setting("tools: [\n"),
  "settings with a tab": setting("tools:\n\tmax_concurrent: 1\n"),
  "settings with a name that does not exist": setting("toools: {}\n"),
  "settings with a value of the wrong type": setting("tools: { max_concurrent: many }\n"),
  "settings with a key twice": setting("model: a\nmodel: b\n"),
  "settings that are a list": setting("- model\n"),
  "settings that are not UTF-8": setting(bytes(0x61, 0x3a, 0xff)),
  "settings that expand without end": setting(
    `a: &a [x,x,x,x,x,x,x,x,x]\n${
      [..."bcdefghijk"].map((name, at) => `${name}: &${name} [${`*${"abcdefghij"[at]},`.repeat(9)}]\n`).join(
        "",
      )
    }`,
  ),
  "settings that are a broken link": {
    before: "mkdir -p $XDG_CONFIG_HOME/flemma; ln -s nowhere $XDG_CONFIG_HOME/flemma/config.yaml",
    ending: back(2),
  },
  "settings that are a folder": {
    before: "mkdir -p $XDG_CONFIG_HOME/flemma/config.yaml",
    ending: back(2),
  },
  "settings of a project that are broken": {
    before: "mkdir .flemma; echo 'tools: [' > .flemma/config.yaml",
    ending: back(2),
  },
  // The surroundings
  "no key": { env: { ANTHROPIC_API_KEY: "" }, ending: back(1) },
  "a key with a line break": { env: { ANTHROPIC_API_KEY: "a\nb" }, ending: back(1) },
  "a key that no header can hold": { env: { ANTHROPIC_API_KEY: "schlüssel😀" }, ending: back(1) },
  "an invalid address": { env: { FLEMMA_ANTHROPIC_BASE_URL: "not an address" }, ending: back(2) },
  "an address with another scheme": {
    env: { FLEMMA_ANTHROPIC_BASE_URL: "file:///etc/passwd" },
    ending: back(2),
  },
  "an address without a server": { words: "advance --no-retry", ending: back(1) },
  "a proxy that does not exist": {
    words: "advance --no-retry",
    env: { HTTPS_PROXY: "http://127.0.0.1:9", HTTP_PROXY: "http://127.0.0.1:9" },
    ending: back(1),
  },
  "missing certificate authorities": { env: { SSL_CERT_FILE: "/none.pem" }, ending: back(1) },
  "a home folder that does not exist": { env: { HOME: "/none" }, ending: back(1) },
  "a home folder that is not writable": { env: { HOME: "/proc" }, ending: back(1) },
  "a state folder that is a file": { env: { XDG_STATE_HOME: "/etc/passwd" }, ending: back(1) },
  "a state folder that is not writable": { env: { XDG_STATE_HOME: "/proc/none" }, ending: back(1) },
  "a state folder that is not an absolute path": { env: { XDG_STATE_HOME: "state" }, ending: back(1) },
  "no folder for temporary files": { env: { TMPDIR: "/none" }, ending: back(1) },
  "an empty PATH": { env: { PATH: "" }, ending: back(1) },
  "no runtime folder": { env: { XDG_RUNTIME_DIR: "/none" }, ending: back(1) },
  "an unknown time zone and language": { env: { TZ: "Nowhere/X", LC_ALL: "xx_XX" }, ending: back(1) },
  "a folder that nobody can write": { before: "chmod 555 .", ending: back(1) },
  // The provider
  "a response 400": provider({ status: 400, body: '{"error":{"message":"no"}}' }),
  "a response 401": provider({ status: 401, body: "no" }),
  "a response 403 of a proxy": provider({ status: 403, body: "<html>Forbidden</html>" }),
  "a response 404": provider({ status: 404, body: "" }),
  "a response 413": provider({ status: 413, body: "too large" }),
  "a response 429": provider({ status: 429, body: "{}", headers: { "retry-after": "1" } }),
  "a response 500": provider({ status: 500, body: "broken" }),
  "a response 529": provider({ status: 529, body: "{}" }),
  "a response 302 to itself": provider({ status: 302, headers: { location: "/v1/messages" } }),
  "a response 200 with a web page": provider({ status: 200, body: "<html>Log in</html>" }),
  "a response 200 with an empty body": provider({ status: 200, body: "" }),
  "a body that claims to be compressed": provider({
    status: 200,
    body: "no",
    headers: { "content-encoding": "gzip" },
  }),
  "a stream without content": provider({ events: [] }),
  "a stream that breaks off": provider({ ...textReply("Half an ans"), cut: true }, more),
  "a stream that breaks off in a call": provider({ ...callReply("x", "ls"), cut: true }, more),
  "a call with a name that no document can hold": provider(
    { events: callReply("a`b", "ls").events },
    more,
  ),
  // Signals while a reply streams
  "SIGINT": signalled("SIGINT"),
  "SIGTERM": signalled("SIGTERM"),
  "SIGHUP": signalled("SIGHUP"),
  "SIGQUIT": signalled("SIGQUIT"),
  "SIGUSR1": signalled("SIGUSR1"),
  "SIGUSR2": signalled("SIGUSR2"),
  "SIGALRM": signalled("SIGALRM"),
  // Streams of the process
  "a closed standard error": { to: "2>&-", ending: back(1) },
  "a standard error without space": { to: "2>/dev/full", ending: back(1) },
  "a standard error that is standard output": { to: "2>&1", ending: back(1) },
  // Calls
  "a command that fails": tool("exit 3"),
  "a program that does not exist": tool("no-such-program"),
  "a command that kills itself": tool("kill -9 $$"),
  "a command with binary output": tool("printf '\\377\\000\\001'"),
  "a command with much output": tool("head -c 3000000 /dev/zero | tr '\\0' x"),
  "a command that closes its streams": tool("exec >&- 2>&-; exit 1"),
  "a command that reads standard input": tool("cat; echo over"),
  "a command that removes its folder": tool("rmdir $PWD; cd /; echo over"),
  "a tool that does not exist": {
    stdin: APPROVED.replace("`bash`", "`bosh`"),
    words: "advance --no-autopilot",
    ending: answered,
  },
  "an input that does not match the schema": {
    stdin: APPROVED.replace('"command"', '"comand"'),
    words: "advance --no-autopilot",
    ending: answered,
  },
  "a sandbox that is required and missing": tool("echo hello", {
    settings: "sandbox: { backend: required, backends: { bwrap: { path: /none/bwrap } } }\n",
  }),
  "a shell that does not exist": tool("echo hello", { settings: "tools: { bash: { shell: /none/sh } }\n" }),
  "a working folder that does not exist": tool("echo hello", {
    settings: "tools: { bash: { cwd: /none } }\n",
  }),
};
