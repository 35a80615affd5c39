// Package gosdk records what a client or server on the official Go SDK (github.com/modelcontextprotocol/go-sdk) reads, does and
// writes, from inside its process: the only place where it shows which frames its reader accepted, and when a handler was
// entered and left.
//
// On stdio, Stdio, IO and Transport are transports that record; Middleware adds handler_enter and handler_exit with the request's
// id.
//
//	server.AddReceivingMiddleware(gosdk.Middleware(rec))
//	server.Run(ctx, gosdk.Stdio(rec))
//
// Over HTTP a server's handler goes into Handler, and a client gets an http.Client whose Transport is tap.HTTP's. Do not wrap
// StreamableClientTransport itself: the SDK tells its own transports things that a wrapper does not hear, and the client would
// leave out its MCP-Protocol-Version header and its GET stream.
//
// The SDK does not tell a middleware the id of the request that it serves. What it does hand on are the headers that came with
// the request (RequestExtra.Header), so the id travels there, under a name that the outside cannot set.
package gosdk
