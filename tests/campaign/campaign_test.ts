// The short forms of the campaigns; the long ones are `deno task campaign saves|replies|kills`.

import { kills } from "./kills.ts";
import { replies } from "./replies.ts";
import { saves } from "./saves.ts";

Deno.test("a few saves by another writer at random and aimed instants lose nothing", async () => {
  await saves(16, 1);
});

Deno.test("a few saves by editors' habits while replies stream lose nothing and cut nothing", async () => {
  await replies(8, 1);
});

Deno.test("a few kills lose nothing, double nothing and leave nothing behind", async () => {
  await kills(3, 1);
});
