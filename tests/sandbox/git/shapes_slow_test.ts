// The forms of a repository and a home folder: git and plain commands work, and what git runs is out of reach.

import assert from "node:assert/strict";
import { createSandbox, isInside, type RunSandbox } from "../../../sandbox/mod.ts";
import { git, IDENTITY, plant, runInside, settings, world } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

function repository(folder: string): void {
  plant(folder, "file");
  git(folder, "init", "-q");
  git(folder, "add", "file");
  git(folder, "commit", "-qm", "one");
}

interface Shape {
  /** Makes the shape below a folder; the work is done in `project`. */
  make(root: string): void;
  /** Writable besides the project. */
  writable?: string[];
  /** What git would run, below the folder: it must not change. */
  hooks: string[];
  /** Whether a commit is possible. */
  commits: boolean;
}

const SHAPES: Readonly<Record<string, Shape>> = {
  "an ordinary repository": {
    make: (root) => repository(`${root}/project`),
    hooks: ["project/.git/hooks/pre-commit", "project/.git/config"],
    commits: true,
  },
  "a worktree next to its repository": {
    make(root) {
      repository(`${root}/main`);
      git(`${root}/main`, "worktree", "add", "-q", "../project");
    },
    writable: ["main"],
    hooks: ["main/.git/hooks/pre-commit", "main/.git/config", "main/.git/worktrees/project/config.worktree"],
    commits: true,
  },
  "a worktree whose repository is not writable": {
    make(root) {
      repository(`${root}/main`);
      git(`${root}/main`, "worktree", "add", "-q", "../project");
    },
    hooks: [
      ...[
        "main/.git/hooks/pre-commit",
        "main/.git/config",
        "main/.git/HEAD",
        "main/.git/index",
        "project/.git",
      ],
      ...["main/.git/worktrees/project/commondir", "main/file", "main/.git/info/attributes"],
    ],
    commits: true,
  },
  "a submodule": {
    make(root) {
      repository(`${root}/lib`);
      repository(`${root}/outer`);
      git(`${root}/outer`, "submodule", "--quiet", "add", "../lib", "sub");
      Deno.symlinkSync("outer/sub", `${root}/project`);
    },
    writable: ["outer"],
    hooks: ["outer/.git/modules/sub/hooks/pre-commit", "outer/.git/modules/sub/config", "outer/.git/config"],
    commits: true,
  },
  "a submodule whose repository is not writable": {
    make(root) {
      repository(`${root}/lib`);
      repository(`${root}/outer`);
      git(`${root}/outer`, "submodule", "--quiet", "add", "../lib", "sub");
      Deno.symlinkSync("outer/sub", `${root}/project`);
    },
    hooks: ["outer/.git/modules/sub/hooks/pre-commit", "outer/.git/config", "outer/.git/HEAD", "outer/file"],
    commits: true,
  },
  "a .git that is a link inside the writable paths": {
    make(root) {
      repository(`${root}/project`);
      Deno.mkdirSync(`${root}/store`);
      Deno.renameSync(`${root}/project/.git`, `${root}/store/p.git`);
      Deno.symlinkSync("../store/p.git", `${root}/project/.git`);
    },
    writable: ["store"],
    hooks: ["store/p.git/hooks/pre-commit", "store/p.git/config"],
    commits: true,
  },
  "a .git that is a link out of the writable paths": {
    make(root) {
      repository(`${root}/project`);
      Deno.renameSync(`${root}/project/.git`, `${root}/p.git`);
      Deno.symlinkSync("../p.git", `${root}/project/.git`);
    },
    hooks: ["p.git/hooks/pre-commit", "p.git/config"],
    commits: false,
  },
};

function sandboxOver(
  root: string,
  writable: readonly string[],
  variables: Record<string, string> = {},
): RunSandbox {
  return createSandbox({
    settings: settings({
      policy: { rw_paths: ["urn:flemma:cwd", ...writable.map((name) => `${root}/${name}`)] },
    }),
    environment: world(root, variables, `${root}/project`),
    document: null,
    protect: [],
  });
}

for (const [name, { make, writable = [], hooks, commits }] of Object.entries(SHAPES)) {
  test(`in ${name} git works ${commits ? "and commits" : "for reading"}, and its hooks cannot be changed`, async (root) => {
    make(root);
    const sandbox = sandboxOver(root, writable);
    const status = await runInside(sandbox, "echo new > new && git status --porcelain");
    assert.equal(status.out, "?? new\n", status.err);
    const commit = `git add new && git ${IDENTITY.join(" ")} commit -qm two && git log --format=%s`;
    const { out, err } = await runInside(sandbox, commit);
    assert.equal(out, commits ? "two\none\n" : "", err);
    if (!commits) assert.match(err, /Read-only file system/);
    for (const hook of hooks) {
      const before = textOf(`${root}/${hook}`);
      await runInside(sandbox, `echo evil > ${root}/${hook}; mv -f new ${root}/${hook}; true`);
      assert.equal(textOf(`${root}/${hook}`), before, hook);
    }
  });
}

function textOf(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return null;
  }
}

test("commands work with an empty home folder, with a cache behind a link, and with a broken link to the resolver settings", async (root) => {
  repository(`${root}/project`);
  plant(root, "store/", "home/.cache -> ../store");
  const usual = settings();
  const sandboxes = [
    { ...usual },
    { ...usual, policy: { ...usual.policy, rw_paths: ["urn:flemma:cwd", "~/.cache"] } },
    {
      ...usual,
      backends: {
        bwrap: {
          path: "bwrap",
          extra_args: ["--tmpfs", "/mnt", "--symlink", "/mnt/gone/resolv.conf", "/mnt/resolv.conf"],
        },
      },
    },
  ].map((each) =>
    createSandbox({
      settings: each,
      environment: world(root, {}, `${root}/project`),
      document: null,
      protect: [],
    })
  );
  for (const sandbox of sandboxes) {
    const { out } = await runInside(sandbox, "echo hi && git status --porcelain && echo done");
    assert.equal(out, "hi\ndone\n");
  }
});

Deno.test("commands can reach the sockets for name resolution", () => {
  const sandbox = createSandbox({
    settings: settings(),
    environment: { cwd: "/", home: "/root", variables: {} },
    document: null,
    protect: [],
  });
  const { masked, runtime } = sandbox.sockets();
  for (const kept of ["/run/nscd", "/run/systemd/resolve"]) {
    const around = [...masked, ...runtime].filter((path) => isInside(kept, path) || isInside(path, kept));
    assert.deepEqual(around, []);
  }
});
