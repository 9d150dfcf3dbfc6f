package scaling

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// queryURL returns where a query is asked.
func queryURL(source *v1beta1.PrometheusSource, q question) (*url.URL, error) {
	u, err := q.url(source.URL)
	if err != nil {
		return nil, err
	}
	u = u.JoinPath("api/v1/query")
	values := u.Query()
	values.Set("query", q.fill(source.Query))
	u.RawQuery = values.Encode()
	return u, nil
}

// parseQuery reads the answer to a query, by https://prometheus.io/docs/prometheus/latest/querying/api/.
func parseQuery(answer string) (float64, error) {
	var reply struct {
		Status string
		Data   struct {
			ResultType string
			Result     json.RawMessage
		}
	}
	if json.Unmarshal([]byte(answer), &reply) != nil || reply.Status != "success" {
		return 0, fmt.Errorf("the answer of %d bytes is not that of a query that succeeded", len(answer))
	}
	var sample [2]any // time and value
	switch reply.Data.ResultType {
	case "scalar":
		if json.Unmarshal(reply.Data.Result, &sample) != nil {
			return 0, errors.New("the query's scalar can't be read")
		}
	case "vector":
		var vector []struct{ Value [2]any }
		if json.Unmarshal(reply.Data.Result, &vector) != nil {
			return 0, errors.New("the query's vector can't be read")
		}
		if len(vector) != 1 {
			return 0, fmt.Errorf("the query has %d results; want one number, by sum() or avg()", len(vector))
		}
		sample = vector[0].Value
	default:
		return 0, errors.New("the query's result is neither a scalar nor a vector")
	}
	text, ok := sample[1].(string)
	if !ok {
		return 0, errors.New("the query's result has no value")
	}
	return parseNumber(text)
}
