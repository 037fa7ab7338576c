// The pictures on the pages are current: none is older than what it shows, each is on a page, and each is small text.

import assert from "node:assert/strict";
import { documentationPages } from "../../scripts/gate/documentation.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { SCENES } from "../../scripts/pictures/scenes.ts";
import { digestOf, PICTURES, stalePictures } from "../../scripts/pictures/stale.ts";
import { screenSvg } from "../../scripts/pictures/svg.ts";
import { testInFolder as test } from "../folder.ts";

Deno.test("no picture in the docs is older than the program it shows", async () => {
  assert.deepEqual(await stalePictures(), [], "make them again, and look at them: deno task pictures");
});

test("a picture is outdated if a file that it shows or any part of its scene has changed", async (root) => {
  const [scene] = SCENES;
  const shown = { ...scene!, shows: ["shown"] };
  await Deno.mkdir(`${root}/shown/deep`, { recursive: true });
  await Deno.mkdir(`${root}/scripts/pictures`, { recursive: true });
  await Deno.writeTextFile(`${root}/scripts/pictures/svg.ts`, "one");
  await Deno.writeTextFile(`${root}/shown/deep/a.vim`, "one");
  const before = await digestOf(shown, root);
  assert.equal(await digestOf(shown, root), before);
  assert.notEqual(await digestOf({ ...shown, title: "another" }, root), before);
  assert.notEqual(await digestOf({ ...shown, thinks: true }, root), before);
  assert.notEqual(await digestOf({ ...shown, start: ["vi"] }, root), before);
  for (const file of ["shown/deep/a.vim", "scripts/pictures/svg.ts"]) {
    await Deno.writeTextFile(`${root}/${file}`, "two");
    assert.notEqual(await digestOf(shown, root), before, file);
    await Deno.writeTextFile(`${root}/${file}`, "one");
  }
});

Deno.test("each picture is used on a page, has a text alternative, and has at most 16 KB", async () => {
  const text = (await documentationPages()).map((page) => Deno.readTextFileSync(`${ROOT}/${page}`)).join(
    "\n",
  );
  for (const { name, light } of SCENES) {
    const file = `[./a-z]*pictures/${name}\\.svg`;
    // The light form of a picture is an alternative source of an image with words.
    const place = light === true
      ? `<source media="\\(prefers-color-scheme: light\\)" srcset="${file}">\\s*<img alt="[^"]{20,}"`
      : `!\\[[^\\]]{20,}\\]\\(${file}\\)`;
    assert.match(text, new RegExp(place), name);
    const svg = await Deno.readTextFile(`${ROOT}/${PICTURES}/${name}.svg`);
    assert.ok(svg.length < 16_000, `${name}: ${svg.length}`);
    assert.doesNotMatch(svg, /<script|href|url\(|@import|\/tmp\//);
  }
});

Deno.test("the SVG of a screen has each cell in its position and its colors, and XML characters as text", () => {
  const svg = screenSvg(
    "a  b\x1b[1;31mc<\x1b[0m\n\x1b[7m  x\x1b[27m\x1b[38;5;208my\x1b[48;2;1;2;3m z \x1b[39;49m\n",
    9,
    "Two & a half",
  );
  assert.match(svg, /viewBox="0 0 96 58"/);
  assert.match(svg, /<title>Two &#38; a half<\/title>/);
  assert.match(
    svg,
    /<tspan x="12" textLength="32">a\u00a0\u00a0b<\/tspan><tspan x="44" textLength="16" fill="#ff7b72" font-weight="bold">c&#60;<\/tspan>/,
  );
  assert.match(svg, /<rect x="12" y="29" width="24" height="17" fill="#e6edf3"\/>/);
  assert.match(
    svg,
    /<tspan x="28" textLength="8" fill="#0d1117">x<\/tspan><tspan x="36" textLength="8" fill="#ff8700">y<\/tspan>/,
  );
  assert.match(svg, /<rect x="44" y="29" width="24" height="17" fill="#010203"\/>/);
});
