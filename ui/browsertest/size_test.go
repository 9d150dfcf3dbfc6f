package browsertest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"

	"github.com/armature-dev/armature/ui/browsertest/fakeserver"
)

// panning drags the picture for 300 frames, as a hand does, and returns the time between frames.
const panning = `(async (selector) => {
	const target = document.querySelector(selector);
	target.setPointerCapture = () => {}; // made events have no pointer to capture
	const box = target.getBoundingClientRect();
	let x = box.left + box.width / 2, y = box.top + box.height / 2;
	const at = (type) => target.dispatchEvent(new PointerEvent(type, {pointerId: 1, bubbles: true, clientX: x, clientY: y, button: 0}));
	const frame = () => new Promise((done) => requestAnimationFrame(done));
	at("pointerdown");
	const gaps = [];
	let last = await frame();
	for (let i = 0; i < 300; i++) {
		x += i % 150 < 75 ? -8 : 8;
		y += i % 60 < 30 ? 5 : -5;
		at("pointermove");
		const now = await frame();
		gaps.push(now - last);
		last = now;
	}
	at("pointerup");
	const mean = gaps.reduce((a, b) => a + b, 0) / gaps.length;
	gaps.sort((a, b) => a - b);
	return JSON.stringify({fps: 1000 / mean, p99: gaps[Math.floor(gaps.length * 0.99)]});
})`

type frames struct {
	FPS float64 `json:"fps"`
	P99 float64 `json:"p99"`
	// Busy is the processor time of the page's thread a frame, in milliseconds.
	Busy float64
}

// pan measures the frames while something is dragged.
func (p *page) pan(selector string) frames {
	p.t.Helper()
	before := p.metric("TaskDuration")
	var f frames
	if err := json.Unmarshal([]byte(eval[string](p, panning+"("+quoted(selector)+")")), &f); err != nil {
		p.t.Fatal(err)
	}
	f.Busy = 1000 * (p.metric("TaskDuration") - before) / 300
	return f
}

func (p *page) metric(name string) float64 {
	p.t.Helper()
	value := math.NaN()
	p.do(performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks))
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		all, err := performance.GetMetrics().Do(ctx)
		for _, m := range all {
			if m.Name == name {
				value = m.Value
			}
		}
		return err
	}))
	return value
}

// memory returns the page's JavaScript heap after a collection, and the private memory of the page's process, in MiB.
func (p *page) memory() (heap, process float64) {
	p.t.Helper()
	p.do(heapprofiler.CollectGarbage())
	heap = p.metric("JSHeapUsedSize") / (1 << 20)
	var all []*systeminfo.ProcessInfo
	p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		all, err = systeminfo.GetProcessInfo().Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
		return err
	}))
	for _, info := range all {
		if info.Type == "renderer" {
			process = max(process, private(p.t, info.ID))
		}
	}
	return heap, process
}

// private is the memory of a process that no other shares, in MiB.
func private(t *testing.T, pid int64) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Logf("no memory of process %d: %v", pid, err)
		return 0
	}
	var kib float64
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && (name == "Private_Clean" || name == "Private_Dirty") {
			n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			if err != nil {
				t.Fatal(err)
			}
			kib += n
		}
	}
	return kib / 1024
}

// mark is when the page reached a point, in milliseconds from the start of its loading.
func (p *page) mark(name string) float64 {
	p.t.Helper()
	p.until("performance.getEntriesByName(" + quoted(name) + ").length")
	return eval[float64](p, "performance.getEntriesByName("+quoted(name)+")[0].startTime")
}

// big is a flow of 10,000 nodes of which half have run, in a shape.
func big(s *fakeserver.Server, layers int) {
	s.Stream("flow", "ml/big", fakeserver.E("flow", m{"uid": "f", "kind": "JobFlow", "namespace": "ml", "name": "big",
		"state": "Running", "tone": "run",
		"started": fakeserver.Ago(4000), "counts": m{"total": 10000, "succeeded": 4890, "failed": 10, "running": 100, "pending": 5000}}),
		fakeserver.E("graph", fakeserver.BigGraph(layers, 10000/layers)), fakeserver.E("nodes", fakeserver.BigNodes(5000)))
}

// TestBigFlow holds the page to its limits with 10,000 nodes and 30,000 dependencies: under 150 MB, and few rows in the document. With
// MEASURE=1, on a machine that does nothing else, also to what a clock says: first paint under a second, and 60 frames a second while it is
// dragged, whatever is open and however small. It prints the numbers of docs/benchmarks.md.
func TestBigFlow(t *testing.T) {
	measured := os.Getenv("MEASURE") != ""
	for _, layers := range []int{100, 4, 2000} {
		t.Run(fmt.Sprintf("%d layers", layers), func(t *testing.T) {
			s := fake(t)
			big(s, layers)
			p := newPage(t, 1600, 1000, false)
			p.open(s.URL + "/flows/ml/big")
			paint := p.mark("armature-graph-painted")
			t.Logf("first paint after %.0f ms", paint)
			if measured && paint > 1000 {
				t.Errorf("the first paint comes after %.0f ms", paint)
			}
			check := func(what string) {
				t.Helper()
				f := p.pan(".canvas-box canvas")
				t.Logf("%s: %.1f frames a second, the 99th percentile is %.1f ms, the page's thread is busy for %.1f ms a frame", what,
					f.FPS, f.P99, f.Busy)
				if measured && (f.Busy > 14 || f.FPS < 58) {
					t.Errorf("%s: %.1f ms a frame, %.1f frames a second", what, f.Busy, f.FPS)
				}
			}
			check("as it opens")
			if eval[bool](p, "document.querySelector('[data-collapse]').innerText.startsWith('Open')") {
				p.click("[data-collapse]")
				check("all layers open")
			}
			for range 5 {
				p.click("[aria-label='Zoom out']")
			}
			check("zoomed out five times")
			p.do(chromedp.Evaluate("[...document.querySelectorAll('.tools button')].find((b) => b.innerText === 'Fit').click()", nil))
			check("all in view")
			p.picture(fmt.Sprintf("big-%d", layers))

			p.do(chromedp.SendKeys("[data-search]", "-7", chromedp.ByQuery))
			p.until("document.querySelector('.found')")
			for _, view := range []string{"timeline", "table"} {
				p.open(s.URL + "/flows/ml/big?view=" + view)
				p.until("document.querySelector('.grid .rows .row')")
				if rows := eval[int](p, "document.querySelectorAll('.grid .rows .row').length"); rows > 120 {
					t.Errorf("the %s has %d rows in the document", view, rows)
				}
			}
			p.open(s.URL + "/flows/ml/big")
			p.mark("armature-graph-painted")
			heap, process := p.memory()
			t.Logf("memory: %.1f MiB of JavaScript heap, %.0f MiB private to the page's process", heap, process)
			if process > 150 {
				t.Errorf("the page's process has %.0f MiB", process)
			}
		})
	}
}

// TestManyObjects shows a list of 5,000 objects while it changes: filters answer at once, and the document stays small.
func TestManyObjects(t *testing.T) {
	s := fake(t)
	rows := fakeserver.Rows(5000)
	s.Stream("objects", "", fakeserver.E("set", rows))
	p := newPage(t, 1440, 900, false)
	p.open(s.URL + "/")
	p.sees("5,000 objects")
	if n := eval[int](p, "document.querySelectorAll('*').length"); n > 1500 {
		t.Errorf("the document has %d elements", n)
	}
	p.do(chromedp.SendKeys("main input[type=search]", "job-4321", chromedp.ByQuery))
	p.sees("1 of 5,000 objects")
	if url := eval[string](p, "location.search"); url != "?text=job-4321" {
		t.Errorf("the address has %q", url)
	}
	changed := rows[4321]
	changed["state"], changed["tone"] = "Exploded", "bad"
	s.Send("objects", "", "set", []m{changed})
	p.sees("Exploded")
	s.Send("objects", "", "gone", []string{"u4321"})
	p.sees("0 of 4,999 objects")
	p.open(s.URL + "/?kind=JobFlow&state=Failed&label=team%3Dred&namespace=ml")
	p.until("document.querySelectorAll('.objects .rows .row').length > 5")
	if all := eval[bool](p,
		"[...document.querySelectorAll('.objects .rows .row')].every((r) => /JobFlow/.test(r.innerText) && /Failed/.test(r.innerText))"); !all {
		t.Error("the list has rows that the filters of the address exclude")
	}
	heap, process := p.memory()
	t.Logf("memory: %.1f MiB of JavaScript heap, %.0f MiB private to the page's process", heap, process)
}

// TestPeers draws the same flows by dagre, as Argo's page, and by elkjs. It measures, and holds nobody to anything.
func TestPeers(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("only with MEASURE=1")
	}
	dir := t.TempDir()
	if out, err := exec.Command("node", "../web/peers/build.mjs", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, by := range []string{"Armature", "dagre", "elkjs"} {
		inTime := true
		for _, layers := range []int{10, 20, 32, 45, 100} {
			if !inTime {
				t.Logf("%s: %d nodes were not tried", by, layers*layers)
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", by, layers*layers), func(t *testing.T) {
				s := fake(t)
				s.Peers = dir
				s.Reply("GET /api/peer-graph", 200, fakeserver.BigGraph(layers, layers))
				p := newPage(t, 1600, 1000, false)
				url, mark, drawn := "/peers/?by="+by, "peer-painted", "svg"
				if by == "Armature" {
					s.Stream("flow", "ml/big", fakeserver.E("flow", m{"kind": "JobFlow", "namespace": "ml", "name": "big"}),
						fakeserver.E("graph", fakeserver.BigGraph(layers, layers)))
					url, mark, drawn = "/flows/ml/big", "armature-graph-painted", ".canvas-box canvas"
				}
				p.open(s.URL + url)
				if inTime = p.untilFor("performance.getEntriesByName("+quoted(mark)+").length", 120*time.Second); !inTime {
					t.Logf("%d nodes: not painted after 120 s", layers*layers)
					return
				}
				paint := p.mark(mark)
				f := p.pan(drawn)
				heap, process := p.memory()
				t.Logf("%d nodes: painted after %.1f s; %.1f frames a second, the 99th percentile is %.0f ms; %.0f MiB of heap, %.0f MiB private",
					layers*layers, paint/1000, f.FPS, f.P99, heap, process)
			})
		}
	}
}
