package browsertest_test

import (
	"os"
	"testing"
)

// TestFlow follows a flow from the list through graph, timeline and table to a node's drawer with its pods, logs and events.
func TestFlow(t *testing.T) {
	c := theCluster(t)
	ns := c.namespace(t, "flows")
	example, err := os.ReadFile("testdata/nightly.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c.apply(t, ns, string(example))
	p := newPage(t, 1440, 900, false)
	link := serve(t, c.kubeconfig)
	p.open(link)
	p.sees("nightly")
	p.picture("list")
	p.open(at(link, "/flows/flows/nightly"))
	p.until("document.querySelector('.graph canvas')")
	p.picture("flow")
	p.open(at(link, "/flows/flows/nightly?node=train&tab="))
	p.until("document.querySelector('.drawer .pairs dt')")
	p.picture("drawer")
	p.open(at(link, "/flows/flows/nightly?node=train&tab=logs"))
	p.until("document.querySelector('.pane .line')")
	p.picture("logs")
	p.open(at(link, "/flows/flows/nightly?view=timeline"))
	p.until("document.querySelector('.c-track i')")
	p.picture("timeline")
	p.open(at(link, "/flows/flows/nightly?view=table"))
	p.until("document.querySelector('.nodes .rows .row')")
	p.picture("table")
}
