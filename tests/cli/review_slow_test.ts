// `flemma review` at a real terminal.

import assert from "node:assert/strict";
import { callsDocument, Scene, SOURCES, withScene } from "./harness.ts";
import { AtTerminal } from "./terminal.ts";
import { writeProgram } from "../folder.ts";

const ASKING = "tools: { auto_approve: [], auto_approve_sandboxed: false }\n";

function write(place: Scene, ...commands: readonly string[]): string {
  place.settings(`sandbox: false\n${ASKING}`);
  const text = callsDocument(
    commands.map((command, at) => ({ id: `c${at + 1}`, command, status: "pending" })),
  );
  place.write("a.chat", text);
  return text;
}

function statuses(place: Scene): string[] {
  return [...place.read("a.chat").matchAll(/status=(\w+)/g)].map(([, status]) => status!);
}

Deno.test("in a terminal of 80 by 24 characters, a person can approve and reject calls, allow them for the session and undo decisions", () =>
  withScene(async (place) => {
    write(place, "git log -1", "echo two", "echo three");
    place.settings(ASKING);
    const terminal = new AtTerminal(place, ["review", "a.chat"]);
    const shown = await terminal.press("Approve #1? ", "s");
    assert.match(shown, /a\.chat {2}#1 bash {2}c1 {3}3 calls wait\n/);
    assert.match(shown, /\nruns {4}in the sandbox \(bwrap\), with the network\n/);
    assert.match(shown, /\ncommand\n│ git log -1\n/);
    const rule = await terminal.press("any other key: no\n", "y");
    assert.match(rule, /For this document, in this session: approve bash\(git log -1\), in the sandbox\n/);
    await terminal.press("Approve #2? ", "n");
    await terminal.press("Esc: back): ", "not now é\x7fe\r");
    await terminal.press("Approve #3? ", "u");
    await terminal.press("Undone: the rejection of #2.", "");
    await terminal.press("Approve #2? ", "n");
    await terminal.press("Esc: back): ", "not here\r");
    await terminal.press("Approve #3? ", "y");
    await terminal.press("There are no more calls to decide. ", "\r");
    const { code, shown: all } = await terminal.ended();
    assert.equal(code, 0, all);
    assert.match(
      all,
      /2 approved, 1 rejected\. Nothing has run yet\. Continue with: flemma advance a\.chat\n$/,
    );
    assert.deepEqual(statuses(place), ["approved", "rejected", "approved"]);
    assert.match(place.read("a.chat"), /status=rejected\nnot here\n/);
    const status = await place.run(["status", "a.chat"]);
    assert.match(status.stdout, /^session rule: approve bash\(git log -1\), in the sandbox /m);
  }));

Deno.test("a terminal of 40 columns shows everything, also after it shrinks during the review", () =>
  withScene(async (place) => {
    const command = `echo ${"word ".repeat(40)}\x1b[2J\u202e; touch end`;
    write(place, command);
    for (const narrow of [false, true]) {
      const terminal = new AtTerminal(place, ["review", "a.chat"], { size: [narrow ? 80 : 40, 24] });
      if (narrow) {
        await terminal.until("Approve #1? ");
        await terminal.resize(40, 24);
        await terminal.press("", "l");
        await terminal.until("\n\n");
      }
      const shown = await terminal.press("Approve #1? ", "q");
      const lines = shown.split("\n").filter((line) => /^[│┆]/.test(line));
      const read = lines.map((line) => line.slice(2)).join("");
      assert.ok(read.startsWith(command.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")), shown);
      for (const line of lines) assert.ok([...line].length <= 40, line);
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(shown, /[\x1b\u202e]/);
      assert.equal((await terminal.ended()).code, 3);
    }
  }));

/** Presses keys before they are asked for: three at once, as of a key held down, and some while an editor is open. */
async function pressEarly(place: Scene): Promise<void> {
  write(place, "echo 1", "echo 2");
  const editor = `${place.folder}/editor`;
  writeProgram(editor, "#!/bin/sh\necho waiting\ncat gate\n");
  const { success } = await new Deno.Command("mkfifo", { args: [place.path("gate")] }).output();
  assert.ok(success);
  const terminal = new AtTerminal(place, ["review", "a.chat"], { env: { VISUAL: editor } });
  await terminal.press("Approve #1? ", "yyy");
  await terminal.press("Press one of the keys above.", "");
  await terminal.press("Approve #1? ", "y");
  await terminal.press("Approve #2? ", "e");
  await terminal.press("waiting", "y");
  await terminal.until("y");
  await Deno.writeTextFile(place.path("gate"), "");
  await terminal.press("Approve #2? ", "q");
  assert.equal((await terminal.ended()).code, 3);
  assert.deepEqual(statuses(place), ["approved", "pending"]);
}

Deno.test("keys typed before a call is shown, and pasted text, decide nothing", () => withScene(pressEarly));

Deno.test("even without permission to call system functions, keys typed before a call is shown decide nothing", () =>
  withScene(async (place) => {
    const [deno, run, ...words] = SOURCES;
    await pressEarly(new Scene(place.folder, { program: [deno!, run!, "--deny-ffi", ...words] }));
  }));

Deno.test("Ctrl-C, Ctrl-D and a signal end the review, and earlier decisions are kept", () =>
  withScene(async (place) => {
    const ends: readonly (readonly [string | number, number])[] = [["\x03", 130], ["\x04", 3], [15, 130], [
      1,
      130,
    ]];
    for (const [end, code] of ends) {
      write(place, "echo 1", "echo 2");
      const terminal = new AtTerminal(place, ["review", "a.chat"]);
      await terminal.press("Approve #1? ", "y");
      if (typeof end === "string") await terminal.press("Approve #2? ", end);
      else {
        await terminal.until("Approve #2? ");
        await terminal.signal(end);
      }
      const ended = await terminal.ended();
      assert.equal(ended.code, code, `${end}: ${ended.shown}`);
      assert.deepEqual(statuses(place), ["approved", "pending"]);
    }
  }));

Deno.test("if an editor saves the document during a review, the call is shown again", () =>
  withScene(async (place) => {
    const text = write(place, "echo harmless");
    const terminal = new AtTerminal(place, ["review", "a.chat"]);
    await terminal.until("Approve #1? ");
    place.write("a.chat", text.replace("echo harmless", "rm -rf ~"));
    await terminal.press("", "y");
    const anew = await terminal.press("Approve #1? ", "q");
    assert.match(anew, /Nothing was done, because #1 has changed since it was shown\./);
    assert.match(anew, /│ rm -rf ~\n/);
    await terminal.ended();
    assert.deepEqual(statuses(place), ["pending"]);
  }));

Deno.test("the input of a call is edited in the person's own editor, which uses the terminal meanwhile", () =>
  withScene(async (place) => {
    write(place, "echo 1");
    const editor = `${place.folder}/editor`;
    writeProgram(
      editor,
      '#!/bin/sh\n[ -t 0 ] && [ -t 1 ] || exit 9\nprintf "really? "\nread line\nsed -i "s/echo 1/echo $line/" "$1"\n',
    );
    const terminal = new AtTerminal(place, ["review", "a.chat"], { env: { VISUAL: editor } });
    await terminal.press("Approve #1? ", "e");
    await terminal.press("really? ", "edited\r");
    const anew = await terminal.press("Approve #1? ", "y");
    assert.match(anew, /Changed #1\.[^]*│ echo edited\n/);
    await terminal.press("There are no more calls to decide. ", "q");
    assert.equal((await terminal.ended()).code, 0);
    assert.match(place.read("a.chat"), /"command":"echo edited"/);
    write(place, "echo 1");
    const failing = new AtTerminal(place, ["review", "a.chat"], { env: { VISUAL: "/no/such-editor" } });
    await failing.press("Approve #1? ", "e");
    const reported = await failing.press("Approve #1? ", "q");
    assert.match(reported, /The editor "\/no\/such-editor" failed with exit code 127\./);
    await failing.ended();
  }));

Deno.test("if there is no terminal, no call or no file, or if the document is piped, review says what to do", () =>
  withScene(async (place) => {
    const text = write(place, "echo 1");
    const piped = await place.run(["review", "a.chat"]);
    assert.equal(piped.code, 2);
    assert.match(
      piped.stderr,
      /needs a terminal\.\n {2}Without one: flemma status a\.chat, then flemma approve a\.chat TARGET\n/,
    );
    const filter = await place.run(["review", "-"], { stdin: text });
    assert.deepEqual([filter.code, /works on files/.test(filter.stderr)], [2, true]);
    assert.equal((await place.run(["review"])).code, 2);
    assert.equal(place.read("a.chat"), text);
    place.write("none.chat", "@You:\nHi\n");
    place.write("open.chat", callsDocument([{ id: "c1", command: "true" }]));
    const rows: readonly (readonly [string, number, RegExp])[] = [
      ["none.chat", 0, /none\.chat: no calls are waiting for you\.\n$/],
      [
        "open.chat",
        0,
        /no calls are waiting for you yet\. flemma advance open\.chat decides about 1 call\.\n$/,
      ],
      ["gone.chat", 1, /There is no file gone\.chat/],
    ];
    for (const [file, code, words] of rows) {
      const ended = await new AtTerminal(place, ["review", file]).ended();
      assert.equal(ended.code, code, ended.shown);
      assert.match(ended.shown, words);
    }
  }));

Deno.test("review says that a document is untrusted, and refuses a lasting rule that would change nothing", () =>
  withScene(async (place) => {
    const text = write(place, "echo 1");
    place.settings("{}\n");
    place.write("a.chat", `\`\`\`json\n{"flemma":{"sandbox":false}}\n\`\`\`\n\n${text}`);
    const terminal = new AtTerminal(place, ["review", "a.chat"], { size: [100, 30] });
    const shown = (await terminal.press("Approve #1? ", "s")).replace(/\s+/g, " ");
    assert.match(
      shown,
      /This document switches the sandbox off, so its calls wait for you\. .*flemma trust /,
    );
    assert.match(shown, /runs outside the sandbox: it is switched off/);
    const explained = await place.run(["approval", "explain", "a.chat"]);
    assert.match(explained.stdout, /trust: This document switches the sandbox off/);
    const refused = (await terminal.press("Approve #1? ", "y")).replace(/\s+/g, " ");
    assert.match(
      refused,
      /This document switches the sandbox off, so its calls wait for you\. .*flemma trust /,
    );
    await terminal.press("There are no more calls to decide. ", "q");
    assert.equal((await terminal.ended()).code, 0);
    assert.deepEqual(statuses(place), ["approved"]);
  }));

const PROMPT = /bash-[\d.]+[#$] /;

Deno.test("Ctrl-Z returns to the shell, text typed in the shell decides nothing, and fg shows the call again", () =>
  withScene(async (place) => {
    write(place, "echo one");
    const shell = new Scene(place.folder, { program: ["bash", "--norc", "--noprofile", "-i"] });
    const terminal = new AtTerminal(shell, []);
    const review = [...place.program, "review", "a.chat"].map((word) => `'${word}'`).join(" ");
    await terminal.press(PROMPT, `${review}\r`);
    await terminal.press("Approve #1? ", "\x1a");
    await terminal.until("Stopped");
    await terminal.press(PROMPT, "true yes; echo $((40 + 2))\r");
    await terminal.until("42\n");
    await terminal.press(PROMPT, "fg\r");
    await terminal.press("Approve #1? ", "n");
    await terminal.press("Esc: back): ", "no");
    await terminal.press("no", "\x1a");
    await terminal.until("Stopped");
    await terminal.press(PROMPT, "fg\r");
    await terminal.press("Esc: back): no", "\r");
    await terminal.press("There are no more calls to decide. ", "\r");
    await terminal.press(PROMPT, "exit\r");
    await terminal.ended();
    assert.match(place.read("a.chat"), /status=rejected\nno\n/);
  }));

Deno.test("if no shell waits for the program, Ctrl-Z shows the call again", () =>
  withScene(async (place) => {
    write(place, "echo one");
    const terminal = new AtTerminal(place, ["review", "a.chat"]);
    await terminal.press("Approve #1? ", "\x1a");
    await terminal.press("Approve #1? ", "y");
    await terminal.press("There are no more calls to decide. ", "\r");
    assert.equal((await terminal.ended()).code, 0);
    assert.deepEqual(statuses(place), ["approved"]);
  }));
