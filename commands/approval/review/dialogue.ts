// The review dialogue: one call at a time, shown in full before it can be approved, with undo for each step.

import type { ProposedRule, ShownCall } from "../../../agent/types.ts";
import type { SettingsRule } from "../../../agent/rules/settings_rule.ts";
import type { Outcome, Problem } from "../../../base/problem.ts";
import { isObject } from "../../../base/is_object.ts";
import type { WrittenRule } from "../../../config/rules/read_rule.ts";
import type { Decided, ReviewController, ReviewStep } from "./controller.ts";
import { END, INTERRUPT, type PressedKey } from "./keys.ts";
import { formatRule, ruleFrom } from "./rule_line.ts";
import { callLines, reasonLines } from "./screen.ts";
import type { Tty } from "./tty.ts";
import { ReviewView } from "./view.ts";

export interface Helpers {
  /** Opens a text in the person's editor; null if they leave it unchanged. */
  edit(text: string): Promise<Outcome<string | null>>;
  /** Returns where a rule would be written in the person's settings. */
  settingsRule(rule: WrittenRule): Promise<Outcome<SettingsRule>>;
}

/** How a dialogue ended, with the counts. */
export interface Ending {
  readonly how: "done" | "quit" | "interrupted";
  readonly approved: number;
  readonly rejected: number;
  readonly waiting: number;
  /** True if the person decided anything, also by a rule, and did not undo it. */
  readonly decided: boolean;
  /** Calls without an approval decision yet. */
  readonly unasked: number;
  /** Reasons why documents could not be opened. */
  readonly problems: readonly Problem[];
}

/**
 * What happens after a key: show the next call, ask the same question again (`stay`), show the same call from its
 * beginning, or end.
 */
type Turn = "next" | "stay" | "again" | "quit" | "interrupted";

/** A step that can be undone, and the index of its document. */
interface Done {
  readonly step: ReviewStep;
  readonly controller: number;
  readonly counted: "approved" | "rejected" | null;
}

const KEYS =
  "y approve  n reject  e edit  s always (this session)  a always (all documents)  k skip  u undo  w why  l show again  q quit";
const MORE = "space more  G all  n reject  k skip  u undo  q quit";

export class Dialogue {
  readonly #tty: Tty;
  readonly #view: ReviewView;
  readonly #controllers: readonly ReviewController[];
  readonly #helpers: Helpers;
  readonly #done: Done[] = [];
  /** Ids of skipped calls, per document. */
  readonly #skipped: readonly Set<string>[];
  readonly #waiting: number[];
  readonly #unasked: number[];
  readonly #problems: (Problem | null)[];
  readonly #greeted = new Set<number>();
  readonly #asksAtEnd: boolean;
  #at = 0;

  /** @param asksAtEnd whether the person may undo the last decision before the dialogue ends */
  constructor(
    tty: Tty,
    controllers: readonly ReviewController[],
    helpers: Helpers,
    { asksAtEnd = true }: { readonly asksAtEnd?: boolean } = {},
  ) {
    this.#tty = tty;
    this.#asksAtEnd = asksAtEnd;
    this.#view = new ReviewView(tty);
    this.#controllers = controllers;
    this.#helpers = helpers;
    this.#skipped = controllers.map(() => new Set<string>());
    this.#waiting = controllers.map(() => 0);
    this.#unasked = controllers.map(() => 0);
    this.#problems = controllers.map(() => null);
  }

  async run(): Promise<Ending> {
    for (;;) {
      const turn = this.#at < this.#controllers.length ? await this.#document() : await this.#farewell();
      if (turn === "next") this.#at += 1;
      if (turn === "quit" || turn === "interrupted") return await this.#ending(turn);
    }
  }

  /** Handles one call of the current document; returns `next` if no call is left. */
  async #document(): Promise<Turn> {
    const at = this.#at;
    const controller = this.#controllers[at]!;
    const found = await controller.waiting();
    this.#problems[at] = found.ok ? null : found.problem;
    if (!found.ok) return "next";
    const { calls, unasked, doubts } = found.value;
    this.#waiting[at] = calls.length;
    this.#unasked[at] = unasked;
    const call = calls.find(({ id }) => !this.#skipped[at]!.has(id));
    if (call === undefined) return "next";
    if (!this.#greeted.has(at)) {
      this.#greeted.add(at);
      for (const doubt of doubts) this.#view.say(doubt, "yellow");
    }
    const turn = await this.#call(controller, call.id, calls.length);
    return turn === "next" ? "again" : turn;
  }

  /** Shows a call page by page and acts on the keys. */
  async #call(controller: ReviewController, id: string, waiting: number): Promise<Turn> {
    const found = await controller.show(id);
    if (!found.ok) return this.#view.tell(found.problem), this.#skip(id, `#${id}`), "next";
    const shown = found.value;
    const lines = callLines(shown, controller.label, waiting, this.#view.format);
    let rest: readonly string[] = lines;
    this.#view.show([""]);
    while (rest.length > 0) {
      const page = rest.slice(0, this.#view.room(rest.length, MORE));
      this.#view.show(page);
      rest = rest.slice(page.length);
      if (rest.length === 0) break;
      const turn = await this.#more(controller, shown, rest.length);
      if (turn === "all") {
        this.#view.show(rest);
        break;
      }
      if (turn !== "more") return turn;
    }
    for (;;) {
      const key = await this.#view.ask(KEYS, `Approve #${shown.number}? `);
      const turn = await this.#whole(key, controller, shown);
      if (turn !== "stay") return turn;
    }
  }

  /** Handles keys before the whole call was shown: the call can be rejected, but not approved. */
  async #more(controller: ReviewController, shown: ShownCall, left: number): Promise<Turn | "more" | "all"> {
    for (;;) {
      const question = `${left} more line${left === 1 ? "" : "s"} of #${shown.number}: `;
      const key = await this.#view.ask(MORE, question);
      switch (key) {
        case "space":
        case "enter":
          return "more";
        case "G":
          return "all";
        case "n":
        case "k":
        case "u":
        case "q":
        case END:
        case INTERRUPT:
        case null: {
          const turn = await this.#whole(key, controller, shown);
          if (turn !== "stay") return turn;
          break;
        }
        default:
          this.#view.say(`${left} more line${left === 1 ? " has" : "s have"} not been shown yet.`, "yellow");
      }
    }
  }

  /** Handles a key that was pressed after the whole call was shown. */
  async #whole(key: PressedKey | null, controller: ReviewController, shown: ShownCall): Promise<Turn> {
    switch (key) {
      case "y":
        return this.#decided(await controller.approve(shown), "approved", shown);
      case "n":
        return await this.#reject(controller, shown);
      case "e":
        return await this.#edit(controller, shown);
      case "s":
        return await this.#always(controller, shown, "login");
      case "a":
        return await this.#always(controller, shown, "settings");
      case "k":
        this.#skip(shown.id, `#${shown.number}`);
        return "next";
      case "u":
        return await this.#undo() ? "again" : "stay";
      case "w":
        this.#view.show(reasonLines(shown, this.#view.format));
        return "stay";
      case "l":
        return "again";
      case "q":
      case END:
      case null:
        return "quit";
      case INTERRUPT:
        return "interrupted";
      default:
        this.#view.say("Press one of the keys above.", "dim");
        return "stay";
    }
  }

  async #reject(controller: ReviewController, shown: ShownCall): Promise<Turn> {
    const reason = await this.#tty.line("Reason for the model (Enter: none, Esc: back): ", "");
    if (reason === null) return "stay";
    return this.#decided(await controller.reject(shown, reason.trim()), "rejected", shown);
  }

  async #edit(controller: ReviewController, shown: ShownCall): Promise<Turn> {
    let text = JSON.stringify(shown.input, null, 2);
    for (;;) {
      const edited = await this.#helpers.edit(`${text}\n`);
      if (!edited.ok) return this.#view.tell(edited.problem), "stay";
      if (edited.value === null) return this.#view.say("Nothing was changed.", "dim"), "stay";
      text = edited.value;
      const input = parsed(text);
      if (input !== null) {
        const decided = await controller.edit(shown, input);
        const turn = this.#decided(decided, null, shown);
        return turn === "next" ? "again" : turn;
      }
      this.#view.say("Nothing was changed, because that is not a JSON object.", "yellow");
      if (await this.#view.ask("e edit again  any other key: cancel", "") !== "e") return "stay";
    }
  }

  /** Shows a rule for calls like this one; if the person agrees, approves the call and adds the rule. */
  async #always(controller: ReviewController, shown: ShownCall, where: "login" | "settings"): Promise<Turn> {
    const proposed = await controller.propose(shown);
    if (!proposed.ok) return this.#view.tell(proposed.problem), "stay";
    let rule: ProposedRule = proposed.value;
    for (;;) {
      const target = where === "settings" ? await this.#helpers.settingsRule(rule.written) : null;
      if (target !== null && !target.ok) return this.#view.tell(target.problem), "stay";
      const place = target === null ? null : target.value;
      this.#view.say(
        place === null
          ? `For this document, in this session: ${rule.text}`
          : `For all documents, from now on: ${rule.text}`,
      );
      if (place !== null) this.#view.say(`${place.path}:${place.line}: ${place.text}`, "dim");
      const key = await this.#view.ask(
        "y yes, and approve this call  e edit the rule  any other key: no",
        "",
      );
      if (key === "y") return await this.#keep(controller, shown, rule, place);
      if (key === INTERRUPT) return "interrupted";
      if (key !== "e") return "stay";
      rule = await this.#edited(controller, shown, rule, proposed.value) ?? rule;
    }
  }

  /** Lets the person edit the rule; null, with the reason shown, if the result does not approve the call. */
  async #edited(
    controller: ReviewController,
    shown: ShownCall,
    rule: ProposedRule,
    proposed: ProposedRule,
  ): Promise<ProposedRule | null> {
    const line = await this.#tty.line("Rule: ", formatRule(rule));
    if (line === null) return null;
    const written = ruleFrom(line, proposed);
    if (!written.ok) return this.#view.say(`This is not a rule: ${written.problem}.`, "yellow"), null;
    const checked = await controller.propose(shown, written.value);
    if (checked.ok) return checked.value;
    this.#view.tell(checked.problem);
    return null;
  }

  async #keep(
    controller: ReviewController,
    shown: ShownCall,
    { written }: ProposedRule,
    place: SettingsRule | null,
  ): Promise<Turn> {
    const decided = await controller.approve(shown);
    const turn = this.#decided(decided, "approved", shown);
    if (turn !== "next") return turn;
    const problem = place === null ? await controller.addRule(written) : await place.write();
    if (problem !== null) {
      this.#view.say("The call is approved this time only:", "yellow");
      this.#view.tell(problem);
      return "next";
    }
    this.#view.say(place === null ? "The rule applies for this session." : `The rule is in ${place.path}.`);
    const { step, controller: at, counted } = this.#done.pop()!;
    const back = () => place === null ? controller.removeRule(written) : place.undo();
    const undo = async () => await back() ?? await step.undo();
    this.#done.push({ step: { ...step, what: `${step.what} and its rule`, undo }, controller: at, counted });
    return "next";
  }

  /** Records the result of a decision. A call that changed since it was shown is shown again. */
  #decided(decided: Outcome<Decided>, counted: Done["counted"], { number }: ShownCall): Turn {
    if (!decided.ok) return this.#view.tell(decided.problem), "stay";
    if (decided.value.kind === "changed") {
      const now = decided.value.waits ? ". It is now:" : " and no longer waits for you.";
      this.#view.say(`Nothing was done, because #${number} has changed since it was shown${now}`, "yellow");
      return "again";
    }
    this.#done.push({ step: decided.value.step, controller: this.#at, counted });
    this.#view.say(
      `${counted === null ? "Changed" : counted === "approved" ? "Approved" : "Rejected"} #${number}.`,
    );
    return "next";
  }

  #skip(id: string, name: string): void {
    const skipped = this.#skipped[this.#at]!;
    skipped.add(id);
    const undo = () => {
      skipped.delete(id);
      return Promise.resolve(null);
    };
    this.#done.push({
      step: { what: `skipping ${name}`, id, undo },
      controller: this.#at,
      counted: null,
    });
  }

  /** Undoes the last step; false if there is none, or if the undo fails. */
  async #undo(): Promise<boolean> {
    const last = this.#done.pop();
    if (last === undefined) {
      this.#view.say("There is nothing to undo.", "dim");
      return false;
    }
    const problem = await last.step.undo();
    if (problem !== null) {
      this.#view.tell(problem);
      return false;
    }
    this.#skipped[last.controller]!.delete(last.step.id);
    this.#at = last.controller;
    this.#view.say(`Undone: ${last.step.what}.`);
    return true;
  }

  /** Offers a last undo when no call is left. */
  async #farewell(): Promise<Turn> {
    if (this.#done.length === 0 || !this.#asksAtEnd) return "quit";
    const key = await this.#view.ask(
      "u undo the last decision  any other key: quit",
      "There are no more calls to decide. ",
    );
    if (key === INTERRUPT) return "interrupted";
    if (key !== "u") return "quit";
    return await this.#undo() ? "again" : "quit";
  }

  async #ending(turn: "quit" | "interrupted"): Promise<Ending> {
    for (const [at, controller] of this.#controllers.entries()) {
      const found = await controller.waiting();
      if (!found.ok) continue;
      this.#waiting[at] = found.value.calls.length;
      this.#unasked[at] = found.value.unasked;
    }
    const count = (kind: Done["counted"]) => this.#done.filter(({ counted }) => counted === kind).length;
    const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
    return {
      how: turn === "interrupted" ? turn : this.#at >= this.#controllers.length ? "done" : "quit",
      approved: count("approved"),
      rejected: count("rejected"),
      waiting: sum(this.#waiting),
      decided: this.#done.length > 0,
      unasked: sum(this.#unasked),
      problems: this.#problems.filter((problem) => problem !== null),
    };
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    // The caller reports the mistake and offers to edit the text again.
    return null;
  }
}
