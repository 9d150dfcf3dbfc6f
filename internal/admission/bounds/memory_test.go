// Package bounds tests what a review may cost. The tests start no goroutines and are much slower under the race detector, so they
// have a package of their own, which runs without it.
package bounds

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/admission"
)

// served returns the webhooks of all kinds, as they are served.
func served(t testing.TB) http.Handler {
	t.Helper()
	scheme := kruntime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	server := webhook.NewServer(webhook.Options{})
	admission.Register(server, scheme, admission.Clients{})
	return server.WebhookMux()
}

// reviewOf returns the review of an object that is created, as anyone can send it who reaches the port: no schema has seen it.
func reviewOf(kind, object string) string {
	return fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE",`+
		`"kind":{"group":"api.practice.com","version":"v1alpha1","kind":%q},"object":%s}}`, kind, object)
}

// flowsOf returns a JobFlow of these nodes, as JSON.
func flowsOf(nodes ...string) string {
	return `{"apiVersion":"api.practice.com/v1alpha1","kind":"JobFlow","metadata":{"namespace":"ns","name":"f"},"spec":{"flows":[` + strings.Join(nodes, ",") + `]}}`
}

// repeated returns nodes until they have about so many bytes.
func repeated(size int, one func(i int) string) (nodes []string) {
	for length := 0; length < size; {
		node := one(len(nodes))
		nodes, length = append(nodes, node), length+len(node)+1
	}
	return nodes
}

// A review of 3.9 MB, which no schema has bounded, costs no more than bounded memory, whatever is in it.
func TestAReviewCostsBoundedMemory(t *testing.T) {
	const size = 3_900_000
	quoted := func(text string) string { b, _ := json.Marshal(text); return string(b) }
	ten := `[0,1,2,3,4,5,6,7,8,9]`
	first := `{"name":"first","jobTemplateRef":"t"}`
	for name, object := range map[string]string{
		"expressions that cost much": flowsOf(append([]string{first}, repeated(1_200_000, func(i int) string {
			return fmt.Sprintf(`{"name":"n%d","jobTemplateRef":"t","when":"!%[2]s.all(a,%[2]s.all(b,%[2]s.all(c,%[2]s.all(d,true)))) || %[1]d < 0"}`, i, ten)
		})...)...),
		"short expressions":              flowsOf(append([]string{first}, repeated(size, func(i int) string { return fmt.Sprintf(`{"name":"n%d","jobTemplateRef":"t","when":"true"}`, i) })...)...),
		"one long expression":            flowsOf(fmt.Sprintf(`{"name":"n","jobTemplateRef":"t","when":%s}`, quoted("true"+strings.Repeat("||true", size/6)))),
		"one expression below the bound": flowsOf(fmt.Sprintf(`{"name":"n","jobTemplateRef":"t","when":%s}`, quoted("true"+strings.Repeat("||true", 170_000)))),
		"a long list":                    flowsOf(fmt.Sprintf(`{"name":"n","jobTemplateRef":"t","when":%s}`, quoted("["+strings.Repeat("1,", 500_000)+"1].all(x,true)"))),
		"deep parentheses":               flowsOf(fmt.Sprintf(`{"name":"n","jobTemplateRef":"t","when":%s}`, quoted(strings.Repeat("(", 500_000)+"true"+strings.Repeat(")", 500_000)))),
		"what no one can read":           flowsOf(fmt.Sprintf(`{"name":"n","jobTemplateRef":"t","when":%s}`, quoted(strings.Repeat("@ ", 500_000)))),
		"wrong expressions": flowsOf(repeated(size, func(i int) string {
			return fmt.Sprintf(`{"name":"n%d","jobTemplateRef":"t","when":%s}`, i, quoted(strings.Repeat("@ ", 5000)))
		})...),
		"successWhen":                           strings.TrimSuffix(flowsOf(first), "}}") + `,"successWhen":` + quoted("true"+strings.Repeat("||true", size/6)) + `}}`,
		"nodes":                                 flowsOf(repeated(size, func(i int) string { return fmt.Sprintf(`{"name":"n%d","jobTemplateRef":"t"}`, i) })...),
		"nulls":                                 flowsOf(repeated(size, func(int) string { return "null" })...),
		"containers":                            flowsOf(`{"name":"n","jobTemplate":{"template":{"spec":{"containers":[` + strings.Join(repeated(size, func(int) string { return "{}" }), ",") + `]}}}}`),
		"owners":                                strings.Replace(flowsOf(first), `"name":"f"`, `"name":"f","ownerReferences":[`+strings.Join(repeated(size, func(int) string { return "{}" }), ",")+`]`, 1),
		"empty nodes":                           flowsOf(repeated(size, func(int) string { return `{}` })...),
		"empty nodes before a spec in capitals": strings.TrimSuffix(flowsOf(repeated(1_300_000, func(int) string { return `{}` })...), "}") + `,"Spec":{}}`,
		"empty nodes before another spec":       strings.TrimSuffix(flowsOf(repeated(1_300_000, func(int) string { return `{}` })...), "}") + `,"spec":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			review := reviewOf("JobFlow", object)
			handler := served(t)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			request := httptest.NewRequest(http.MethodPost, "/validate/jobflow", strings.NewReader(review))
			request.Header.Set("Content-Type", "application/json")
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, request)
			runtime.ReadMemStats(&after)
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d bytes: %d MiB allocated, %v, %d bytes of answer", len(review), allocated, time.Since(start).Round(time.Millisecond), recorder.Body.Len())
			assert.Less(t, allocated, uint64(256))
			var answer admissionv1.AdmissionReview
			require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &answer), recorder.Body.String())
			require.NotNil(t, answer.Response)
			assert.False(t, answer.Response.Allowed)
			assert.Less(t, recorder.Body.Len(), 64<<10, "nor does the answer repeat it")
		})
	}
}

// Rules that no schema has bounded.
func TestRegularExpressionsAreNotCompiledBeforeTheyAreMeasured(t *testing.T) {
	for name, text := range map[string]string{
		"repetitions":             "(?s)(?:" + strings.Repeat(".?", 500) + "){999}z",
		"case-insensitive ranges": "(?i)[" + strings.Repeat("B-\U0001e942", 300) + "]",
		"wrong ones":              "(?i)[B-\u4000](",
		"a long one":              strings.Repeat("a?", 3<<20/2),
	} {
		t.Run(name, func(t *testing.T) {
			quoted, err := json.Marshal(text)
			require.NoError(t, err)
			rules := repeated(1_000_000, func(int) string { return `{"action":"Fail","onMessage":` + string(quoted) + `}` })
			review := reviewOf("ReplicaJob", `{"apiVersion":"api.practice.com/v1alpha1","kind":"ReplicaJob","metadata":{"namespace":"ns","name":"j"},`+
				`"spec":{"failurePolicy":{"rules":[`+strings.Join(rules, ",")+`]},`+
				`"replicaSpecs":{"Worker":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}}}`)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			request := httptest.NewRequest(http.MethodPost, "/validate/replicajob", strings.NewReader(review))
			request.Header.Set("Content-Type", "application/json")
			recorder := httptest.NewRecorder()
			served(t).ServeHTTP(recorder, request)
			runtime.ReadMemStats(&after)
			assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(256))
			assert.Contains(t, recorder.Body.String(), "onMessage: ")
			assert.Less(t, recorder.Body.Len(), 64<<10)
		})
	}
}
