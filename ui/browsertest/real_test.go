package browsertest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// file is a manifest of testdata.
func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRealFlow follows a running flow from the list through graph, timeline and table to a node's pods, logs, events and YAML,
// and acts on it.
func TestRealFlow(t *testing.T) {
	c := theCluster(t)
	ns := c.namespace(t, "vision")
	c.apply(t, ns, file(t, "nightly.yaml"))
	link := serve(t, c.kubeconfig)
	p := newPage(t, 1440, 760, false)
	p.open(link)
	p.sees("nightly")
	p.open(at(link, "/flows/vision/nightly"))
	p.until("document.querySelector('.graph canvas')")
	c.eventually(t, "Running", "get", "pods", "-n", ns, "-l", "job-name=nightly-train")
	p.until("document.querySelector('.title .state').innerText === 'Running'")
	p.until("/1\\s*running/.test(document.querySelector('.counts').innerText)")

	p.open(at(link, "/flows/vision/nightly?node=train"))
	p.until("document.querySelector('.drawer .why')")
	p.picture("ui-flow")
	p.open(at(link, "/flows/vision/nightly?node=train&tab=pods"))
	p.until("document.querySelectorAll('.pods li').length === 2")
	p.open(at(link, "/flows/vision/nightly?node=train&tab=logs&wide=1"))
	p.until("document.querySelectorAll('.pane').length === 2")
	p.until("[...document.querySelectorAll('.pane')].every((e) => /epoch \\d+ loss/.test(e.innerText))")
	seen := eval[string](p, "[...document.querySelectorAll('.pane .line')].at(-1).innerText")
	p.until("[...document.querySelectorAll('.pane .line')].at(-1).innerText !== " + quoted(seen)) // they are live
	p.picture("ui-logs")
	p.open(at(link, "/flows/vision/nightly?node=train&tab=events"))
	p.until("document.querySelector('.events li')")
	p.open(at(link, "/flows/vision/nightly?node=train&tab=yaml"))
	p.until("document.querySelector('.yaml .line')")
	p.open(at(link, "/flows/vision/nightly?node=lint-report"))
	p.until("/Failed/.test(document.querySelector('.drawer').innerText)")
	p.open(at(link, "/flows/vision/nightly?view=timeline"))
	p.until("document.querySelector('.critical .c-track i.run')")
	p.picture("ui-timeline")
	p.open(at(link, "/flows/vision/nightly?view=table"))
	p.until("document.querySelectorAll('.nodes .rows .row').length === 10")

	// Actions: each as the page offers it, and as the cluster has it then.
	p.open(at(link, "/flows/vision/nightly"))
	p.click("[data-action=suspend]")
	c.eventually(t, "true", "get", "jobflow", "nightly", "-n", ns, "-o", "jsonpath={.spec.suspend}")
	p.until("document.querySelector('.title .state').innerText === 'Suspended'")
	p.click("[data-action=resume]")
	p.until("!document.querySelector('[data-action=resume]') && document.querySelector('.title .state').innerText === 'Running'")
	p.click("[data-action=pause]")
	c.eventually(t, "paused", "get", "jobflow", "nightly", "-n", ns, "-o", "jsonpath={.metadata.annotations}")
	p.click("[data-action=unpause]")
	p.until("document.querySelector('[data-action=pause]')")
	p.click("[data-action=terminate]")
	p.click("[data-confirm]")
	c.eventually(t, "Failed", "get", "jobflow", "nightly", "-n", ns, "-o", "jsonpath={.status.state}")
	p.until("document.querySelector('[data-action=retry]')")
	p.picture("terminated")

	p.open(at(link, "/flows/vision/nightly?node=check-schema"))
	p.click("[data-action=rerun]")
	p.until("document.querySelector('.note')")
	if bad := eval[string](p, "document.querySelector('.note.bad')?.innerText ?? ''"); bad != "" {
		t.Fatalf("it can't run again from there: %s", bad)
	}
	again := eval[string](p, "document.querySelector('.note a').getAttribute('href').split('/').at(-1)")
	c.eventually(t, again, "get", "jobflows", "-n", ns)

	p.open(at(link, "/compare?namespace=vision&a=nightly&b="+again))
	p.until("document.querySelector('.compare-nodes .rows .row')")
	p.picture("compare")

	p.open(at(link, "/flows/vision/nightly"))
	p.click("[data-action=retry]")
	c.eventually(t, "1", "get", "jobflow", "nightly", "-n", ns, "-o", "jsonpath={.spec.retry}")
	p.until("document.querySelector('[data-action=delete]')")
	p.click("[data-action=delete]")
	p.click("[data-confirm]")
	p.until("/no longer|deleted|not found|gone|Deleting/i.test(document.body.innerText)")
}

// TestRealKinds shows a DaemonJob as a map, a ReplicaJob and its ranks, queues, and a DSOI cluster.
func TestRealKinds(t *testing.T) {
	c := theCluster(t)
	ns := c.namespace(t, "lab")
	c.apply(t, ns, file(t, "kinds.yaml"))
	c.must(t, file(t, "pinot-status.yaml"), "apply", "--server-side", "--subresource=status", "-n", ns, "-f", "-")
	link := serve(t, c.kubeconfig, "--kinds", "Pinot.datainfra.io")
	p := newPage(t, 1440, 760, false)
	p.open(link)
	p.sees("wipe-disks")
	p.open(at(link, "/objects/DaemonJob/lab/wipe-disks"))
	p.until("document.querySelectorAll('.square').length >= 60 && document.querySelectorAll('.square.good').length >= 30")
	p.picture("ui-daemonjob")
	p.open(at(link, "/objects/ReplicaJob/lab/train"))
	p.until("document.querySelectorAll('.rank.run').length === 4")
	p.picture("replicajob")
	p.open(at(link, "/objects/MiniCluster/lab/survey"))
	p.until("document.querySelectorAll('.rank.run').length === 4")
	p.open(at(link, "/queues"))
	p.until("document.querySelectorAll('.queue').length === 2 && document.querySelector('.jobs li')")
	p.until("[...document.querySelectorAll('.jobs li')].some((j) => /thesis/.test(j.innerText) && /starts in/.test(j.innerText))")
	p.sees("The start is not known: job lab/thesis has no deadlineSeconds.")
	p.picture("ui-queues")
	p.open(at(link, "/objects/Pinot/lab/events"))
	p.until("document.querySelectorAll('.types li').length === 4")
	p.picture("ui-cluster")
	p.open(at(link, "/clusters"))
	p.until("document.querySelectorAll('.objects .rows .row').length === 1")
	p.open(at(link, "/?namespace=lab"))
	p.until("document.querySelectorAll('.objects .rows .row').length >= 5")
	p.picture("ui-list")
	// A namespace in the address takes no right in the others, nor on what is in none.
	p.open(at(link, "/?namespace=lab&kind=FluxSetup"))
	p.click(".objects .rows .row input")
	p.until("document.querySelector('[data-action=delete]')")
	p.click("[aria-label='Leave the namespace lab']")
	p.until("/All namespaces/.test(document.querySelector('.namespaces').innerText)")
}

// TestRealSubmit submits a flow by the form, and shows what the API server says of a wrong one beside its field.
func TestRealSubmit(t *testing.T) {
	c := theCluster(t)
	ns := c.namespace(t, "submit")
	link := serve(t, c.kubeconfig)
	p := newPage(t, 1440, 760, false)
	p.allow("422 (Unprocessable Entity)")
	p.open(link)
	p.until("document.querySelector('.top')")
	p.open(at(link, "/submit?kind=JobFlow&namespace="+ns))
	p.until("document.querySelector('#f-name') && document.querySelector('#f-spec-flows-0--name')")
	p.picture("ui-submit")
	p.fill("#f-name", "by-form")
	p.fill("#f-spec-flows-0--name", "Not A Name")
	p.click("[data-check]")
	p.until("document.querySelector('.form .error') && /flows/.test(document.querySelector('.field-errors').innerText)")
	p.picture("submit-refused")
	p.fill("#f-spec-flows-0--name", "build")
	p.click("[data-check]")
	p.until("document.querySelector('.message.good, .message.bad')?.classList.contains('good')")
	p.click("[data-create]")
	p.until("location.pathname === '/flows/submit/by-form'")
	c.eventually(t, "by-form", "get", "jobflows", "-n", ns)
}

// TestRealMarkup lets pods print markup, and end with it as their message.
func TestRealMarkup(t *testing.T) {
	c := theCluster(t)
	ns := c.namespace(t, "markup")
	c.apply(t, ns, file(t, "markup.yaml"))
	link := serve(t, c.kubeconfig)
	p := newPage(t, 1440, 760, false)
	p.open(link)
	p.sees("markup")
	c.eventually(t, "Failed", "get", "jobflow", "markup", "-n", ns, "-o", "jsonpath={.status.state}")
	for _, tab := range []string{"overview", "pods", "logs", "events", "yaml"} {
		p.open(at(link, "/flows/markup/markup?node=evil&tab="+tab))
		p.until("document.querySelector('.drawer .state')")
		if tab == "logs" || tab == "yaml" {
			p.until("document.querySelector('.drawer-body').textContent.includes('<img src=x onerror=')")
		}
		if eval[bool](p, "window.hacked === 1") || eval[int](p, "document.querySelectorAll('#app img, #app script').length") > 0 {
			t.Errorf("markup is more than text in %s", tab)
		}
	}
}

// TestRealRights is of a viewer who may see one namespace only, and change nothing there.
func TestRealRights(t *testing.T) {
	c := theCluster(t)
	mine, other := c.namespace(t, "mine"), c.namespace(t, "other")
	flow := file(t, "one.yaml")
	c.apply(t, mine, strings.ReplaceAll(flow, "NAME", "visible"))
	c.apply(t, other, strings.ReplaceAll(flow, "NAME", "hidden"))
	c.apply(t, mine, file(t, "viewer.yaml"))
	token := strings.TrimSpace(c.must(t, "", "create", "token", "viewer", "-n", mine))
	server := c.must(t, "", "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")
	ca := c.must(t, "", "config", "view", "--minify", "--raw", "-o", "jsonpath={.clusters[0].cluster.certificate-authority-data}")
	link := serve(t, kubeconfigOf(t, server, ca, token, mine))
	p := newPage(t, 1440, 760, false)
	p.open(link)
	p.sees("visible")
	if strings.Contains(eval[string](p, "document.body.innerText"), "hidden") {
		t.Error("the list shows an object of a namespace that the viewer may not see")
	}
	p.open(at(link, "/flows/mine/visible"))
	p.until("document.querySelector('.graph canvas') && document.querySelector('.counts')")
	if n := eval[int](p, "document.querySelectorAll('[data-action]').length"); n > 0 {
		t.Errorf("%d actions are offered", n)
	}
	p.allow("403 (Forbidden)")
	p.open(at(link, "/flows/other/hidden"))
	p.until("/cannot list resource .*in the namespace .other/.test(document.querySelector('main [role=alert]').innerText)")
	p.open(at(link, "/submit"))
	p.sees("You may not create anything")
	for namespace, name := range map[string]string{mine: "visible", other: "hidden"} {
		uid := c.must(t, "", "get", "jobflow", name, "-n", namespace, "-o", "jsonpath={.metadata.uid}")
		for _, verb := range []string{"delete", "suspend"} {
			body, err := json.Marshal(m{"verb": verb, "kind": "JobFlow", "namespace": namespace, "name": name, "uid": uid})
			if err != nil {
				t.Fatal(err)
			}
			status := eval[int](p,
				"fetch('/api/actions', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: "+
					quoted(string(body))+"}).then((r) => r.status)")
			if status != 403 {
				t.Errorf("the server answers %d to %s", status, body)
			}
		}
	}
}

// TestRealToken opens the page as it is in the cluster, by https: a viewer of one namespace pastes a token at the address that
// somebody has sent, sees what he may, and is asked for another token when this one is no longer good.
func TestRealToken(t *testing.T) {
	c := theCluster(t)
	mine, other := c.namespace(t, "pasted"), c.namespace(t, "foreign")
	for _, namespace := range []string{mine, other} {
		c.apply(t, namespace, strings.ReplaceAll(file(t, "one.yaml"), "NAME", "visible"))
	}
	c.apply(t, mine, file(t, "viewer.yaml"))
	site := start(t, `(?m)https://\S+$`, "--kubeconfig", c.kubeconfig, "--in-cluster", "--bind-address", "127.0.0.1:0",
		"--health-probe-bind-address", "0")
	p := newPage(t, 1440, 760, false)
	p.do(security.SetIgnoreCertificateErrors(true)) // it is signed by itself
	p.allow("status of 401")
	p.open(site + "/flows/pasted/visible?view=table")
	p.do(chromedp.SendKeys("#token", "made-up"+kb.Enter, chromedp.ByQuery))
	p.until("/refuses the credential/.test(document.querySelector('[role=alert]').innerText)")
	p.do(chromedp.SendKeys("#token", strings.TrimSpace(c.must(t, "", "create", "token", "viewer", "-n", mine))+kb.Enter, chromedp.ByQuery))
	p.until("document.querySelector('.nodes .rows .row')")
	if cookie := eval[string](p, "document.cookie"); cookie != "" {
		t.Errorf("a script can read %s", cookie)
	}
	if n := eval[int](p, "document.querySelectorAll('[data-action]').length"); n > 0 {
		t.Errorf("%d actions are offered", n)
	}
	p.open(site + "/")
	p.sees("Choose a namespace: you may not list all of them.")
	p.open(site + "/?namespace=pasted&namespace=foreign")
	p.sees("1 object")
	p.until("/FluxSetup; .*JobFlow.* in foreign/.test(document.querySelector('.footnote').innerText)")
	p.open(site + "/flows/pasted/visible")
	p.until("document.querySelector('.graph canvas')")
	if screens := eval[string](p, "document.querySelector('nav').innerText"); strings.Contains(screens, "Submit") {
		t.Errorf("the navigation offers %q", screens)
	}
	c.must(t, "", "delete", "serviceaccount", "viewer", "-n", mine)
	for !p.untilFor("document.querySelector('#token')", 15*time.Second) { // the API server believes a token for 10 more seconds
		p.open(site + "/flows/pasted/visible")
	}
}

// kubeconfigOf writes a kubeconfig of a token.
func kubeconfigOf(t *testing.T, server, ca, token, namespace string) string {
	t.Helper()
	config := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "x",
		"clusters": []any{m{"name": "x", "cluster": m{"server": server, "certificate-authority-data": ca}}},
		"users":    []any{m{"name": "x", "user": m{"token": token}}},
		"contexts": []any{m{"name": "x", "context": m{"cluster": "x", "user": "x", "namespace": namespace}}},
	}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wire is a connection to the API server that a test can cut.
type wire struct {
	t      *testing.T
	target string
	addr   string

	mu       sync.Mutex
	listener net.Listener // nil while the wire is cut
	open     map[net.Conn]struct{}
}

func newWire(t *testing.T, target string) *wire {
	t.Helper()
	w := &wire{t: t, target: target, open: map[net.Conn]struct{}{}}
	for range 100 {
		w.addr = fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		if listener, err := net.Listen("tcp", w.addr); err == nil {
			w.serve(listener)
			t.Cleanup(w.cut)
			return w
		}
	}
	t.Fatalf("no free port between %d and %d", firstPort, lastPort)
	return nil
}

// The ports of wires are below those of devcluster, those of binary.FreeAddress in test/integration, and those that the kernel gives to
// processes that ask for any port, so that only another wire could take one while the wire is cut.
const (
	firstPort = 5000
	lastPort  = 10000
)

func (w *wire) join() {
	w.t.Helper()
	listener, err := net.Listen("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.serve(listener)
}

// serve connects those who come to the target.
func (w *wire) serve(listener net.Listener) {
	w.mu.Lock()
	w.listener = listener
	w.mu.Unlock()
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", w.target)
			if err != nil {
				_ = from.Close()
				continue
			}
			w.mu.Lock()
			isCut := w.listener != listener // since it was accepted
			if !isCut {
				w.open[from], w.open[to] = struct{}{}, struct{}{}
			}
			w.mu.Unlock()
			if isCut {
				_ = from.Close()
				_ = to.Close()
				continue
			}
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listener != nil {
		_ = w.listener.Close()
		w.listener = nil
	}
	for c := range w.open {
		_ = c.Close()
	}
	clear(w.open)
}

// TestRealOutage cuts the connection to the API server: the page says so, keeps what it shows, and goes on by itself.
func TestRealOutage(t *testing.T) {
	c := theCluster(t)
	ns := c.namespace(t, "outage")
	c.apply(t, ns, strings.ReplaceAll(file(t, "one.yaml"), "NAME", "before"))
	server, err := url.Parse(c.must(t, "", "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(t, server.Host)
	config := c.must(t, "", "config", "view", "--minify", "--raw", "--flatten")
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(config, server.Host, w.addr)), 0o600); err != nil {
		t.Fatal(err)
	}
	link := serve(t, path)
	p := newPage(t, 1440, 760, false)
	p.allow("502 (Bad Gateway)")
	p.open(link)
	p.sees("before")
	w.cut()
	p.until("/doesn't answer/.test(document.querySelector('.banner')?.innerText ?? '')")
	p.sees("before")
	p.picture("outage")
	c.apply(t, ns, strings.ReplaceAll(file(t, "one.yaml"), "NAME", "after"))
	w.join()
	p.sees("after")
	p.until("!document.querySelector('.banner')")
}

// TestRealBigFlow opens a flow of 10,000 nodes that the real server lays out.
func TestRealBigFlow(t *testing.T) {
	c := theCluster(t)
	ns := c.namespace(t, "big")
	const layers, width = 100, 100
	flows := make([]m, 0, layers*width)
	for l := range layers {
		for k := range width {
			flow := m{"name": fmt.Sprintf("s-%d-%d", l, k), "jobTemplateRef": "any"}
			if l > 0 {
				flow["dependencies"] = []string{fmt.Sprintf("s-%d-%d", l-1, k), fmt.Sprintf("s-%d-%d", l-1, (k+7)%width),
					fmt.Sprintf("s-%d-%d", l-1, (k+14)%width)}
			}
			flows = append(flows, flow)
		}
	}
	text, err := json.Marshal(m{"apiVersion": "api.practice.com/v1alpha1", "kind": "JobFlow", "metadata": m{"name": "big"},
		"spec": m{"suspend": true, "flows": flows}})
	if err != nil {
		t.Fatal(err)
	}
	c.must(t, string(text), "create", "-n", ns, "-f", "-")
	link := serve(t, c.kubeconfig)
	p := newPage(t, 1600, 1000, false)
	p.open(link)
	p.sees("big")
	p.open(at(link, "/flows/big/big"))
	t.Logf("first paint after %.0f ms", p.mark("armature-graph-painted"))
	p.sees("10,000 nodes")
	heap, process := p.memory()
	t.Logf("memory: %.1f MiB of JavaScript heap, %.0f MiB private to the page's process", heap, process)
	if process > 150 {
		t.Errorf("the page's process has %.0f MiB", process)
	}
}
