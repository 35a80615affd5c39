package audit

import (
	"strings"

	"mcpdiag/ingest/frame"
)

// The versions of the protocol. They are dates, and compared as texts.
const (
	v2024  = "2024-11-05"
	v2503  = "2025-03-26"
	v2506  = "2025-06-18"
	v2511  = "2025-11-25" // the last legacy one
	v2607  = "2026-07-28" // the first modern one
	prefix = "io.modelcontextprotocol/"
)

// dirs are the directions that a method may go.
type dirs uint8

const (
	toServer  dirs = 1 << frame.C2S
	toClient  dirs = 1 << frame.S2C
	eitherWay      = toServer | toClient
)

// Method is one row of the catalogue of methods: the spec's, all versions.
type Method struct {
	Name      string
	Primitive string
	Dirs      dirs   // in the legacy versions, and in the modern one unless Modern says otherwise
	Modern    dirs   // in 2026-07-28
	Since     string // the first version that has it
	Until     string // the last; "" is still there
	Cap       string // what must have been declared: of a request by its receiver, of a notification by its sender
	CapSince  string
	Result    string // members of a success with their types: name:{} name:[] name:""
	Extension string // the extension that it belongs to from 2026-07-28 on
}

const tasksExtension = prefix + "tasks"

// Methods lists the catalogue.
func Methods() []Method {
	return []Method{
		{Name: "initialize", Primitive: "lifecycle", Dirs: toServer, Until: v2511, Result: `protocolVersion:"" capabilities:{} serverInfo:{}`},
		{Name: "ping", Primitive: "lifecycle", Dirs: eitherWay, Until: v2511},
		{Name: "server/discover", Primitive: "discovery", Dirs: toServer, Modern: toServer, Since: v2607, Result: `supportedVersions:[] capabilities:{}`},
		{Name: "tools/list", Primitive: "tools", Dirs: toServer, Modern: toServer, Cap: "tools", Result: `tools:[]`},
		{Name: "tools/call", Primitive: "tools", Dirs: toServer, Modern: toServer, Cap: "tools", Result: `content:[]`},
		{Name: "resources/list", Primitive: "resources", Dirs: toServer, Modern: toServer, Cap: "resources", Result: `resources:[]`},
		{Name: "resources/templates/list", Primitive: "resources", Dirs: toServer, Modern: toServer, Cap: "resources", Result: `resourceTemplates:[]`},
		{Name: "resources/read", Primitive: "resources", Dirs: toServer, Modern: toServer, Cap: "resources", Result: `contents:[]`},
		{Name: "resources/subscribe", Primitive: "resources", Dirs: toServer, Until: v2511, Cap: "resources.subscribe"},
		{Name: "resources/unsubscribe", Primitive: "resources", Dirs: toServer, Until: v2511, Cap: "resources.subscribe"},
		{Name: "prompts/list", Primitive: "prompts", Dirs: toServer, Modern: toServer, Cap: "prompts", Result: `prompts:[]`},
		{Name: "prompts/get", Primitive: "prompts", Dirs: toServer, Modern: toServer, Cap: "prompts", Result: `messages:[]`},
		{Name: "completion/complete", Primitive: "completion", Dirs: toServer, Modern: toServer, Cap: "completions", CapSince: v2503, Result: `completion:{}`},
		{Name: "logging/setLevel", Primitive: "logging", Dirs: toServer, Until: v2511, Cap: "logging"},
		{Name: "subscriptions/listen", Primitive: "subscriptions", Dirs: toServer, Modern: toServer, Since: v2607},
		{Name: "sampling/createMessage", Primitive: "sampling", Dirs: toClient, Until: v2511, Cap: "sampling", Result: `role:"" content:? model:""`},
		{Name: "roots/list", Primitive: "roots", Dirs: toClient, Until: v2511, Cap: "roots", Result: `roots:[]`},
		{Name: "elicitation/create", Primitive: "elicitation", Dirs: toClient, Since: v2506, Until: v2511, Cap: "elicitation", Result: `action:""`},
		{Name: "tasks/get", Primitive: "tasks", Dirs: eitherWay, Modern: toServer, Since: v2511, Cap: "tasks", Extension: tasksExtension},
		{Name: "tasks/result", Primitive: "tasks", Dirs: eitherWay, Since: v2511, Until: v2511, Cap: "tasks"},
		{Name: "tasks/list", Primitive: "tasks", Dirs: eitherWay, Since: v2511, Until: v2511, Cap: "tasks.list", Result: `tasks:[]`},
		{Name: "tasks/cancel", Primitive: "tasks", Dirs: eitherWay, Modern: toServer, Since: v2511, Cap: "tasks.cancel", Extension: tasksExtension},
		{Name: "tasks/update", Primitive: "tasks", Dirs: toServer, Modern: toServer, Since: v2607, Extension: tasksExtension},

		{Name: "notifications/initialized", Primitive: "lifecycle", Dirs: toServer, Until: v2511},
		{Name: "notifications/cancelled", Primitive: "cancellation", Dirs: eitherWay, Modern: eitherWay},
		{Name: "notifications/progress", Primitive: "progress", Dirs: eitherWay, Modern: toClient},
		{Name: "notifications/message", Primitive: "logging", Dirs: toClient, Modern: toClient, Cap: "logging"},
		{Name: "notifications/tools/list_changed", Primitive: "tools", Dirs: toClient, Modern: toClient, Cap: "tools.listChanged"},
		{Name: "notifications/prompts/list_changed", Primitive: "prompts", Dirs: toClient, Modern: toClient, Cap: "prompts.listChanged"},
		{Name: "notifications/resources/list_changed", Primitive: "resources", Dirs: toClient, Modern: toClient, Cap: "resources.listChanged"},
		{Name: "notifications/resources/updated", Primitive: "resources", Dirs: toClient, Modern: toClient, Cap: "resources.subscribe"},
		{Name: "notifications/roots/list_changed", Primitive: "roots", Dirs: toServer, Until: v2511, Cap: "roots.listChanged"},
		{Name: "notifications/elicitation/complete", Primitive: "elicitation", Dirs: toClient, Since: v2511, Until: v2511},
		{Name: "notifications/tasks/status", Primitive: "tasks", Dirs: eitherWay, Since: v2511, Until: v2511},
		{Name: "notifications/subscriptions/acknowledged", Primitive: "subscriptions", Dirs: toClient, Modern: toClient, Since: v2607},
		{Name: "notifications/tasks", Primitive: "tasks", Dirs: toClient, Modern: toClient, Since: v2607, Extension: tasksExtension},
	}
}

// catalogue is the table by name.
type catalogue map[string]*Method

func newCatalogue() catalogue {
	c := catalogue{}
	for _, m := range Methods() {
		c[m.Name] = &m
	}
	return c
}

// legacyOnly reports whether no modern version has the method.
func (m *Method) legacyOnly() bool { return m != nil && m.Until != "" }

// modernOnly reports whether no legacy version has it.
func (m *Method) modernOnly() bool { return m != nil && m.Since >= v2607 }

// in reports whether a version has the method.
func (m *Method) in(version string) bool {
	return m.Since <= version && (m.Until == "" || version <= m.Until)
}

// may reports whether the method may go in a direction.
func (m *Method) may(d frame.Dir, modern bool) bool {
	ways := m.Dirs
	if modern && m.Modern != 0 {
		ways = m.Modern
	}
	return ways&(1<<d) != 0
}

func isNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

// cacheable are the methods whose complete results say how long they are good (2026-07-28, server/utilities/caching).
func cacheable(method string) bool {
	switch method {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
		return true
	}
	return false
}

// mayAskInput are the methods that may be answered with input_required (basic/patterns/mrtr).
func mayAskInput(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}
