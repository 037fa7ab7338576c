// What judges rules, loaded only where there are any.

export { evaluateCall, type RuleParts } from "./evaluate.ts";
export { worldNow } from "./world.ts";
export { checkedRule, type ProposedRule, proposeRule } from "./propose.ts";
