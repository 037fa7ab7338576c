// A page in a real browser that posts what it found to `/report`.

import { freshFolder } from "./folder.ts";

/** How a browser is started: without a screen, and asking nobody for anything but the page. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** Longest that a page may take, in milliseconds, unless its test says otherwise. */
const PATIENCE = 300_000;

/**
 * Shows a page that loads one module, and answers what it posted.
 *
 * @param script the text of the module
 */
export async function inBrowser(script: string, patience: number = PATIENCE): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/report") {
      resolve(await request.json());
      return new Response();
    }
    if (pathname === "/main.js") {
      return new Response(script, { headers: { "content-type": "text/javascript" } });
    }
    const page =
      '<!doctype html><meta charset="utf-8"><body></body><script type="module" src="/main.js"></script>';
    return new Response(page, { headers: { "content-type": "text/html" } });
  });
  const profile = await freshFolder("flemma-browser-");
  const { port } = server.addr as Deno.NetAddr;
  const browser = new Deno.Command("chromium", {
    args: [...FLAGS, `--user-data-dir=${profile}`, `http://127.0.0.1:${port}/`],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const late = setTimeout(() => reject(new Error("the page told nothing in time")), patience);
  browser.status.then(({ code }) =>
    reject(new Error(`the browser ended with ${code} before the page told anything`))
  );
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    try {
      browser.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await browser.status;
    await Deno.remove(profile, { recursive: true }).catch(() => {});
  }
}
