// Template tags in bytes: what opens and closes one, and that nothing after the end of a text counts.

import assert from "node:assert/strict";
import { endOfRaw, isRaw, openedEnd, readTag, tagOpener, tagsIn } from "../../parser/text/tags.ts";

const encoder = new TextEncoder();

/** Where what opens at the beginning of a text ends, or -1. */
function end(text: string): number {
  const bytes = encoder.encode(text);
  return openedEnd(bytes, 0, bytes.length);
}

const WHOLE: readonly string[] = [
  "{{}}",
  "{{a}}",
  "{{-a-}}",
  "{{-}}",
  "{{--}}",
  "{{ --}}\n}}",
  "{{ {} }}",
  "{{ {{}} }}",
  "{{ {} {} }}",
  "{{ } }}",
  "{{ '}}' }}",
  '{{ "}}" }}',
  "{{ '\\'}}' }}",
  "{{ '\\\\' }}",
  '{{ "\'}}" }}',
  "{{ [[}}]] }}",
  "{{ [=[ }} ]] ]==] ]=] }}",
  "{{ [==[]=]]==] }}",
  "{{ a[1] }}",
  "{{ a[=] }}",
  "{{ --[[ }} ]] }}",
  "{{ --[=[ }} ]] ]=] }}",
  "{{ -- }}\n }}",
  "{{ - }}",
  "{% %}",
  "{%-x-%}",
  "{% } %}",
  "{% { %}",
  "{% '%}' %}",
  "{% a % b %}",
  "{% raw %} {{ {% endraw %}",
  "{%- raw -%}x{%- endraw -%}",
  "{%raw%}{%endraw%}",
  "{%\traw\r\n%}{% x %}{% endraws %}{% endra %}{%\n endraw\t%}",
];

Deno.test("a template tag ends at its closing delimiter; if the last byte of the delimiter is missing, the tag is still open", () => {
  for (const text of WHOLE) {
    assert.equal(end(text), text.length, text);
    assert.equal(end(text.slice(0, -1)), -1, `${text} without its end`);
    assert.equal(end(`${text} }} %} {% endraw %}`), text.length, `${text} and more`);
  }
});

Deno.test("text that is not the closing delimiter does not close a template tag", () => {
  for (
    const text of [
      "{{ } ",
      "{{ {{ }}",
      "{{ '}}",
      "{{ '}}\\'",
      "{{ [[ }}",
      "{{ [=[ }} ]]",
      "{{ -- }}",
      "{{ --[[ }}",
      "{{ %}",
      "{% }}",
      "{% % }",
      "{% raw %} {% endraws %}",
      "{% raw %} {{ endraw }}",
      "{% raw %} {% endraw",
      "{% raw %} {% endraw %",
      "{% raw %} {% end raw %}",
    ]
  ) assert.equal(end(text), -1, text);
});

Deno.test("a code tag begins a raw section only if its only word is raw, with any spaces around the word", () => {
  const raw = (text: string) => {
    const bytes = encoder.encode(text);
    const tag = readTag(bytes, 0, bytes.length);
    assert.ok(tag !== null);
    return isRaw(bytes, tag);
  };
  for (const text of ["{% raw %}", "{%raw%}", "{%-raw-%}", "{%\t\r\n raw %}"]) assert.ok(raw(text), text);
  for (
    const text of ["{{ raw }}", "{% raws %}", "{% ra %}", "{% raw x %}", "{% rew %}", "{% Raw %}", "{% %}"]
  ) {
    assert.ok(!raw(text), text);
  }
});

Deno.test("an opening delimiter has two bytes; its first byte alone at the end of a text does not open a tag", () => {
  const at = (text: string, from = 0) => tagOpener(encoder.encode(text), from, text.length);
  assert.deepEqual(["{{", "a{%", "{ {{", "{{{", "{", "a{", "{a{", ""].map((text) => at(text)), [
    0,
    1,
    2,
    0,
    -1,
    -1,
    -1,
    -1,
  ]);
  assert.deepEqual([at("{{ {%", 1), at("{{ {%", 4)], [3, -1]);
});

Deno.test("a text is in one of three states: no template tags, only closed tags, or an open tag at its end", () => {
  const of = (text: string) => tagsIn(encoder.encode(text));
  assert.deepEqual(["", "a { b", "}}"].map(of), ["none", "none", "none"]);
  assert.deepEqual(["{{a}}", "x{% a %}{{b}}y", "{% raw %}{{{% endraw %}"].map(of), [
    "closed",
    "closed",
    "closed",
  ]);
  assert.deepEqual(["{{", "{{a}} {%", "{% raw %}{{a}}"].map(of), ["open", "open", "open"]);
});

Deno.test("bytes after the end of a text do not change how the text is parsed", () => {
  for (const text of [...WHOLE, "{% raw %} {%- endraw -%} {% raw %}{% endraw %}"]) {
    const bytes = encoder.encode(`${text}}} %}]]]=]'"\n{% endraw %}`);
    for (let to = 2; to <= text.length; to++) {
      const cut = bytes.slice(0, to);
      const what = `${text} up to ${to}`;
      assert.deepEqual(readTag(bytes, 0, to), readTag(cut, 0, to), what);
      assert.equal(openedEnd(bytes, 0, to), openedEnd(cut, 0, to), what);
      for (const from of [0, 1, 2]) {
        assert.deepEqual(endOfRaw(bytes, from, to), endOfRaw(cut, from, to), what);
        assert.equal(tagOpener(bytes, from, to), tagOpener(cut, from, to), what);
      }
    }
  }
});
