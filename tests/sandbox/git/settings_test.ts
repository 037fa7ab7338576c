// Settings of git: read as git reads them, sorted by what they do, and kept or taken out after commands.

import assert from "node:assert/strict";
import {
  checkChangedSettings,
  checkNewSettings,
  leadingSettings,
  refusedSentence,
} from "../../../sandbox/git/settings_changes.ts";
import { readGitSettings, settingAsText } from "../../../sandbox/git/settings_file.ts";
import { settingEffect } from "../../../sandbox/git/settings_table.ts";
import { git } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

/** Pieces from which any text that a command may write is put together. */
const PIECES = [
  ...'[core]\n|[Core] |[remote "a b"]\n|[a.B]|[x "q\\"u\\\\"]|\n|\r\n| |\t|fsmonitor = x\n|k=|Key|= "a'.split(
    "|",
  ),
  ...'"|\\|\\\n|\\n|#|; \\\n|;c\n|a;b|path|-|=|true\n|"]|[|]|\u00e9|1'.split("|"),
];

/** The same pseudo-random choices in every run. */
function choices(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * most);
  };
}

test("any text is read as git reads it, and texts that git refuses are not valid", (root) => {
  const choose = choices(7);
  const random = Array.from({ length: 300 }, () => {
    const text = Array.from({ length: 1 + choose(7) }, () => PIECES[choose(PIECES.length)]).join("");
    return choose(4) === 0 ? text : `[core]\n\t${text}`;
  });
  const cases = ["[core]\r\n\tpager = ./a\\\r\n/b\r\n", "\uFEFF[core]\n\tpager = ./a\n", ...random];
  let [valid, settings] = [0, 0];
  for (const text of cases) {
    Deno.writeTextFileSync(`${root}/config`, text);
    const { code, stdout } = new Deno.Command("git", {
      args: ["config", "--no-includes", "-z", "--list", "--file", `${root}/config`],
      env: { HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
      stderr: "null",
    }).outputSync();
    const read = readGitSettings(text);
    // Git reads settings outside a section too, but refuses to use them.
    if (/^[^[]*[A-Za-z]/.test(text.replace(/[#;].*/g, ""))) continue;
    assert.equal(read.valid, code === 0, JSON.stringify(text));
    if (code !== 0) continue;
    valid++;
    const expected = new TextDecoder().decode(stdout).split("\0").filter(Boolean).map((line) => {
      const [key = "", ...value] = line.split("\n");
      return { key, value: value.length === 0 ? "true" : value.join("\n").replaceAll("\t", " ") };
    });
    settings += expected.length;
    assert.deepEqual(
      read.settings.map(({ key, value }) => ({ key, value: value.replaceAll("\t", " ") })),
      expected,
      JSON.stringify(text),
    );
    // Each setting can be cut out, and written again.
    for (const { key, value } of read.settings) {
      const [again] = readGitSettings(settingAsText({ key, value })).settings;
      assert.deepEqual([again?.key, again?.value], [key, value], JSON.stringify(text));
    }
  }
  assert.ok(valid > 40 && settings > 20, `${valid} valid texts with ${settings} settings`);
});

Deno.test("a text with a NUL character is not valid, because git would read another name", () => {
  assert.equal(readGitSettings('[core "fsmonitor\0"]\n\tx = evil\n').valid, false);
});

/** Every setting of git-config(1), git-lfs-config(5) and others that runs a program or names where programs are. */
const RUNS = [
  ...["alias.x", "alias.x.command", "branch.x.mergeoptions", "browser.x.cmd", "browser.x.path"],
  ...["core.alternaterefscommand", "core.askpass", "core.editor", "core.fsmonitor", "core.gitproxy"],
  ...["core.hookspath", "core.pager", "core.sshcommand", "credential.helper", "credential.https://x.helper"],
  ...["diff.external", "diff.x.command", "diff.x.textconv", "difftool.x.cmd", "difftool.x.path"],
  ...["filter.x.clean", "filter.x.process", "filter.x.smudge", "gc.recentobjectshook", "gitcvs.dbdriver"],
  ...["gpg.program", "gpg.x509.program", "gpg.ssh.defaultkeycommand", "guitool.x.cmd", "help.browser"],
  ...["hook.x.command", "hook.x.event", "imap.tunnel", "include.path", "includeif.gitdir:/.path"],
  ...["init.templatedir", "instaweb.browser", "instaweb.httpd", "instaweb.modulepath"],
  ...["interactive.difffilter", "man.viewer", "man.x.cmd", "man.x.path", "merge.x.driver"],
  ...["mergetool.x.cmd", "mergetool.x.path", "mergetool.vimdiff.layout", "pager.log", "protocol.allow"],
  ...["protocol.ext.allow", "pull.octopus", "pull.twohead", "remote.x.receivepack", "remote.x.uploadpack"],
  ...["remote.x.vcs", "sendemail.cccmd", "sendemail.headercmd", "sendemail.sendmailcmd"],
  ...["sendemail.smtpserver", "sendemail.tocmd", "sendemail.x.smtpserver", "sequence.editor"],
  ...["submodule.x.update", "svn.authorsprog", "tar.x.command", "trailer.x.cmd", "trailer.x.command"],
  ...["uploadpack.packobjectshook", "web.browser", "lfs.customtransfer.x.path", "lfs.extension.x.clean"],
  ...["lfs.standalonetransferagent", "gitflow.path.hooks", "annex.youtube-dl-command", "mytool.helper"],
  ...["rebase.instructionformat", "diff.tool", "diff.guitool", "merge.tool", "merge.guitool"],
  ...["remote.x.annex-shell", "remote.x.annex-cost-command"],
];

/** Settings of git whose names sound as if they ran something, but do not. */
const ONLY_SOUND =
  /^(?:advice|color|column|fsck|receive\.fsck|completion|rebase|repack|credential\.usehttppath|diff\.(?:tool|guitool)|merge\.(?:tool|guitool)|mergetool\.|difftool\.|guitool\.|core\.fsmonitorhookversion|help\.htmlpath|extensions|notes\.rewrite|http\.|core\.quotepath|sendemail\.smtpsslcertpath|uploadpack\.allowfilter|gui\.|clone\.|commitgraph|remote\..*\.(?:partialclonefilter|proxy))/;

test("every setting that git knows and that names a program is in the table", () => {
  for (const key of RUNS) assert.equal(settingEffect(key, "./evil"), "runs", key);
  const known = git("/", "help", "--config-for-completion").split("\n").filter(Boolean)
    .map((key) => key.toLowerCase().replace(/<[^>]*>|\*/g, "x"));
  const sounds = known.filter((key) =>
    /(?:cmd|command|program|hooks?|hookspath|driver|editor|pager|askpass|tunnel|httpd|textconv|clean|smudge|process|helper|external|filter|browser|viewer|vcs|pack|path|templatedir|proxy|server)$/
      .test(key) && !ONLY_SOUND.test(key)
  );
  const others = sounds.filter((key) => settingEffect(key, "./evil") !== "runs");
  assert.deepEqual(others, [], "look these up in git-config(1)");
});

Deno.test("a switch runs nothing, and a plain setting of a known or unknown section neither", () => {
  for (
    const [key, value] of [
      ["core.fsmonitor", "true"],
      ["pager.log", "false"],
      ["submodule.x.update", "rebase"],
      ["pull.rebase", "true"],
      ["user.name", "a"],
      ["mytool.color", "x"],
      ["diff.tool", "vimdiff"],
      ["merge.guitool", "meld"],
      ["remote.x.gh-resolved", "base"],
    ] as const
  ) assert.equal(settingEffect(key, value), "plain", key);
});

const BEFORE =
  '# mine\n[core]\n\tbare = false\n\tpager = less\n[remote "origin"]\n\turl = https://h/a\n\tfetch = +a:b\n' +
  '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n[branch "gone"]\n\tremote = origin\n' +
  '[submodule "s"]\n\turl = https://h/s\n';
const FACTS = {
  hasBranch: (name: string) => name !== "gone",
  isOwnWorktree: (value: string) => value === "ok",
};

/** Arguments of `git config` after which the text is checked, and the keys that do not stay. */
const CHANGES: readonly (readonly [string, readonly string[][], readonly string[]])[] = [
  ["nothing", [], []],
  ["a remote that is added", [["remote.b.url", "https://h/b"], ["remote.b.fetch", "+c:d"]], []],
  ["a remote whose address is a command", [["remote.b.url", "ext::sh -c evil"]], ["remote.b.url"]],
  ["a remote with a program", [["remote.b.uploadpack", "evil"]], ["remote.b.uploadpack"]],
  ["the address of a remote", [["remote.origin.url", "https://evil"]], ["remote.origin.url"]],
  ["a second address of a remote", [["--add", "remote.origin.url", "https://evil"]], ["remote.origin.url"]],
  ["an address for pushes", [["remote.origin.pushurl", "https://evil"]], ["remote.origin.pushurl"]],
  ["what is fetched", [["--add", "remote.origin.fetch", "+x:y"]], ["remote.origin.fetch"]],
  ["a detail of a remote", [["remote.origin.promisor", "true"]], []],
  ["a remote that is removed", [["--remove-section", "remote.origin"]], [
    "remote.origin.fetch",
    "remote.origin.url",
  ]],
  ["a branch that is added", [["branch.b.remote", "origin"], ["branch.b.merge", "refs/heads/b"]], []],
  ["the upstream of a branch", [["branch.main.merge", "refs/heads/b"]], []],
  ["the remote of a branch", [["branch.main.remote", "evil"]], ["branch.main.remote"]],
  ["a remote for pushes of a branch", [["branch.main.pushremote", "evil"]], ["branch.main.pushremote"]],
  ["options for merges", [["branch.b.mergeoptions", "-s x/evil"]], ["branch.b.mergeoptions"]],
  ["a branch that is removed and does not exist", [["--remove-section", "branch.gone"]], []],
  [
    "a branch that is removed and exists",
    [["--remove-section", "branch.main"]],
    [
      "branch.main.merge",
      "branch.main.remote",
    ].slice(1),
  ],
  ["a submodule that is added", [["submodule.t.url", "https://h/t"], ["submodule.t.active", "true"]], []],
  ["a submodule with a command", [["submodule.t.update", "!evil"]], ["submodule.t.update"]],
  ["a submodule that is removed", [["--remove-section", "submodule.s"]], []],
  ["the address of a submodule", [["submodule.s.url", "https://evil"]], ["submodule.s.url"]],
  ["a plain setting", [["pull.rebase", "true"], ["user.name", "a"]], []],
  ["a plain setting that is changed", [["core.bare", "true"]], ["core.bare"]],
  ["another format", [["core.repositoryformatversion", "1"], ["extensions.worktreeConfig", "true"]], []],
  ["a command", [["core.fsmonitor", "./evil"]], ["core.fsmonitor"]],
  ["a command that is changed", [["core.pager", "./evil"]], ["core.pager"]],
  ["other addresses for all remotes", [["url.https://evil/.insteadOf", "https://h/"]], [
    "url.https://evil/.insteadof",
  ]],
  ["a proxy", [["http.proxy", "evil"]], ["http.proxy"]],
  ["a default for pushes", [["remote.pushDefault", "evil"]], ["remote.pushdefault"]],
  ["another working folder", [["core.worktree", "/"]], ["core.worktree"]],
  ["the working folder of a submodule", [["core.worktree", "ok"]], []],
  ["further settings", [["include.path", "../x"]], ["include.path"]],
];

for (const [name, changes, expected] of CHANGES) {
  test(`after commands, ${name} ${expected.length === 0 ? "stays" : "does not stay"} in a configuration`, (root) => {
    const file = `${root}/config`;
    Deno.writeTextFileSync(file, BEFORE);
    for (const change of changes) git(root, "config", "--file", file, ...change);
    git(root, "config", "--file", file, "remote.also.url", "https://h/also");
    const checked = checkChangedSettings(BEFORE, Deno.readTextFileSync(file), FACTS);
    assert.deepEqual(checked?.refused.map(({ key }) => key).sort(), expected);
    Deno.writeTextFileSync(file, checked!.text);
    for (const { key, before } of checked!.refused) {
      const left: string[] = readGitSettings(checked!.text).settings.filter((each) => each.key === key).map((
        { value },
      ) => value);
      assert.deepEqual(left, before, key);
    }
    // What else was changed stays, and so does the person's comment.
    assert.equal(git(root, "config", "--file", file, "remote.also.url"), "https://h/also\n");
    assert.match(checked!.text, /^# mine\n/);
  });
}

Deno.test("a text that git would refuse is not checked", () => {
  assert.equal(checkChangedSettings(BEFORE, "[core", FACTS), null);
  assert.equal(checkChangedSettings("[core", BEFORE, FACTS), null);
  assert.equal(checkNewSettings(null, "not a configuration", FACTS), null);
});

Deno.test("in a new repository only what runs something is taken out, except what was there before", () => {
  const text =
    "# made\n[core]\n\tbare = false\n\teditor = vim\n[pull] rebase = true\n[core] fsmonitor = ./evil ; c\n[a]\nb = c\n" +
    '[url "x"]\n\tinsteadOf = y\n[core]\n\tworktree = /\n';
  assert.deepEqual(checkNewSettings(null, text, FACTS), {
    text:
      '# made\n[core]\n\tbare = false\n\t[pull] rebase = true\n[core] [a]\nb = c\n[url "x"]\n\tinsteadOf = y\n[core]\n\t',
    refused: [
      { key: "core.editor", before: [], after: ["vim"], reason: "runs" },
      { key: "core.fsmonitor", before: [], after: ["./evil"], reason: "runs" },
      { key: "core.worktree", before: [], after: ["/"], reason: "leads" },
    ],
    removed: new Map(),
  });
  const kept = checkNewSettings("[core]\n\teditor = vim\n", text, FACTS);
  assert.deepEqual(kept?.refused.map(({ key }) => key), ["core.fsmonitor", "core.worktree"]);
});

Deno.test("a repository that is there again keeps its addresses, but not its other settings", () => {
  const removed = leadingSettings(
    '[remote "o"]\n\turl = a\n\tfetch = f\n[branch "m"]\n\tremote = o\n[user]\n\tname = n\n',
  );
  assert.deepEqual([...removed.keys()], ["remote.o.url", "branch.m.remote"]);
  const again = (text: string, before: string | null = null) =>
    checkNewSettings(before, text, FACTS, removed);
  const evil = '[remote "o"]\n\turl = evil\n\tfetch = f\n[core]\n\tpager = ./evil\n';
  const found = again(evil);
  assert.deepEqual(found?.refused, [
    { key: "remote.o.url", before: ["a"], after: ["evil"], reason: "changed" },
    { key: "core.pager", before: [], after: ["./evil"], reason: "runs" },
  ]);
  const values = readGitSettings(found!.text).settings.map(({ key, value }) => [key, value]);
  assert.deepEqual(values, [["remote.o.fetch", "f"], ["remote.o.url", "a"]]);
  assert.deepEqual(again('[remote "o"]\n\turl = a\n')?.refused, [], "the same value");
  assert.deepEqual(again('[remote "p"]\n\turl = evil\n')?.refused, [], "another remote");
  assert.deepEqual(again("[user]\n\tname = x\n")?.refused, [], "a setting that leads nowhere");
  assert.deepEqual(again(evil, evil)?.refused, [], "it was there before");
});

Deno.test("a message names both values of a setting, without the password in an address", () => {
  const url = (host: string) => `https://me:secret@${host}/a`;
  assert.deepEqual(
    [
      { key: "remote.o.url", before: [url("a")], after: [url("b")], reason: "changed" as const },
      { key: "remote.o.url", before: [url("a")], after: [], reason: "changed" as const },
      { key: "core.pager", before: [], after: ["./x"], reason: "runs" as const },
      { key: "http.proxy", before: [], after: ["x"], reason: "leads" as const },
    ].map(refusedSentence),
    [
      "remote.o.url was changed to https://…@b/a and is https://…@a/a again",
      "remote.o.url was removed and is https://…@a/a again",
      "core.pager = ./x was taken out, because git would run it",
      "http.proxy = x was taken out, because it leads git elsewhere",
    ],
  );
});
