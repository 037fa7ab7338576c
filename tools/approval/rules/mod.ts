// Evaluation of rules, loaded only if there are any.

export { evaluateCall, type RuleParts } from "./evaluate.ts";
export { worldNow } from "./world.ts";
export { checkedRule, type ProposedRule, proposeRule } from "./propose.ts";
