// The parts used of the official Model Context Protocol client; loaded only if a server is configured.

export { Client, StreamableHTTPClientTransport } from "npm:@modelcontextprotocol/client@2.4.0";
