// What documents of one process share of their providers, for hosts that hold several.

export { RequestLimiter } from "../../providers/http/limiter.ts";
