// Package inventory lists the tools that servers offered, with fingerprints of their definitions, what their calls cost, and
// how the definitions changed.
//
// A fingerprint is the SHA-256 of the canonical form (RFC 8785) of the entire definition: it does not depend on the order of
// members or on any encoder, and every redefinition changes it. Sizes and token estimates are over the same canonical form.
// The pages of one pagination of tools/list are one listing.
//
// The package is total over any input: a frame that makes no sense is counted, never refused.
package inventory
