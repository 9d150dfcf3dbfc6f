package browsertest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/armature-dev/armature/ui/browsertest/fakeserver"
)

// TestReconnect stops the server and starts it again: the page says so, and goes on by itself with what is new.
func TestReconnect(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	p.allow("502 (Bad Gateway)")
	p.open(s.URL + "/flows/ml/nightly")
	p.until("document.querySelector('.graph canvas')")
	s.SetDown(true)
	p.until("document.querySelector('.banner')")
	p.sees("nightly")
	s.Stream("flow", "ml/nightly", fakeserver.E("flow", m{"uid": "f", "kind": "JobFlow", "namespace": "ml", "name": "nightly",
		"state": "Succeed", "tone": "good"}))
	s.SetDown(false)
	p.until("!document.querySelector('.banner') && document.querySelector('.title .state').innerText === 'Succeed'")

	// The API server is another matter: this page's server says of each watch whether it is live.
	s.Send("flow", "ml/nightly", "source", m{"kind": "JobFlow", "namespace": "ml", "state": "unreachable",
		"message": "connection refused since 12:00"})
	p.sees("connection refused since 12:00")
	s.Send("flow", "ml/nightly", "source", m{"kind": "JobFlow", "namespace": "ml", "state": "live"})
	p.until("!document.querySelector('.banner')")
}

// TestOpenedTooEarly opens the page while the server behind it doesn't answer: it says so, and begins by itself.
func TestOpenedTooEarly(t *testing.T) {
	s := fake(t)
	s.Small("")
	s.SetDown(true)
	p := newPage(t, 1440, 900, false)
	p.allow("502 (Bad Gateway)")
	p.open(s.URL + "/flows/ml/nightly?view=table")
	p.sees("down")
	s.SetDown(false)
	p.until("document.querySelector('.nodes .rows .row')")
}

// TestSessionEnds ends the session of an open page, as a new "armature ui" at the same port or a token's end does: the page asks
// for a new one, and stays where it is.
func TestSessionEnds(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	p.allow("401 (Unauthorized)")
	p.open(s.URL + "/?text=train")
	p.sees("1 of 5 objects")
	s.Refuse(401, m{"error": "no session: log in first", "login": "link"})
	p.sees("Open the page with the link")

	s.SetDown(false)
	s.Reply("POST /api/session", 200, m{"mode": "loopback", "user": "alice", "server": "x", "version": "v1", "login": "link"})
	p.do(chromedp.Evaluate("location.hash = '#token=new'", nil)) // as the new link does, where the page is open
	p.sees("1 of 5 objects")
	if at := eval[string](p, "location.href"); at != s.URL+"/?text=train" {
		t.Errorf("the address is %s", at)
	}
	s.Reply("GET /api/session", 401, m{"error": "the token has expired", "login": "token"})
	s.Send("objects", "", "problem", m{"error": "Unauthorized", "reason": "Unauthorized"})
	p.sees("the token has expired")
	s.Reply("POST /api/session", 200, m{"mode": "cluster", "user": "eve", "server": "x", "version": "v1", "login": "token"})
	p.do(chromedp.SendKeys("#token", "abc"+kb.Enter, chromedp.ByQuery))
	p.sees("1 of 5 objects")
}

// TestRights shows the page to a viewer of one namespace, who may look and do nothing: no action is offered, no other namespace
// asked for.
func TestRights(t *testing.T) {
	s := fake(t)
	s.Small("")
	s.Reply("GET /api/session", 200, m{"mode": "cluster", "user": "eve", "server": "x", "namespace": "ml", "version": "v1",
		"login": "token"})
	// Of the other kinds the server knows, and the viewer may not list them.
	kinds := slices.Concat(fakeserver.Kinds("ml", []string{"get", "list", "watch"})[:5], fakeserver.Kinds("ml", nil)[5:])
	s.Reply("GET /api/access", 200, m{"allNamespaces": false, "kinds": kinds})
	p := newPage(t, 1440, 900, false)
	p.open(s.URL + "/?namespace=ml")
	p.sees("5 objects")
	p.click(".objects .rows .row input")
	p.sees("1 object marked")
	if n := eval[int](p, "document.querySelectorAll('[data-action]').length"); n > 0 {
		t.Errorf("%d actions are offered in the list", n)
	}
	for _, path := range []string{"/flows/ml/nightly?node=features", "/objects/DaemonJob/ml/wipe-disks"} {
		p.open(s.URL + path)
		p.until("document.querySelector('.why')")
		if n := eval[int](p, "document.querySelectorAll('[data-action]').length"); n > 0 {
			t.Errorf("%d actions are offered at %s", n, path)
		}
	}
	for tab, want := range map[string]string{"pods": "You may not list pods here.", "logs": "You may not read logs here.",
		"events": "You may not list events here."} {
		p.open(s.URL + "/flows/ml/nightly?node=features&tab=" + tab)
		p.sees(want)
	}
	if nav := eval[string](p, "document.querySelector('nav').innerText"); slices.ContainsFunc([]string{"Submit", "Clusters",
		"Queues"}, func(w string) bool { return strings.Contains(nav, w) }) {
		t.Errorf("the navigation offers %q", nav)
	}
	p.open(s.URL + "/submit")
	p.sees("You may not create anything")
}

// TestChangedRights takes rights away, and gives others, while the page is open: what is offered follows.
func TestChangedRights(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	p.open(s.URL + "/flows/ml/nightly")
	p.until("document.querySelector('[data-action=suspend]')")
	s.Reply("GET /api/access", 200, m{"allNamespaces": false, "kinds": fakeserver.Kinds("ml", []string{"get", "list", "watch", "delete"})})
	s.Reply("POST /api/actions", 403, m{"error": "eve may not patch jobflows", "reason": "Forbidden"})
	p.allow("403 (Forbidden)")
	p.click("[data-action=suspend]")
	p.sees("eve may not patch jobflows")
	p.until("!document.querySelector('[data-action=suspend]') && document.querySelector('[data-action=delete]')")
}

// TestDrawerOfANode shows the state that the flow's stream has sent, and of a node that it hasn't sent that it waits.
func TestDrawerOfANode(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	for node, state := range map[string]string{"fetch": "Succeed", "features": "Running", "lint": "Failed", "publish": "Pending"} {
		p.open(s.URL + "/flows/ml/nightly?node=" + node)
		p.until(fmt.Sprintf("document.querySelector('.drawer .why') && document.querySelector('.drawer .state').innerText === %q", state))
	}
}

// TestAddresses opens addresses that somebody has mistyped: the page says what is wrong, or does without.
func TestAddresses(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	for _, path := range []string{"/?sort=bogus", "/?sort=__proto__&down=1", "/?label==&label=%25", "/?state="} {
		p.open(s.URL + path)
		p.until("/\\d object/.test(document.querySelector('.total').innerText)")
	}
	p.open(s.URL + "/flows/ml/nightly?view=bogus&node=features&tab=bogus")
	p.until("document.querySelector('.graph canvas') && document.querySelector('.drawer .why')")
	p.open(s.URL + "/nothing/here")
	p.sees("There is no such page.")

	p.allow("400 (Bad Request)")
	s.Reply("GET /api/stream/detail", 400, m{"error": "kind must be one that /api/access names, got \"Nope\""})
	p.open(s.URL + "/objects/Nope/ml/x")
	p.sees("kind must be one that /api/access names, got \"Nope\"")
	s.Reply("GET /api/stream/objects", 400, m{"error": "namespace: \"A_B\": must be a DNS label"})
	p.open(s.URL + "/?namespace=A_B")
	p.sees("namespace: \"A_B\": must be a DNS label")
}

// TestWaitingJobs shows when a waiting job starts, or why that isn't known.
func TestWaitingJobs(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	p.open(s.URL + "/queues")
	p.sees("starts in")
	p.sees("start not known")
	p.sees("The start is not known: job ml/homework has no deadlineSeconds.")

	// A viewer who may not list FluxSetups isn't told that nobody runs.
	s.Send("queues", "", "set", []m{{"name": "secret", "hidden": true, "pending": 1, "waiting": []m{{"position": 1, "namespace": "ml",
		"name": "thesis", "etaUnknown": "you may not list FluxSetups"}}}})
	p.sees("You may not list FluxSetups: the quota and who has it are not shown.")
	if shown := eval[string](p, "document.querySelector('[aria-label=\"Queue secret\"]').innerText"); strings.Contains(shown, "0 jobs") ||
		!strings.Contains(shown, "ml/thesis") {
		t.Errorf("the queue is shown as %q", shown)
	}
}

// TestLogin asks for a token where there is no session, and tells the link's own words on loopback.
func TestLogin(t *testing.T) {
	s := fake(t)
	s.Small("")
	s.Reply("GET /api/session", 401, m{"error": "there is no session", "login": "token"})
	p := newPage(t, 1440, 900, false)
	p.allow("401 (Unauthorized)")
	p.open(s.URL + "/")
	p.sees("A bearer token of the cluster")
	s.Reply("POST /api/session", 401, m{"error": "the API server refuses this token", "login": "token"})
	p.do(chromedp.SendKeys("#token", "abc"+kb.Enter, chromedp.ByQuery))
	p.sees("the API server refuses this token")
	s.Reply("POST /api/session", 200, m{"mode": "cluster", "user": "eve", "server": "x", "version": "v1", "login": "token"})
	p.do(chromedp.SendKeys("#token", "abc"+kb.Enter, chromedp.ByQuery))
	p.sees("5 objects")

	s.Reply("GET /api/session", 401, m{"error": "there is no session", "login": "link"})
	s.Reply("POST /api/session", 200, m{"mode": "loopback", "user": "bob", "server": "x", "version": "v1", "login": "link"})
	p.open(s.URL + "/?text=train#token=secret")
	p.until("document.querySelector('.who')")
	if at := eval[string](p, "location.href"); at != s.URL+"/?text=train" {
		t.Errorf("the address still is %s", at)
	}
	requests := s.Requests()
	if last := requests[len(requests)-1]; last.Body["token"] != "secret" {
		t.Errorf("the page sent %v", last)
	}
}

// TestNoLoginByAnothersLink opens a link with a token of its author, where viewers paste their own: the page doesn't send it, so that
// the viewer doesn't act as the author unknowingly.
func TestNoLoginByAnothersLink(t *testing.T) {
	s := fake(t)
	s.Small("")
	s.Reply("POST /api/session", 200, m{"mode": "cluster", "user": "mallory", "server": "x", "version": "v1", "login": "token"})
	for _, kind := range []string{"token", "proxy"} {
		s.Reply("GET /api/session", 401, m{"error": "there is no session", "login": kind})
		p := newPage(t, 1440, 900, false)
		p.allow("401 (Unauthorized)")
		p.open(s.URL + "/#token=mallory")
		p.sees("there is no session")
		if at := eval[string](p, "location.href"); at != s.URL+"/" {
			t.Errorf("%s: the address still is %s", kind, at)
		}
	}
	s.Reply("GET /api/session", 200, m{"mode": "cluster", "user": "eve", "server": "x", "version": "v1", "login": "token"})
	p := newPage(t, 1440, 900, false)
	p.open(s.URL + "/#token=mallory")
	p.sees("5 objects")
	for _, r := range s.Requests() {
		if r.Method == http.MethodPost {
			t.Errorf("the page sent %v", r)
		}
	}
}

// TestYAMLKeepsValues turns YAML into a form and back: octal numbers keep their value, and times and numbers in quotes stay texts.
func TestYAMLKeepsValues(t *testing.T) {
	s := fake(t)
	s.Small("")
	s.Reply("GET /api/schema", 200, m{"schema": m{"type": "object", "properties": m{}}, "example": "spec: {}"})
	p := newPage(t, 1440, 900, false)
	p.open(s.URL + "/submit?kind=JobFlow")
	turn := func(to string) {
		t.Helper()
		p.do(chromedp.Evaluate(`[...document.querySelectorAll('[aria-label="How"] button')].find(b => b.innerText === '`+to+`').click()`, nil))
	}
	p.until("document.querySelector('form')")
	turn("YAML")
	p.until("document.querySelector('textarea')")
	p.do(chromedp.Evaluate(`(() => {
		const area = document.querySelector('textarea');
		area.value = 'spec:\n  octal: 0400\n  new: 0o17\n  hex: 0x10\n  zero: 0\n  day: 2026-01-02\n  text: "0400"\n  minus: -12\n';
		area.dispatchEvent(new Event('input', {bubbles: true}));
	})()`, nil))
	turn("Form")
	p.until("document.querySelector('form')")
	turn("YAML")
	p.until("document.querySelector('textarea')")
	const want = "spec:\n  octal: 256\n  new: 15\n  hex: 16\n  zero: 0\n  day: 2026-01-02\n  text: '0400'\n  minus: -12\n"
	if got := eval[string](p, "document.querySelector('textarea').value"); got != want {
		t.Errorf("the YAML is %q", got)
	}
}

// TestActions clicks each action, and holds the request to what it must say. What can't be undone is asked for first.
func TestActions(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	sent := func(verb string) fakeserver.Request {
		t.Helper()
		p.until("[...document.querySelectorAll('.note')].length > 0")
		all := s.Requests()
		last := all[len(all)-1]
		if last.Path != "/api/actions" || last.Body["verb"] != verb || last.Body["kind"] != "JobFlow" || last.Body["namespace"] != "ml" ||
			last.Body["name"] != "nightly" || last.Body["uid"] != "JobFlownightly" {
			t.Errorf("%s sent %v", verb, last)
		}
		return last
	}
	for _, verb := range []string{"suspend", "terminate", "retry", "pause", "delete"} {
		p.open(s.URL + "/flows/ml/nightly")
		p.click("[data-action=" + verb + "]")
		if verb == "terminate" || verb == "delete" {
			before := len(s.Requests())
			p.until("document.querySelector('dialog[open]')")
			if len(s.Requests()) != before {
				t.Errorf("%s doesn't ask first", verb)
			}
			p.click("[data-confirm]")
		}
		sent(verb)
	}
	s.Reply("POST /api/actions", 200, m{"created": m{"namespace": "ml", "name": "nightly-again"}})
	p.open(s.URL + "/flows/ml/nightly?node=features")
	p.click("[data-action=rerun]")
	if last := sent("rerun"); last.Body["node"] != "features" {
		t.Errorf("rerun sent %v", last)
	}
	p.sees("Created JobFlow nightly-again")
	s.Reply("POST /api/actions", 409, m{"error": "it has ended already: its state is Succeed"})
	p.allow("409 (Conflict)")
	p.open(s.URL + "/flows/ml/nightly")
	p.click("[data-action=suspend]")
	p.sees("it has ended already")
}

// TestATemplateHasNoState shows a JobTemplate, which never runs, beside a flow that no operator has observed.
func TestATemplateHasNoState(t *testing.T) {
	s := fake(t)
	template := m{"uid": "t", "kind": "JobTemplate", "apiVersion": "api.practice.com/v1alpha1", "namespace": "ml", "name": "build",
		"tone": "quiet", "created": fakeserver.Ago(60), "actions": []string{"delete"}}
	flow := m{"uid": "f", "kind": "JobFlow", "apiVersion": "api.practice.com/v1alpha1", "namespace": "ml", "name": "fresh",
		"tone": "quiet", "created": fakeserver.Ago(60)}
	s.Stream("objects", "", fakeserver.E("set", []m{template, flow}))
	s.Stream("detail", "JobTemplate/ml/build/", fakeserver.E("object", m{"row": template, "object": m{}, "yaml": ""}))
	p := newPage(t, 1440, 900, false)
	p.open(s.URL + "/")
	p.until("[...document.querySelectorAll('.objects .rows .c-state')].map((c) => c.innerText.trim()).sort().join() === ',Pending'")
	p.until("[...document.querySelectorAll('.chipset[aria-label*=state] .chip')].map((b) => b.innerText.replace(/\\s+/g, ' ').trim()).join() === 'Pending 1'")
	p.open(s.URL + "/objects/JobTemplate/ml/build")
	p.until("document.querySelector('[data-action=delete]') && !document.querySelector('.title .state')")
}

// TestKeyboard goes from the list to a node's drawer and back without a pointer.
func TestKeyboard(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	p.open(s.URL + "/?kind=JobFlow")
	p.until("document.querySelector('.objects .rows .row')")
	p.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	p.until("document.activeElement !== document.body && document.querySelector('#screen').contains(document.activeElement)") // by the skip link
	p.do(chromedp.Focus(".grid", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	p.until("location.pathname === '/flows/ml/nightly' && document.querySelector('.canvas-box canvas')")
	p.do(chromedp.Focus(".canvas-box canvas", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	p.until("/^check, Succeed, layer 2/.test(document.querySelector('.graph [role=status].sr').textContent)")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.until("document.querySelector('.drawer h2').innerText === 'check'")
	p.do(chromedp.KeyEvent(kb.Escape))
	p.until("!document.querySelector('.drawer')")

	// A key counts from the moment that what it is for is there: no later than the first look at it.
	p.do(chromedp.Evaluate(`window.fast = new MutationObserver(() => {
		if (document.querySelector(".drawer h2")?.textContent !== "check") return;
		window.fast.disconnect();
		window.escaped = true;
		document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
	}), window.fast.observe(document.body, { childList: true, subtree: true, characterData: true })`, nil),
		chromedp.KeyEvent(kb.Enter))
	p.until("window.escaped && !document.querySelector('.drawer')")
	p.do(chromedp.KeyEvent("/"))
	p.until("document.activeElement.matches('[data-search]')")
	p.do(chromedp.Evaluate("document.activeElement.select()", nil)) // the driver types a character although its key was handled
	p.do(chromedp.KeyEvent("train"), chromedp.KeyEvent(kb.Enter))
	p.until("/^train, Pending, layer 4/.test(document.querySelector('.graph [role=status].sr').textContent)")
}

// TestNames holds that everything to click or fill in has a name for a screen reader, on each screen, and that nothing is asked
// of another server.
func TestNames(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	for _, screen := range screens("") {
		p.open(s.URL + screen.path)
		p.until("document.querySelector(" + quoted(screen.has) + ")")
		if other := eval[[]string](p,
			"performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith(location.origin + '/'))"); len(other) > 0 {
			t.Errorf("%s asks for %v", screen.name, other)
		}
		nameless := eval[[]string](p,
			`[...document.querySelectorAll("button, a, input, select, textarea, [role=grid], [role=listbox], canvas")].filter((e) =>
			!(e.innerText || e.textContent || "").trim() && !e.getAttribute("aria-label") && !e.labels?.length && !e.title).map((e) => e.outerHTML.slice(0, 120))`)
		if len(nameless) > 0 {
			t.Errorf("%s: nothing names %q", screen.name, nameless)
		}
	}
}
