// Makes the pictures of docs/pictures/ from real runs: real editors and the real program in a terminal, with a replay
// script as the model.
//
//   pictures.ts          those that are stale
//   pictures.ts NAME…    these
//   pictures.ts --all    all of them

import { parseReplayScript, startReplay } from "../providers/replay/server.ts";
import { print, ROOT } from "./gate/root.ts";
import { FILES, replyFor, type Scene, SCENES, SETTINGS } from "./pictures/scenes.ts";
import { digestOf, PICTURES, SOURCES, stalePictures } from "./pictures/stale.ts";
import { screenSvg } from "./pictures/svg.ts";

/**
 * The home folder of the user in the pictures, and its displayed name. Both have the same length, so that nothing on a
 * screen moves. Nobody can know the name in advance, and only this user may enter.
 */
const HOME = `/tmp/${crypto.randomUUID().slice(0, 4)}`;
const SHOWN = "/home/you";
const PROJECT = `${HOME}/stats`;

const LONGEST_WAIT = 60_000;
const POLL = 50;
/** Number of times in a row that a screen must look the same before its picture is taken. */
const STILL = 10;

async function picture(scene: Scene): Promise<string> {
  // This throws if the folder exists already.
  await Deno.mkdir(HOME, { mode: 0o700 });
  await Deno.mkdir(PROJECT);
  try {
    const script = await parseReplayScript(replyFor(scene));
    if (!script.ok) throw new Error(script.problem.message);
    const replay = await startReplay(script.value);
    try {
      await prepare(scene);
      return await play(scene, {
        PATH: `${HOME}/bin:${Deno.env.get("PATH")}`,
        HOME,
        DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
        XDG_RUNTIME_DIR: `${HOME}/run`,
        LANG: "C.UTF-8",
        SHELL: "/bin/sh",
        TERM: "xterm-256color",
        COLORTERM: "truecolor",
        ANTHROPIC_API_KEY: "played",
        FLEMMA_ANTHROPIC_BASE_URL: replay.url,
      });
    } finally {
      await replay.close();
    }
  } finally {
    await removed(HOME);
  }
}

/** Removes a folder in which programs that were asked to end may still write for a moment. */
async function removed(folder: string): Promise<void> {
  const begun = performance.now();
  for (;;) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch (thrown) {
      if (performance.now() - begun > LONGEST_WAIT) throw thrown;
      await new Promise((done) => setTimeout(done, POLL));
    }
  }
}

async function prepare(scene: Scene): Promise<void> {
  await Deno.mkdir(`${HOME}/bin`);
  await Deno.mkdir(`${HOME}/run`, { mode: 0o700 });
  await Deno.mkdir(`${HOME}/.config/flemma`, { recursive: true });
  await Deno.writeTextFile(`${HOME}/.config/flemma/config.yaml`, SETTINGS);
  for (const [name, text] of Object.entries(FILES)) await Deno.writeTextFile(`${PROJECT}/${name}`, text);
  await Deno.writeTextFile(`${PROJECT}/notes.chat`, scene.document);
  const program = `exec '${Deno.execPath()}' run -A --quiet '${ROOT}/cli.ts' "$@"`;
  await Deno.writeTextFile(`${HOME}/bin/flemma`, `#!/bin/sh\n${program}\n`, { mode: 0o755 });
}

async function play(scene: Scene, env: Readonly<Record<string, string>>): Promise<string> {
  const tmux = async (...words: readonly string[]) => {
    const { success, stdout } = await new Deno.Command("tmux", {
      args: ["-S", `${HOME}/.tmux`, "-f", "/dev/null", ...words],
      cwd: PROJECT,
      clearEnv: true,
      env,
      stdin: "null",
      stderr: "inherit",
    }).output();
    if (!success) throw new Error(`tmux ${words[0]} failed`);
    return new TextDecoder().decode(stdout);
  };
  const [columns, rows] = scene.size;
  await tmux("new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, "--", ...scene.start);
  try {
    await tmux("set-option", "-g", "status", "off");
    await settled(tmux, scene.start.includes("sh") ? scene.acts[0]!.until : "@You:");
    for (const { keys, until } of scene.acts) {
      for (const key of keys) {
        const literal = key.length > 3 && !["Enter", "Escape"].includes(key);
        await tmux("send-keys", ...(literal ? ["-l"] : []), "--", key);
      }
      await settled(tmux, until);
    }
    const screen = await tmux("capture-pane", "-p", "-e", "-N");
    return screenSvg(screen.replaceAll(HOME, SHOWN), columns, scene.title, scene.light);
  } finally {
    await tmux("kill-server");
  }
}

/** Settles once a text is on the screen and nothing on the screen changes any more. */
async function settled(tmux: (...words: string[]) => Promise<string>, wanted: string): Promise<void> {
  const begun = performance.now();
  let last = "";
  for (let same = 0; same < STILL;) {
    const screen = await tmux("capture-pane", "-p");
    same = screen === last && screen.includes(wanted) ? same + 1 : 0;
    last = screen;
    if (performance.now() - begun > LONGEST_WAIT) throw new Error(`no ${wanted} on the screen:\n${screen}`);
    await new Promise((done) => setTimeout(done, POLL));
  }
}

const asked = Deno.args.includes("--all")
  ? SCENES.map(({ name }) => name)
  : Deno.args.length > 0
  ? Deno.args
  : await stalePictures();
const known: Record<string, string> = JSON.parse(await Deno.readTextFile(`${ROOT}/${SOURCES}`));
for (const scene of SCENES.filter(({ name }) => asked.includes(name))) {
  await Deno.writeTextFile(`${ROOT}/${PICTURES}/${scene.name}.svg`, await picture(scene));
  known[scene.name] = await digestOf(scene);
  print(`${PICTURES}/${scene.name}.svg`);
}
const kept = SCENES.map(({ name }) => [name, known[name]]).filter(([, digest]) => digest !== undefined);
await Deno.writeTextFile(`${ROOT}/${SOURCES}`, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
