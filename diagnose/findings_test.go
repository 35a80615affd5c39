package diagnose_test

import (
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/samples/logtest"
)

// TestFindings: what is odd without having stalled anything is said once, and what is only near it is not.
func TestFindings(t *testing.T) {
	const shared = "0 > req 1\n5 < res 1\n"
	for _, tt := range []struct {
		name, client, server string
		kind, text           string // text "": there must be no finding of the kind
	}{
		{"two clients in one file", "0 > req 1\n1 > req 101\n2 > req 2\n3 > req 102\n4 > req 3\n5 > req 103\n6 > req 4\n", shared, "two_clients", "two clients"},
		{"one client whose threads race once", "0 > req 1\n1 > req 3\n2 > req 2\n3 > req 4\n4 > req 5\n5 > req 6\n6 > req 7\n", shared, "two_clients", ""},
		{"a handler that runs on after the cancel", shared + "10 > req 2\n20 > ntf method=notifications/cancelled request_id=2\n",
			shared + "11 > req 2\n12 > enter 2\n21 > ntf method=notifications/cancelled request_id=2\n5000 > exit 2\n", "cancel_not_heeded", "id 2"},
		{"a handler that heeds the cancel", shared + "10 > req 2\n20 > ntf method=notifications/cancelled request_id=2\n",
			shared + "11 > req 2\n12 > enter 2\n21 > ntf method=notifications/cancelled request_id=2\n30 > exit 2\n", "cancel_not_heeded", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := logtest.Finding(logtest.Pair(t, tt.client, tt.server), tt.kind)
			switch {
			case tt.text == "" && len(got) > 0:
				t.Errorf("found %v", got)
			case tt.text != "" && (len(got) != 1 || !strings.Contains(got[0].Text, tt.text)):
				t.Errorf("findings %v, want one that says %q", got, tt.text)
			}
		})
	}
}

// TestChain: a slow handler that waited for the server's own request names it, and one that did not wait names nobody.
func TestChain(t *testing.T) {
	client := "0 > req 1\n100 < req 7 method=elicitation/create\n%s > res 7\n9000 < res 1\n"
	server := "0 > req 1\n1 > enter 1\n99 < req 7 method=elicitation/create\n%s > res 7\n8990 > exit 1\n8995 < res 1\n"
	for answered, chained := range map[string]bool{"8000": true, "300": false} {
		d := logtest.Pair(t, strings.Replace(client, "%s", answered, 1), strings.Replace(server, "%s", answered, 1))
		for _, c := range d.Calls {
			if string(c.ID()) != "1" {
				continue
			}
			if got := c.Causes[0]; got.Name != diagnose.SlowHandler || strings.Contains(got.Evidence(), "request id 7") != chained {
				t.Errorf("answered at %s: %s: %s", answered, got.Name, got.Evidence())
			}
		}
	}
}
