package uiserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAStreamRestsAfterExpensiveNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		out := newStream(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		began := time.Now()
		var looked []time.Duration
		out.wake <- struct{}{}
		out.run(&Viewer{hub: &hub{ctx: ctx}}, func() bool {
			looked = append(looked, time.Since(began))
			out.wake <- struct{}{} // there is always something new
			out.rest = map[int]time.Duration{1: 3 * time.Second}[len(looked)]
			if len(looked) == 3 {
				leave()
			}
			return true
		})
		assert.Equal(t, []time.Duration{0, 3 * time.Second, 3*time.Second + settle}, looked)
	})
}
