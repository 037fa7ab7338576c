// Who may switch the tools of a provider on, and how documents and projects restrict them.

import assert from "node:assert/strict";
import { writeTree } from "../../config/layers/write_tree.ts";
import { draftLayer } from "../../config/layers/draft.ts";
import { effectiveSettings } from "../../config/layers/effective.ts";
import { covers } from "../../config/layers/narrowing.ts";
import type { LayerLog } from "../../config/layers/log.ts";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import type { Layer } from "../../config/types.ts";

const catalog = BUILTIN_CATALOG;

/** The search after layers have been written, in order, with the keys of their warnings. */
function searchAfter(...layers: readonly (readonly [layer: Layer, value: unknown])[]) {
  const others: LayerLog[] = [];
  const warned: string[] = [];
  for (const [layer, value] of layers) {
    const draft = draftLayer({ layer, others, catalog });
    const faults = draft.apply("set", ["server_tools", "web_search"], value);
    warned.push(...[...faults, ...draft.warnings].map(({ key }) => `${layer} ${key?.split(".").at(-1)}`));
    others.push(draft.log);
  }
  return { search: effectiveSettings(others, { catalog }).settings.server_tools.web_search, warned };
}

Deno.test("the tools of a provider are off, and only the person can switch them on", () => {
  assert.equal(searchAfter().search.enabled, false);
  assert.equal(searchAfter().search.max_uses, 5);
  for (const layer of ["G", "R", "C"] as const) {
    assert.deepEqual(searchAfter([layer, true]), { ...searchAfter([layer, true]), warned: [] });
    assert.equal(searchAfter([layer, true]).search.enabled, true, layer);
  }
  for (const layer of ["P", "M"] as const) {
    assert.deepEqual(searchAfter([layer, true]).warned, [`${layer} enabled`]);
    assert.equal(searchAfter([layer, true]).search.enabled, false, layer);
    assert.equal(searchAfter(["G", true], [layer, false]).search.enabled, false, layer);
  }
});

Deno.test("a table of the person switches a tool on unless it says otherwise; one of a document does not", () => {
  for (const layer of ["G", "R", "C"] as const) {
    assert.equal(searchAfter([layer, { max_uses: 2 }]).search.enabled, true, layer);
    assert.equal(searchAfter([layer, { enabled: false, max_uses: 2 }]).search.enabled, false, layer);
  }
  for (const layer of ["P", "M"] as const) {
    assert.deepEqual(searchAfter([layer, { max_uses: 2 }]), {
      search: { ...searchAfter().search, max_uses: 2 },
      warned: [],
    });
    assert.equal(searchAfter(["G", true], [layer, { max_uses: 2 }]).search.enabled, true, layer);
  }
});

Deno.test("a document and a project can only lower the uses", () => {
  for (const layer of ["P", "M"] as const) {
    assert.equal(searchAfter(["G", { enabled: true }], [layer, { max_uses: 2 }]).search.max_uses, 2);
    const raised = searchAfter(["G", { enabled: true }], [layer, { max_uses: 9 }]);
    assert.deepEqual([raised.search.max_uses, raised.warned], [5, [`${layer} max_uses`]]);
  }
});

Deno.test("of the domains that a document allows, those count that were allowed before", () => {
  const rows:
    readonly (readonly [before: string[] | null, own: unknown, after: string[] | null, warned: boolean])[] = [
      [null, ["docs.rs"], ["docs.rs"], false],
      [["docs.rs"], ["docs.rs"], ["docs.rs"], false],
      [["docs.rs", "deno.com"], ["api.docs.rs"], ["api.docs.rs"], false],
      [["docs.rs"], ["deno.com", "docs.rs"], ["docs.rs"], true],
      [["api.docs.rs"], ["docs.rs"], [], true],
      [["docs.rs"], ["notdocs.rs"], [], true],
      [["docs.rs"], [], [], false],
      [["docs.rs"], null, ["docs.rs"], true],
      [[], ["docs.rs"], [], true],
    ];
  for (const [before, own, after, warns] of rows) {
    for (const layer of ["P", "M"] as const) {
      const found = searchAfter(["G", { enabled: true, allowed_domains: before }], [layer, {
        allowed_domains: own,
      }]);
      assert.deepEqual(found.search.allowed_domains, after, JSON.stringify([before, own]));
      assert.equal(found.warned.length > 0, warns, JSON.stringify([before, own, found.warned]));
    }
  }
});

Deno.test("a document can block more domains, and unblock or allow none", () => {
  const person = draftLayer({ layer: "G", others: [], catalog });
  person.apply("set", ["server_tools", "web_search"], {
    blocked_domains: ["a.com"],
    allowed_domains: ["b.com"],
  });
  const blocked = ["server_tools", "web_search", "blocked_domains"];
  const allowed = ["server_tools", "web_search", "allowed_domains"];
  const own = draftLayer({ layer: "M", others: [person.log], catalog });
  own.apply("append", blocked, "c.com");
  own.apply("remove", blocked, "a.com");
  own.apply("set", blocked, []);
  own.apply("append", allowed, "d.com");
  const { web_search: search } = effectiveSettings([person.log, own.log], { catalog }).settings.server_tools;
  assert.deepEqual(search.blocked_domains, ["a.com", "c.com"]);
  assert.deepEqual(search.allowed_domains, ["b.com"]);
  assert.equal(own.warnings.length, 3);
});

Deno.test("a domain is written without scheme, path and port", () => {
  for (const wrong of ["https://docs.rs", "docs.rs/x", "docs.rs:443", "docs", "*.docs.rs", "", 1]) {
    const { warned } = searchAfter(["G", { allowed_domains: [wrong] }]);
    assert.deepEqual(warned, ["G allowed_domains"], String(wrong));
  }
  assert.deepEqual(searchAfter(["G", { allowed_domains: ["sub-1.docs.rs"] }]).warned, []);
});

Deno.test("a domain covers itself and what is below it, in any case", () => {
  assert.ok(covers("docs.rs", "docs.rs"));
  assert.ok(covers("Docs.rs", "api.docs.RS"));
  assert.ok(!covers("docs.rs", "notdocs.rs"));
  assert.ok(!covers("api.docs.rs", "docs.rs"));
});

Deno.test("a table in a settings file switches a tool on, too, for the person but not for a project or document", () => {
  const written = (layer: Layer, tree: unknown) => {
    const draft = draftLayer({ layer, others: [], catalog });
    assert.deepEqual(writeTree(draft, tree, { catalog }), []);
    return effectiveSettings([draft.log], { catalog }).settings.server_tools.web_search;
  };
  const tables: readonly (readonly [tree: unknown, isOn: boolean])[] = [
    [{ server_tools: { web_search: { max_uses: 2 } } }, true],
    [{ "server_tools.web_search": { max_uses: 2 } }, true],
    [{ server_tools: { web_search: { $set: { max_uses: 2 } } } }, true],
    [{ server_tools: { web_search: { max_uses: 2, enabled: false } } }, false],
    [{ server_tools: { web_search: { enabled: false, max_uses: 2 } } }, false],
    [{ "server_tools.web_search.max_uses": 2 }, false],
  ];
  for (const [tree, isOn] of tables) {
    const row = JSON.stringify(tree);
    for (const layer of ["G", "C"] as const) {
      assert.deepEqual(
        [written(layer, tree).enabled, written(layer, tree).max_uses],
        [isOn, 2],
        `${layer} ${row}`,
      );
    }
    for (const layer of ["P", "M"] as const) {
      assert.equal(written(layer, tree).enabled, false, `${layer} ${row}`);
    }
  }
});
