package browsertest_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/armature-dev/armature/ui/browsertest/fakeserver"
)

type m = fakeserver.M

func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// fake is a server with made data, for a viewer who may do all.
func fake(t *testing.T) *fakeserver.Server {
	t.Helper()
	s := fakeserver.New(assets)
	t.Cleanup(func() { s.SetDown(true); s.Close() })
	s.LetIn()
	return s
}

// screen is one address of the page, and what must be in the document there.
type screen struct{ name, path, has string }

// screens are all of the page, of the objects of fakeserver.Small.
func screens(text string) []screen {
	esc := url.PathEscape(text)
	flow := "/flows/ml/nightly" + esc
	train := url.QueryEscape("train" + text)
	return []screen{
		{"list", "/", ".objects .rows .row"},
		{"flow", flow, ".graph canvas"},
		{"drawer", flow + "?node=" + train, ".drawer .why"},
		{"pods", flow + "?tab=pods&node=" + train, ".pods li"},
		{"logs", flow + "?tab=logs&wide=1&node=" + train, ".pane .line"},
		{"events", flow + "?tab=events&node=" + train, ".events li"},
		{"yaml", flow + "?tab=yaml&node=" + train, ".yaml .line"},
		{"timeline", flow + "?view=timeline", ".c-track i.run"},
		{"table", flow + "?view=table", ".nodes .rows .row"},
		{"whole", "/objects/JobFlow/ml/nightly" + esc, ".object .why"},
		{"daemonjob", "/objects/DaemonJob/ml/wipe-disks" + esc, ".square"},
		{"replicajob", "/objects/ReplicaJob/ml/train" + esc, ".rank"},
		{"minicluster", "/objects/MiniCluster/ml/lammps" + esc, ".rank"},
		{"cluster", "/objects/Pinot/ml/events" + esc, ".types li"},
		{"queues", "/queues", ".queue"},
		{"compare", "/compare?namespace=ml&a=x&b=y", ".compare-nodes .rows .row"},
		{"submit", "/submit?kind=JobFlow", ".form .field"},
	}
}

// faint returns the texts of the page whose contrast to what is behind them is less than WCAG's level AA asks for.
const faint = `(() => {
	const pixel = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const rgba = (colour) => {
		pixel.clearRect(0, 0, 1, 1);
		pixel.fillStyle = colour;
		pixel.fillRect(0, 0, 1, 1);
		return [...pixel.getImageData(0, 0, 1, 1).data];
	};
	const luminance = (colour) => colour.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => {
		for (; e; e = e.parentElement) {
			const colour = rgba(getComputedStyle(e).backgroundColor);
			if (colour[3] > 230) return colour;
		}
		return [255, 255, 255];
	};
	const found = [];
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const e = texts.currentNode.parentElement, text = texts.currentNode.textContent.trim();
		if (!text || !e.getClientRects().length || e.closest(":disabled, .sr")) continue;
		const style = getComputedStyle(e), a = luminance(rgba(style.color)), b = luminance(behind(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) found.push(ratio.toFixed(2) + " " + e.className + ": " + text);
	}
	return found;
})()`

// TestScreens opens each screen, in light and in dark, on a desk and on a phone, also where names are long. Nothing may be wider than a
// phone, and no text may be hard to read.
func TestScreens(t *testing.T) {
	long := strings.Repeat("-long", 10)
	for _, look := range []struct {
		name          string
		width, height int64
		dark          bool
		text          string
	}{{"light", 1440, 900, false, ""}, {"dark", 1440, 900, true, ""}, {"phone", 390, 844, false, ""}, {"narrow", 320, 640, true, long}} {
		t.Run(look.name, func(t *testing.T) {
			s := fake(t)
			s.Small(look.text)
			s.Reply("GET /api/access", 200, m{"allNamespaces": true, "namespaces": []string{"ml", "ops" + look.text},
				"kinds": fakeserver.Kinds("*", fakeserver.AllVerbs)})
			p := newPage(t, look.width, look.height, look.dark)
			for _, screen := range append(screens(look.text), screen{"chosen", "/?namespace=ops" + look.text, ".objects .rows .row"}) {
				p.open(s.URL + screen.path)
				p.until("document.querySelector(" + quoted(screen.has) + ")")
				for _, text := range eval[[]string](p, faint) {
					t.Errorf("%s: the contrast is %s", screen.name, text)
				}
				if wide := eval[int](p, "document.documentElement.scrollWidth"); wide > int(look.width) {
					t.Errorf("%s is %d pixels wide, the screen %d", screen.name, wide, look.width)
				}
				p.picture("screen-" + screen.name + "-" + look.name)
			}
		})
	}
}

// TestMarkup shows markup in all names, messages, logs and values: it is text everywhere, and nothing of it runs or is loaded.
func TestMarkup(t *testing.T) {
	const markup = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"'><a href="javascript:window.hacked=1">{{7*7}}</a>`
	s := fake(t)
	s.Small(markup)
	p := newPage(t, 1440, 900, false)
	p.allow("422 (Unprocessable Entity)")
	for _, screen := range screens(markup) {
		p.open(s.URL + screen.path)
		p.until("document.querySelector(" + quoted(screen.has) + ")")
		if screen.name == "submit" {
			p.click("[data-check]")
			p.sees("must be a DNS label<img")
		}
		if eval[bool](p, "window.hacked === 1") {
			t.Fatalf("%s runs markup", screen.name)
		}
		if n := eval[int](p, `document.querySelectorAll("#app img, #app script, #app a[href^='javascript:']").length`); n > 0 {
			t.Errorf("%s has made %d elements of markup", screen.name, n)
		}
		if screen.name != "flow" && screen.name != "submit" && !strings.Contains(eval[string](p, "document.body.textContent"), "<img src=x") {
			t.Errorf("%s doesn't show the markup as text", screen.name)
		}
	}
}
