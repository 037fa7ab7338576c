// The nearest-name search, for rooms that reach the format through this one.

export { distance, nearest } from "../base/nearest.ts";
