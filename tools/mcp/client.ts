// The parts used of the official Model Context Protocol client; loaded only if a server is configured.

export { Client } from "npm:@modelcontextprotocol/sdk@1.32.2/client/index.js";
export { StreamableHTTPClientTransport } from "npm:@modelcontextprotocol/sdk@1.32.2/client/streamableHttp.js";
export {
  ListRootsRequestSchema,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from "npm:@modelcontextprotocol/sdk@1.32.2/types.js";
