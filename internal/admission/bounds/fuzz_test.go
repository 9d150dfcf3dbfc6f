package bounds

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	admissionv1 "k8s.io/api/admission/v1"
)

// Whoever reaches the port may send anything: it is answered with a review, whatever it is and whichever kind it is sent for.
func FuzzReview(f *testing.F) {
	paths := []string{"daemonjob", "fluxjob", "fluxsetup", "jobflow", "minicluster", "replicajob"}
	for i, spec := range []string{
		`{"jobTemplate":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},"nodeSelector":{"a":"b"}}`,
		`{"queue":"q","size":2,"image":"i","command":"c"}`,
		`{"cohort":"c","namespaceSelector":{},"resources":{"cpu":"4"},"quota":{"nominal":{"cpu":"4"}}}`,
		`{"flows":[{"name":"a","jobTemplateRef":"t","when":"true"},{"name":"b","dependencies":["a"],"forEach":{"fromOutput":"a"},"jobTemplateRef":"t"}],"successWhen":"true"}`,
		`{"size":3,"containers":[{"image":"i","command":"c","resources":{"limits":{"cpu":"1"}}}],"volumes":{"v":{"hostPath":"/x"}}}`,
		`{"replicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}}`,
	} {
		kind := []string{"DaemonJob", "FluxJob", "FluxSetup", "JobFlow", "MiniCluster", "ReplicaJob"}[i]
		f.Add(reviewOf(kind, `{"apiVersion":"api.practice.com/v1alpha1","kind":"`+kind+`","metadata":{"namespace":"n","name":"o"},"spec":`+spec+`}`), uint8(i))
	}
	f.Add(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":null}`, uint8(0))
	f.Add(`{}`, uint8(3))
	handler := served(f)
	f.Fuzz(func(t *testing.T, body string, to uint8) {
		request := httptest.NewRequest(http.MethodPost, "/validate/"+paths[int(to)%len(paths)], strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		assert.Less(t, recorder.Body.Len(), 256<<10+8*len(body), "the answer is bounded by what was sent")
		var answer admissionv1.AdmissionReview
		decoder := json.NewDecoder(bytes.NewReader(recorder.Body.Bytes()))
		assert.NoError(t, decoder.Decode(&answer), recorder.Body.String())
		if assert.NotNil(t, answer.Response) && !answer.Response.Allowed {
			assert.NotNil(t, answer.Response.Result, "it says why")
		}
		assert.NotContains(t, recorder.Body.String(), "panic:", "no plan panics")
	})
}
