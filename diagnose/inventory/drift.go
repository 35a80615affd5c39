package inventory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"mcpdiag/ingest/frame"
)

// Change is what became of a tool between two listings.
type Change string

// The changes.
const (
	Added     Change = "added"
	Removed   Change = "removed"
	Redefined Change = "redefined"
	Renamed   Change = "renamed"
	Shared    Change = "same name from two servers"
)

// Drift is one tool that changed.
type Drift struct {
	Change  Change
	Server  string
	Tool    string
	Was     string   // the name before, of a renamed one; the other server, of a shared one
	Fields  []string // what of the definition changed, as description or inputSchema.properties.q
	Between string   // the two listings
}

// named are the tools of a listing, by name. Of two with one name it is the last.
func named(tools []Tool) map[string]*Tool {
	m := map[string]*Tool{}
	for i := range tools {
		m[tools[i].Name] = &tools[i]
	}
	return m
}

// Compare lists what changed from one set of tools to another, by name. A tool that is gone while one with the same
// definition, but for the name, has come was renamed.
func Compare(server, between string, before, after []Tool) (drifts []Drift) {
	old, now := named(before), named(after)
	gone := map[string][]string{}
	for _, name := range sortedNames(old) {
		if now[name] == nil {
			body := nameless(old[name])
			gone[body] = append(gone[body], name)
		}
	}
	for _, name := range sortedNames(now) {
		d := Drift{Server: server, Tool: name, Between: between}
		switch was := old[name]; {
		case was == nil:
			d.Change = Added
			if names := gone[nameless(now[name])]; len(names) > 0 {
				d.Change, d.Was = Renamed, names[0]
				gone[nameless(now[name])] = names[1:]
			}
		case was.same(now[name]):
			continue
		default:
			d.Change, d.Fields = Redefined, fields(was.Definition, now[name].Definition)
		}
		drifts = append(drifts, d)
	}
	var left []string
	for _, names := range gone {
		left = append(left, names...)
	}
	slices.Sort(left)
	for _, name := range left {
		drifts = append(drifts, Drift{Change: Removed, Server: server, Tool: name, Between: between})
	}
	return drifts
}

func sortedNames(m map[string]*Tool) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// same compares fingerprints; definitions without a canonical form are the same when their bytes are.
func (t *Tool) same(u *Tool) bool {
	if t.Fingerprint == "" || u.Fingerprint == "" {
		return t.Fingerprint == u.Fingerprint && bytes.Equal(t.Definition, u.Definition)
	}
	return t.Fingerprint == u.Fingerprint
}

// nameless is the fingerprint of a definition without its name; another text for each definition that has none.
func nameless(t *Tool) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(t.Definition, &members) == nil {
		delete(members, "name")
		if b, err := json.Marshal(members); err == nil {
			if print, err := frame.Fingerprint(b); err == nil {
				return print
			}
		}
	}
	return "name " + t.Name
}

const maxFields = 20

// fields are the paths at which two definitions differ, at most maxFields. Objects are compared member by member, all else as a whole.
func fields(before, after []byte) []string {
	if before == nil || after == nil {
		return []string{"(not known: a log has its fingerprint only)"}
	}
	var a, b any
	if decode(before, &a) != nil || decode(after, &b) != nil {
		return []string{"(the whole definition)"}
	}
	var paths []string
	differ("", a, b, &paths)
	if len(paths) > maxFields {
		paths = append(paths[:maxFields], fmt.Sprintf("and %d more", len(paths)-maxFields))
	}
	return paths
}

func decode(text []byte, v *any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

func differ(path string, a, b any, paths *[]string) {
	x, ok1 := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok1 || !ok2 {
		if p, err1 := json.Marshal(a); err1 == nil {
			if q, err2 := json.Marshal(b); err2 == nil && !bytes.Equal(p, q) {
				*paths = append(*paths, path)
			}
		}
		return
	}
	names := map[string]bool{}
	for n := range x {
		names[n] = true
	}
	for n := range y {
		names[n] = true
	}
	var sorted []string
	for n := range names {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	for _, n := range sorted {
		v, was := x[n]
		w, is := y[n]
		p := n
		if path != "" {
			p = path + "." + n
		}
		if was != is {
			*paths = append(*paths, p)
		} else {
			differ(p, v, w, paths)
		}
	}
}

// Drifts lists what changed between the listings of each server, and the names that two servers share. A listing that did not
// come to its end is not compared: what it lacks may have been on the next page.
func Drifts(servers []*Server) (drifts []Drift) {
	for _, s := range servers {
		var before *Listing
		for _, l := range s.Listings {
			if !l.Complete {
				continue
			}
			if before != nil {
				drifts = append(drifts, Compare(s.Title(), fmt.Sprintf("%s:%d and %s:%d", before.Log, before.Line, l.Log, l.Line), before.Tools, l.Tools)...)
			}
			before = l
		}
	}
	return append(drifts, shared(servers)...)
}

// Title is the server's name, or its log's.
func (s *Server) Title() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Log
}

// shared finds names that servers of different names both offer.
func shared(servers []*Server) (drifts []Drift) {
	owner := map[string]*Server{}
	for _, s := range servers {
		l := s.Last()
		if l == nil {
			continue
		}
		for _, t := range l.Tools {
			if o := owner[t.Name]; o == nil {
				owner[t.Name] = s
			} else if o.Title() != s.Title() {
				drifts = append(drifts, Drift{Change: Shared, Server: s.Title(), Tool: t.Name, Was: o.Title(), Between: o.Log + " and " + s.Log})
			}
		}
	}
	return drifts
}
