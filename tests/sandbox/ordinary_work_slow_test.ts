// A developer's day inside the sandbox with default settings: each command works, or its result says why it cannot.
// Needs git, make, a C compiler, node, npm and python3.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene } from "../cli/harness.ts";

interface Row {
  readonly command: string;
  /** What the result says when the sandbox refuses the command on purpose; absent if it must work. */
  readonly refused?: RegExp;
}

/** In this order; each row may use what the rows above it made. */
const DAY: readonly Row[] = [
  { command: "git status --short" },
  { command: "git log --oneline -3 && git diff HEAD --stat" },
  { command: "ls -la && find . -name '*.c' && grep -rn main src" },
  { command: "mkdir -p build docs && printf 'notes\\n' > docs/notes.md" },
  { command: "sed -i 's/hello/good day/' src/main.c && git diff --exit-code src/main.c; [ $? = 1 ]" },
  { command: "cc -o build/main src/main.c && ./build/main" },
  { command: "make && make test" },
  { command: "git add -A && git commit -qm 'Say good day'" },
  { command: "git switch -q -c topic && printf 'more\\n' >> docs/notes.md && git commit -qam 'Add a note'" },
  { command: "git switch -q main && git merge -q --no-edit topic" },
  { command: "git tag v1 && git describe --tags" },
  {
    command:
      "printf 'draft\\n' >> docs/notes.md && git stash -q && git stash pop -q && git checkout -q docs/notes.md",
  },
  { command: "git switch -q -c other HEAD~1 && printf 'x\\n' > x.txt && git add x.txt && git commit -qm X" },
  { command: "git rebase -q main && git log --oneline | grep -q X" },
  {
    command: "git switch -q main && git cherry-pick other >/dev/null && git revert --no-edit HEAD >/dev/null",
  },
  { command: "git blame src/main.c | head -1 && git show --stat HEAD | tail -1" },
  { command: "git branch -m other renamed && git branch -D renamed" },
  { command: "git worktree add -q wt topic && git -C wt status --short && git worktree remove wt" },
  { command: "git format-patch -1 -o build HEAD && git apply --check -R build/0001-*.patch" },
  { command: "git clone -q . build/clone && git -C build/clone log -1 --format=%s" },
  { command: "git remote add backup ../elsewhere.git && git remote -v | grep -q backup" },
  { command: "git config pull.rebase true && git config pull.rebase" },
  { command: "git bisect start HEAD HEAD~1 >/dev/null && git bisect reset" },
  { command: "git gc -q && git fsck --no-progress" },
  { command: "git fetch -q origin && git pull -q --ff-only" },
  { command: "git push -q origin main", refused: /elsewhere|sandbox|read-only/i },
  { command: "npm init -y >/dev/null && node -e \"console.log(require('./package.json').name)\"" },
  {
    command:
      'mkdir -p lib/dep && printf \'{"name":"dep","version":"1.0.0","bin":"b.js"}\' > lib/dep/package.json && printf \'#!/usr/bin/env node\\nconsole.log(42)\\n\' > lib/dep/b.js && npm install --no-audit --no-fund ./lib/dep',
  },
  { command: "npx --no-install dep" },
  { command: "npm pkg set scripts.test='node -e 0' && npm test" },
  { command: "npm ci --no-audit --no-fund" },
  { command: "npm cache verify" },
  { command: "python3 -c 'import json, sys; print(json.dumps(sys.version_info[:2]))'" },
  { command: "python3 -m venv --without-pip build/venv && build/venv/bin/python -c 'print(1)'" },
  { command: "python3 -m unittest discover -s tests 2>&1 | tail -1; true" },
  {
    command:
      "python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & for i in 1 2 3 4 5 6 7 8 9; do python3 -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:8123/').read()\" 2>/dev/null && kill $! && exit 0; sleep 0.2; done; exit 1",
  },
  { command: "tar czf build/src.tgz src && tar tzf build/src.tgz && gunzip -t build/src.tgz" },
  { command: "cp -r src build/src && mv build/src build/moved && rm -r build/moved" },
  { command: "chmod +x src/main.c && chmod -x src/main.c && ln -s src/main.c build/link && rm build/link" },
  {
    command:
      "diff -u src/main.c docs/notes.md > build/d.patch; [ $? = 1 ] && patch --dry-run -p0 src/main.c build/d.patch",
  },
  { command: "sort docs/notes.md | uniq -c | awk '{print $2}' | xargs echo" },
  { command: 't=$(mktemp) && echo a > "$t" && cat "$t" && rm "$t"' },
  { command: "env | sort | head -3 && date -u +%Y && id -un && uname -s" },
  { command: "sleep 60 & kill $! && wait $!; [ $? -gt 128 ]" },
  {
    command:
      "printf 'build/\\nnode_modules/\\n' > .gitignore && git add .gitignore && git commit -qm 'Ignore what is built'",
  },
  {
    command: "head -c 300000 /dev/zero | tr '\\0' a > build/big && wc -c < build/big && seq 1 20000 | wc -l",
  },
  { command: "printf 'alias x=y\\n' >> ~/.bashrc", refused: /sandbox.*rw_paths|read-only.*sandbox/is },
  { command: "ls ~ >/dev/null && cat /etc/hostname /proc/version >/dev/null && df . >/dev/null" },
  { command: "git config --global user.name nobody", refused: /sandbox|Read-only file system/i },
];

async function prepare(place: Scene): Promise<void> {
  place.settings("tools: { autopilot: { enabled: false } }\n");
  const setUp = `
    mkdir -p src tests && touch ~/.bashrc
    git config --global user.name Someone && git config --global user.email someone@example.org
    git config --global init.defaultBranch main && git init -q . && git init -q --bare ../elsewhere.git
    printf '#include <stdio.h>\\nint main(void) { puts("hello"); return 0; }\\n' > src/main.c
    printf 'all: build/made\\nbuild/made: src/main.c\\n\\tmkdir -p build && cc -o $@ $<\\ntest: all\\n\\t./build/made\\n' > Makefile
    printf 'import unittest\\nclass T(unittest.TestCase):\\n    def test(self): pass\\n' > tests/test_one.py
    echo day.chat >> .git/info/exclude && git add -A && git commit -qm First && printf 'two\\n' > two && git add -A && git commit -qm Second
    git remote add origin ../elsewhere.git && git push -q -u origin main`;
  const { code, stderr } = await place.shell(setUp);
  assert.equal(code, 0, stderr);
}

testWithScene(
  "each ordinary command works in the sandbox, or its result says why it cannot",
  async (place) => {
    await prepare(place);
    const failures: string[] = [];
    for (const { command, refused } of DAY) {
      place.write("day.chat", callsDocument([{ id: "c1", command }]));
      const { stderr } = await place.run(["advance", "--no-autopilot", "day.chat"]);
      const result = place.read("day.chat").split("**Tool Result:**")[1] ?? `no result: ${stderr}`;
      const failed = /^ *`c1` \(error\)/.test(result) || result.startsWith("no result") ||
        /status=/.test(result);
      const holds = refused === undefined ? !failed : failed && refused.test(result);
      if (!holds) failures.push(`${command}\n${result.trim()}\n${stderr.trim()}`);
    }
    assert.equal(DAY.length, 49);
    assert.deepEqual(failures, []);
  },
);
