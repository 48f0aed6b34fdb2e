/** `punchlist/mcp`: the MCP server as a library. */
export { type HttpOptions, type HttpServer, serveOverHttp } from './http.ts'
export { type Call, type ServerOptions, serverFactory } from './server.ts'
export { serveOverStdio } from './stdio.ts'
