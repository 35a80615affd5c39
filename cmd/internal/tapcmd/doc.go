// Package tapcmd is the command line of the recorders, which mcpdiag and mcptap share.
package tapcmd
