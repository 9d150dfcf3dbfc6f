package browsertest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const assets = "../assets"

// chromium is the browser's path. Where there is none, it is installed.
var chromium = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("../../hack/chromium.sh").Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
})

// options start a browser as a person has it, except that no window is shown.
func options(path string) []chromedp.ExecAllocatorOption {
	return append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("enable-precise-memory-info", true),
		chromedp.WSURLReadTimeout(2*time.Minute))
}

// page is a browser with one tab and an empty profile. Whatever the page reports as an error (an exception, a violation of the
// policy) fails the test.
type page struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex
	allowed []string
}

func newPage(t *testing.T, width, height int64, dark bool) *page {
	t.Helper()
	path, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options(path)...)
	t.Cleanup(end)
	ctx, cancel := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {})) // it reports events that it doesn't know
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(stop)
	p := &page{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.complain("exception: " + e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError {
				p.complain(e.Entry.Text + " " + e.Entry.URL)
			}
		}
	})
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.do(log.Enable(), chromedp.EmulateViewport(width, height),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
	return p
}

// allow expects messages with a text.
func (p *page) allow(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = append(p.allowed, text)
}

func (p *page) complain(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.ContainsFunc(p.allowed, func(text string) bool { return strings.Contains(message, text) }) {
		p.t.Errorf("the page reports: %s", message)
	}
}

func (p *page) do(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// open opens an address. The page finds out by a refusal that it needs the token of a link.
func (p *page) open(url string) {
	p.t.Helper()
	if strings.Contains(url, "#token=") {
		p.allow("401 (Unauthorized)")
	}
	p.do(chromedp.Navigate(url))
}

// eval returns the value of an expression.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	var v T
	p.do(chromedp.Evaluate(expression, &v, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	return v
}

// until waits for an expression to be true.
func (p *page) until(expression string) {
	p.t.Helper()
	if !p.untilFor(expression, 2*time.Minute) {
		p.t.Fatalf("never true: %s; the page is at %s and says:\n%s\nrequests: %s",
			expression, eval[string](p, "location.href"), eval[string](p, "document.body.innerText"),
			eval[string](p,
				"performance.getEntriesByType('resource').map((e) => `${e.name} ${Math.round(e.duration)} ${e.responseStatus}`).join('\\n')"))
	}
}

// untilFor waits for an expression to be true for at most a time, and says whether it is.
func (p *page) untilFor(expression string, most time.Duration) bool {
	ctx, cancel := context.WithTimeout(p.ctx, most)
	defer cancel()
	safe := "(() => { try { return !!(" + expression + "); } catch { return false; } })()" // what isn't there yet has no parts
	for {
		if chromedp.Run(ctx, chromedp.Poll(safe, nil, chromedp.WithPollingInterval(50*time.Millisecond),
			chromedp.WithPollingTimeout(0))) == nil {
			return true
		}
		// The driver also gives up where a document that is being left takes its script along: ask the next one.
		select {
		case <-ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// sees waits for a text of the page.
func (p *page) sees(text string) {
	p.t.Helper()
	p.until("document.body.innerText.includes(" + quoted(text) + ")")
}

func (p *page) click(selector string) { p.t.Helper(); p.do(chromedp.Click(selector, chromedp.ByQuery)) }

// fill types a text into a field, in the place of what it has.
func (p *page) fill(selector, text string) {
	p.t.Helper()
	p.do(chromedp.Evaluate("{ const e = document.querySelector("+quoted(selector)+"); e.focus(); e.select(); }", nil),
		chromedp.KeyEvent(text))
}

// picture saves a screenshot among the test's artifacts. One of a name that begins with "ui-" is of the documentation:
// $SCREENSHOTS says where
// these go, if they are to be made anew.
func (p *page) picture(name string) {
	p.t.Helper()
	dir := p.t.ArtifactDir()
	if wanted := os.Getenv("SCREENSHOTS"); wanted != "" && strings.HasPrefix(name, "ui-") {
		dir = wanted
	}
	var png []byte
	p.do(chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
