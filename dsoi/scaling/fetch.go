package scaling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

const (
	defaultTimeout = 5 * time.Second
	mostTimeout    = 30 * time.Second
	maxAnswer      = 64 << 10 // bytes
	maxRedirects   = 3
)

// question is what a number is asked for.
type question struct{ namespace, cluster, node, storage string }

// fill replaces the placeholders in a text.
func (q question) fill(text string) string {
	return strings.NewReplacer("{namespace}", q.namespace, "{cluster}", q.cluster, "{node}", q.node, "{storage}", q.storage).Replace(text)
}

// checkURL refuses a URL that a source can't have.
func checkURL(text string) error {
	_, err := question{"n", "c", "n", "s"}.url(text)
	return err
}

// url returns the URL of a text with placeholders. It checks the URL after it has filled in the names: a name could change which part of
// the text is the host.
func (q question) url(text string) (*url.URL, error) {
	u, err := url.Parse(q.fill(text))
	switch {
	case err != nil:
		return nil, errors.New("source: the url can't be read; want one such as https://host/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("source: the url begins with %q; want http or https", u.Scheme)
	case u.Host == "":
		return nil, errors.New("source: the url has no host; want one such as https://host/path")
	case u.User != nil:
		return nil, errors.New("source: the url has a user in it; put it into a Secret, and name that in secretRef")
	}
	return u, nil
}

// timeoutOf returns how long an answer may take.
func timeoutOf(a *v1beta1.HTTPAccess) (time.Duration, error) {
	timeout, err := a.Timeout.Parse(defaultTimeout)
	if err == nil && (timeout <= 0 || timeout > mostTimeout) {
		err = fmt.Errorf("is %s; want more than 0 and at most %s", timeout, mostTimeout)
	}
	if err != nil {
		return 0, fmt.Errorf("source: timeout %w", err)
	}
	return timeout, nil
}

// urlOf returns where a number is asked for. An endpoint that isn't told by its URL which node is meant is told by
// parameters.
func urlOf(source string, q question) (*url.URL, error) {
	u, err := q.url(source)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(source, "{node}") {
		values := u.Query()
		values.Set("namespace", q.namespace)
		values.Set("cluster", q.cluster)
		values.Set("node", q.node)
		if q.storage != "" {
			values.Set("storage", q.storage)
		}
		u.RawQuery = values.Encode()
	}
	return u, nil
}

// get asks an endpoint and returns its answer. What it says about a failure has nothing in it that the endpoint could
// choose, but for a status code: it knows the Secret by then.
// Loopback addresses are connected to only if loopback is set, and redirects are followed to URLs that allow accepts.
func get(
	ctx context.Context, u *url.URL, c credentials, timeout time.Duration, loopback bool, allow func(*url.URL) error,
) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	transport := &http.Transport{
		DialContext:            (&net.Dialer{Control: onlyTo(loopback)}).DialContext,
		TLSClientConfig:        c.tls,
		DisableKeepAlives:      true, // the next question is a while away
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxAnswer,
	}
	defer transport.CloseIdleConnections()
	browser := &http.Client{Transport: transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case next.URL.Scheme != u.Scheme || next.URL.Host != u.Host:
			return errRedirectedAway
		case len(via) > maxRedirects:
			return errRedirectedTooOften
		case allow(next.URL) != nil: // an error that may repeat what the endpoint chose
			return errRedirectedRefused
		default:
			return nil
		}
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", errors.New("the request can't be made")
	}
	request.Header.Set("Accept", "text/plain, application/json")
	c.authenticate(request)
	response, err := browser.Do(request)
	if err != nil {
		return "", failure(ctx, err, timeout)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the answer has the status %d; want 200", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return "", failure(ctx, err, timeout)
	case len(body) > maxAnswer:
		return "", fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return string(body), nil
}

var (
	errRedirectedAway     = errors.New("it redirects to another scheme, host or port, which is refused")
	errRedirectedTooOften = fmt.Errorf("it redirects more than %d times", maxRedirects)
	errRedirectedRefused  = errors.New("it redirects to a URL that isn't allowed")
)

// failure says why there was no answer.
func failure(ctx context.Context, err error, timeout time.Duration) error {
	for _, known := range []error{errRedirectedAway, errRedirectedTooOften, errRedirectedRefused, errNotHere} {
		if errors.Is(err, known) {
			return known
		}
	}
	var refused *net.OpError
	var name *net.DNSError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("no answer within %s", timeout)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &name):
		return errors.New("its host name can't be resolved")
	case errors.As(err, &refused) && refused.Op == "dial":
		return errors.New("it can't be connected to")
	case isTLS(err):
		return errors.New("its certificate isn't trusted, or it speaks no TLS")
	default:
		return errors.New("the connection broke off, or the answer is no HTTP")
	}
}

// number is what a number looks like: as in JSON, but never below 0.
var number = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// parseNumber reads an answer that is one number.
func parseNumber(answer string) (float64, error) {
	text := strings.TrimSpace(answer)
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !number.MatchString(text) {
		return 0, fmt.Errorf("the answer of %d bytes is no number of 0 or more", len(answer))
	}
	return value, nil
}
