// A browser for tests: headless Chromium without network access or stored data.

import type { Browser, Page } from "playwright-core";
import { freshFolder } from "../folder.ts";

/** Where Debian puts it. */
const PROGRAM = "/usr/bin/chromium";

/** Whether it is installed. */
export const hasChromium: boolean = await Deno.stat(PROGRAM).then(() => true, () => false);

/** What says that it is not. */
export const INSTALL = "apt-get install -y chromium";

/** A page as it was opened, with all that it did beside showing itself. */
export interface OpenedPage {
  readonly page: Page;
  /** Errors of the console and of scripts, dialogs, and every address that was asked for but the page's own. */
  readonly heard: string[];
}

/** Runs `body` with a browser, and ends it. */
export async function withBrowser(body: (browser: Browser) => Promise<void>): Promise<void> {
  const { chromium } = await import("playwright-core");
  const home = await freshFolder("flemma-browser-");
  const browser = await chromium.launch({
    executablePath: PROGRAM,
    headless: true,
    env: { PATH: Deno.env.get("PATH") ?? "", HOME: home, TMPDIR: home },
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
  try {
    await body(browser);
  } finally {
    await browser.close();
    await Deno.remove(home, { recursive: true });
  }
}

/** Opens a page of a file. */
export async function openPage(
  browser: Browser,
  path: string,
  { width, dark = false }: { readonly width: number; readonly dark?: boolean },
): Promise<OpenedPage> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? "dark" : "light",
    offline: true,
  });
  const page = await context.newPage();
  const heard: string[] = [];
  const address = `file://${path}`;
  page.on("console", (message) => heard.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => heard.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    heard.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  page.on("request", (request) => {
    const url = request.url();
    if (url !== address && !url.startsWith("data:")) heard.push(`asks for ${url}`);
  });
  await page.goto(address);
  return { page, heard };
}
