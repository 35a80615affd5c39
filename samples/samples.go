// Package samples holds the sample logs: one call to search_invoices whose answer of 41,827 bytes was written in 83 ms and never
// read, so that the user gave up after 4,432 ms. The client's log cannot tell why and the server's log shows nothing wrong;
// joined, they say "written, not read". A longer pair, with every kind of trouble, is in the folder incident.
//
// Both are plain files as well: mcpdiag join samples/client.log samples/server.log.
package samples

import _ "embed" // for the two logs

// Client is client.log, the log at the client's end in the native format (v1): the request and the cancel.
//
//go:embed client.log
var Client []byte

// Server is server.log, the log at the server's end in the native format (v1): request read, handler entered and left, response
// written. Its clock is not the client's.
//
//go:embed server.log
var Server []byte
