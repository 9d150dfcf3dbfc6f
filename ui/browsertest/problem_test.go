package browsertest_test

import (
	"context"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/armature-dev/armature/ui/browsertest/fakeserver"
)

// alerts is an expression of whether an alert above the screen's content has a text.
func alerts(text string) string {
	return "[...document.querySelectorAll('main [role=alert]')].some((e) => e.innerText.includes(" + quoted(text) + "))"
}

// TestADeletedObjectIsSaid deletes objects while their screens are open: the page says so, and offers and counts nothing of them any more.
func TestADeletedObjectIsSaid(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	for _, o := range []struct{ path, has, stream, key string }{
		{"/flows/ml/nightly", ".graph canvas", "flow", "ml/nightly"},
		{"/objects/JobFlow/ml/nightly", ".object .why", "detail", "JobFlow/ml/nightly/"},
	} {
		p.open(s.URL + o.path)
		p.until("document.querySelector(" + quoted(o.has) + ") && document.querySelector('.title .state')")
		s.Send(o.stream, o.key, "problem", m{"error": "there is no JobFlow nightly in the namespace ml", "reason": "NotFound"})
		p.until(alerts("there is no JobFlow nightly"))
		p.until("!document.querySelector('.title .state') && !document.querySelector('[data-action]') && !/\\bfor \\d/.test(document.querySelector('.title').innerText)")
	}
}

// TestAProblemIsSaidAboveRows ends streams whose screens show something: that it isn't live any more is said above it.
func TestAProblemIsSaidAboveRows(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	for path, stream := range map[string]string{"/": "objects", "/queues": "queues"} {
		p.open(s.URL + path)
		p.until("document.querySelector('.objects .rows .row, .queue')")
		s.Send(stream, "", "problem", m{"error": "the stream is over", "reason": "InternalError"})
		p.until(alerts("the stream is over"))
		p.until("document.querySelector('.objects .rows .row, .queue')")
	}
}

// TestOneRefusalIsNoEnd refuses the credential once: the page asks for its session, which is good, and goes on by itself.
func TestOneRefusalIsNoEnd(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	p.open(s.URL + "/flows/ml/nightly")
	p.until("document.querySelector('.graph canvas')")
	s.Stream("flow", "ml/nightly", fakeserver.E("flow", m{"uid": "f", "kind": "JobFlow", "namespace": "ml", "name": "nightly",
		"state": "Succeed", "tone": "good"}))
	s.Send("flow", "ml/nightly", "problem", m{"error": "Unauthorized", "reason": "Unauthorized"})
	p.until("document.querySelector('.title .state').innerText === 'Succeed' && !document.querySelector('[role=alert]')")
}

// TestARefusedKubeconfigIsSaid refuses the kubeconfig's credential, against which no login helps: the page says so above what it shows,
// and goes on once the API server accepts the credential.
func TestARefusedKubeconfigIsSaid(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	p.allow("401 (Unauthorized)")
	p.open(s.URL + "/")
	p.sees("5 objects")
	s.Reply("GET /api/session", 401, m{"error": "the API server refuses the credential, which may have expired"})
	s.Stream("objects", "", fakeserver.E("set", fakeserver.Rows(7)))
	s.Send("objects", "", "problem", m{"error": "Unauthorized", "reason": "Unauthorized"})
	p.until("document.querySelector('.banner')?.innerText.includes('The API server refuses the credential')")
	p.sees("5 objects")
	s.LetIn()
	p.sees("7 objects")
	p.until("!document.querySelector('[role=alert]')")
}

// TestASilentStreamIsOpenedAgain has a connection on which nothing comes any more, without an end: the page opens another. Its 45 seconds
// take half a second here.
func TestASilentStreamIsOpenedAgain(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdppage.AddScriptToEvaluateOnNewDocument(
			"{ const real = setTimeout; window.setTimeout = (f, ms, ...more) => real(f, ms === 45000 ? 500 : ms, ...more); }").Do(ctx)
		return err
	}))
	p.open(s.URL + "/flows/ml/nightly")
	p.until("document.querySelector('.title .state').innerText === 'Running'")
	s.Stream("flow", "ml/nightly", fakeserver.E("flow", m{"uid": "f", "kind": "JobFlow", "namespace": "ml", "name": "nightly",
		"state": "Succeed", "tone": "good"}))
	p.until("document.querySelector('.title .state').innerText === 'Succeed'")
}

// TestTooManyStreamsIsNoEnd refuses streams beside too many others: the page says so, and opens its own again when the server has asked it
// to. The 7 seconds take a tenth of one here.
func TestTooManyStreamsIsNoEnd(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	p.allow("429 (Too Many Requests)")
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdppage.AddScriptToEvaluateOnNewDocument("{ const real = setTimeout; window.delays = []; " +
			"window.setTimeout = (f, ms, ...more) => { delays.push(ms); return real(f, ms === 7000 ? 100 : ms, ...more); }; }").Do(ctx)
		return err
	}))
	p.open(s.URL + "/flows/ml/nightly")
	p.until("document.querySelector('.title .state').innerText === 'Running'")
	s.Stream("flow", "ml/nightly", fakeserver.E("flow", m{"uid": "f", "kind": "JobFlow", "namespace": "ml", "name": "nightly",
		"state": "Succeed", "tone": "good"}))
	s.Refuse(429, m{"error": "you have 100 streams open already", "reason": "TooManyRequests"})
	p.until(alerts("you have 100 streams open already"))
	s.SetDown(false)
	p.until("document.querySelector('.title .state').innerText === 'Succeed' && !document.querySelector('[role=alert]')")
	p.until("delays.includes(" + fakeserver.RetryAfter + "000)")
}

// TestALimitIsSaid has more objects than the server shows: the page says so below them.
func TestALimitIsSaid(t *testing.T) {
	s := fake(t)
	s.Small("")
	p := newPage(t, 1440, 900, false)
	for path, stream := range map[string][2]string{
		"/": {"objects", ""}, "/queues": {"queues", ""}, "/flows/ml/nightly": {"flow", "ml/nightly"},
		"/objects/DaemonJob/ml/wipe-disks": {"detail", "DaemonJob/ml/wipe-disks/"},
	} {
		p.open(s.URL + path)
		p.until("document.querySelector('.objects .rows .row, .queue, .graph canvas, .square')")
		s.Send(stream[0], stream[1], "source", m{"kind": "FluxJob", "namespace": "ml", "state": "limited", "message": "only 50000 of them are shown"})
		p.until("document.querySelector('.footnote')?.innerText.includes('FluxJob in ml: only 50000 of them are shown.')")
	}
}
