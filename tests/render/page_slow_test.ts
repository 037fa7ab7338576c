// The page of a conversation in a real browser: nothing in a document is more than text, and people can read it.

import assert from "node:assert/strict";
import { pageHtml } from "../../render/html/page.ts";
import { loadMarkdown } from "../../render/markdown.ts";
import { secretMask } from "../../render/secrets.ts";
import type { ConversationView, MessageView, PartView } from "../../render/types.ts";
import { hasChromium, INSTALL, openPage, withBrowser } from "../browser/chromium.ts";
import { inFolder } from "../folder.ts";
import { INJECTIONS } from "./injections.ts";

Deno.test("the browser of the tests is installed", () => {
  assert.ok(hasChromium, INSTALL);
});

/** Messages with the text at every place that a text has in one. */
function everywhere(text: string): MessageView[] {
  const result = { kind: "result", id: text, status: null, text, line: 1 } as const;
  const parts: PartView[] = [
    { kind: "prose", text, line: 1 },
    { kind: "prose", text: `before ${text} behind`, line: 1 },
    { kind: "server_tool", title: "sources", text, line: 1 },
    { kind: "thinking", text, redacted: false, line: 1 },
    { kind: "aborted", text, line: 1 },
    {
      kind: "call",
      id: text,
      tool: text,
      label: text,
      line: 1,
      fields: [
        { name: text, kind: "text", text },
        { name: text, kind: "text", text: `${text}\n${text}\n`.repeat(10) },
        { name: text, kind: "command", text },
        { name: text, kind: "path", text },
        { name: text, kind: "diff", text: `+${text}\n-${text}\n ${text}` },
      ],
      result,
      helper: {
        name: text,
        path: text,
        state: text,
        waits: false,
        cost: text,
        conversation: {
          title: text,
          settings: { language: text, code: text, line: 1 },
          preamble: { text, line: 1 },
          messages: [{ role: text, line: 1, parts: [{ kind: "prose", text, line: 1 }] }],
        },
      },
    },
    { ...result, status: text, waitsIn: text },
    { ...result, status: "error" },
    { ...result, text: `${text}\n`.repeat(30) },
  ];
  return [{ role: text, line: 1, parts }, { role: "Assistant", line: 2, parts: parts.slice(0, 1) }];
}

async function pageOf(texts: readonly string[]): Promise<string> {
  const all = texts.join("\n");
  const pieces = pageHtml({
    title: all,
    settings: { language: all, code: all, line: 1 },
    preamble: { text: all, line: 1 },
    messages: texts.flatMap(everywhere),
  }, {
    markdown: await loadMarkdown(),
    secrets: secretMask(),
    files: texts.flatMap((text) => [
      { path: text, content: { kind: "text", text } },
      { path: text, content: { kind: "image", mimeType: text, data: text } },
      { path: text, content: { kind: "image", mimeType: "image/png", data: text } },
      {
        path: text,
        content: { kind: "image", mimeType: "image/svg+xml", data: btoa("<svg onload='alert(1)'/>") },
      },
    ]),
  });
  let html = "";
  for await (const piece of pieces) html += piece;
  return html;
}

/** Texts in one page. */
const TOGETHER = 10;

/** The elements of a page and the attributes they may have. Nothing else is ever in one. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  html: ["lang"],
  head: [],
  body: [],
  main: [],
  title: [],
  style: [],
  meta: ["charset", "http-equiv", "content", "name"],
  h1: [],
  h2: [],
  h3: [],
  h4: [],
  h5: [],
  h6: [],
  p: ["class"],
  a: ["href", "rel"],
  em: [],
  strong: [],
  s: [],
  code: [],
  pre: ["class"],
  br: [],
  hr: [],
  ul: [],
  ol: ["start"],
  li: [],
  blockquote: [],
  table: [],
  thead: [],
  tbody: [],
  tr: [],
  th: ["class"],
  td: ["class"],
  div: ["class"],
  span: ["class"],
  ins: [],
  del: [],
  article: ["class"],
  section: ["class"],
  details: ["class", "open"],
  summary: [],
  figure: [],
  figcaption: ["class"],
  img: ["src", "alt"],
};

/** Runs in the page: every element and attribute that is not allowed, and every address that leads somewhere it must not. */
const STRANGE = `(() => {
  const allowed = ${JSON.stringify(ALLOWED)};
  const found = [];
  for (const element of document.querySelectorAll("*")) {
    const name = element.localName;
    const known = allowed[name];
    if (known === undefined || element.namespaceURI !== "http://www.w3.org/1999/xhtml") found.push("<" + name + ">");
    for (const { name: attribute, value } of element.attributes) {
      if (!(known ?? []).includes(attribute)) found.push(name + " " + attribute + "=" + value);
      if (attribute === "href" && !/^(https?:|mailto:)/.test(value)) found.push("href " + value);
      if (attribute === "src" && !value.startsWith("data:")) found.push("src " + value);
      if (attribute === "class" && !/^[a-z ]+$/.test(value)) found.push("class " + value);
    }
  }
  for (const element of document.querySelectorAll("meta[http-equiv]")) {
    if (element.httpEquiv !== "Content-Security-Policy") found.push("meta " + element.httpEquiv);
  }
  if (document.querySelectorAll("meta").length !== 4 || document.querySelectorAll("style").length !== 1) found.push("head");
  return found;
})()`;

Deno.test({
  name:
    "no text of a document acts as markup in an HTML page, at any position, with and without the page's content policy",
  ignore: !hasChromium,
  fn: () =>
    withBrowser(async (browser) => {
      await inFolder(async (folder) => {
        const { page, heard } = await openPage(browser, await written(folder, "<p>"), { width: 800 });
        for (let at = 0; at < INJECTIONS.length; at += TOGETHER) {
          const texts = INJECTIONS.slice(at, at + TOGETHER);
          const html = await pageOf(texts);
          // The policy would hide what the escapes let through.
          const bare = html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "<meta>");
          assert.notEqual(bare, html);
          for (const content of [html, bare]) {
            await page.setContent(content);
            const strange = await page.evaluate<string[]>(STRANGE);
            assert.deepEqual(strange, [], texts.join("\n"));
            // People press, point and unfold.
            await page.evaluate(
              `for (const each of document.querySelectorAll("*")) { each.dispatchEvent(new Event("mouseover")); each.dispatchEvent(new Event("focus")); }`,
            );
          }
        }
        assert.deepEqual(heard, []);
        await page.context().close();
      });
    }),
});

async function written(folder: string, html: string): Promise<string> {
  const path = `${folder}/page.html`;
  await Deno.writeTextFile(path, html);
  return path;
}

const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** One of everything that a conversation may hold, and lines that are longer than any screen. */
const EVERYTHING: ConversationView = {
  title: "everything.chat",
  settings: { language: "lua", code: "flemma.opt.model = 'x'", line: 1 },
  preamble: null,
  messages: [
    { role: "System", line: 4, parts: [{ kind: "prose", text: "Be *brief*.", line: 5 }] },
    {
      role: "You",
      line: 7,
      parts: [{
        kind: "prose",
        text: `Look at ${"averylongword".repeat(40)} and https://example.org/a.`,
        line: 8,
      }],
    },
    {
      role: "Assistant",
      line: 10,
      parts: [
        { kind: "thinking", text: "Hm.\n".repeat(40), redacted: false, line: 11 },
        {
          kind: "prose",
          text: [
            "# Plan\n\n1. one\n   - two\n2. three\n\n> quoted\n",
            `| ${"column | ".repeat(12)}\n| ${"--- | ".repeat(12)}\n| ${
              "several words in a cell | ".repeat(12)
            }\n`,
            `\`\`\`\n${"x".repeat(400)}\n\`\`\`\n\n[a link](https://example.org)`,
          ].join("\n"),
          line: 12,
        },
        {
          kind: "call",
          id: "call_1",
          tool: "edit",
          label: "Change it",
          line: 40,
          fields: [
            { name: "path", kind: "path", text: "src/a.ts" },
            { name: "diff", kind: "diff", text: ` one\n-${"two ".repeat(60)}\n+three` },
          ],
          result: { kind: "result", id: "call_1", status: "error", text: "no\n".repeat(80), line: 60 },
        },
        {
          kind: "call",
          id: "call_2",
          tool: "bash",
          label: "",
          line: 70,
          fields: [{ name: "command", kind: "command", text: "make test" }],
          result: { kind: "result", id: "call_2", status: "pending", text: "", line: 75 },
        },
      ],
    },
  ],
};

Deno.test({
  name:
    "an HTML page is readable at 400 and 1200 pixels, light and dark: no text overflows, is too small or too pale",
  ignore: !hasChromium,
  fn: () =>
    withBrowser(async (browser) => {
      await inFolder(async (folder) => {
        const pieces = pageHtml(EVERYTHING, {
          markdown: await loadMarkdown(),
          secrets: secretMask(),
          files: [{ path: "./dot.png", content: { kind: "image", mimeType: "image/png", data: PICTURE } }],
        });
        let html = "";
        for await (const piece of pieces) html += piece;
        const path = await written(folder, html);
        for (const width of [400, 1200]) {
          for (const dark of [false, true]) {
            const { page, heard } = await openPage(browser, path, { width, dark });
            const what = `${width} ${dark ? "dark" : "light"}`;
            await page.evaluate(`for (const each of document.querySelectorAll("details")) each.open = true`);
            assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width, what);
            assert.deepEqual(await page.evaluate<string[]>(UNREADABLE), [], what);
            assert.equal(await page.evaluate("document.querySelector('img').naturalWidth"), 1, what);
            assert.deepEqual(heard, [], what);
            const kept = Deno.env.get("FLEMMA_PICTURES");
            if (kept !== undefined) {
              await page.screenshot({
                path: `${kept}/page-${width}-${dark ? "dark" : "light"}.png`,
                fullPage: true,
              });
            }
            await page.context().close();
          }
        }
      });
    }),
});

/** Runs in the page: texts below 12 pixels, or with less contrast than people with weak eyes need (4.5 to 1). */
const UNREADABLE = `(() => {
  const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (element) => {
    for (let each = element; each !== null; each = each.parentElement) {
      const colour = numbers(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    if (walk.currentNode.data.trim() === "") continue;
    const element = walk.currentNode.parentElement;
    const style = getComputedStyle(element);
    if (parseFloat(style.fontSize) < 12) found.add("small: " + element.localName + "." + element.className);
    const [a, b] = [light(numbers(style.color)), light(behind(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) found.add("pale: " + element.localName + "." + element.className + " " + contrast.toFixed(2));
  }
  return [...found];
})()`;
