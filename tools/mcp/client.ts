// The parts used of the official Model Context Protocol client; loaded only if a server is asked or called.

export {
  checkResourceAllowed,
  Client,
  computeScopeUnion,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  refreshAuthorization,
  registerClient,
  startAuthorization,
  StreamableHTTPClientTransport,
  validateAuthorizationResponseIssuer,
} from "npm:@modelcontextprotocol/client@2.4.0";
