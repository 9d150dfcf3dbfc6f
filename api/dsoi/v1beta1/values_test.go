package v1beta1

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDuration(t *testing.T) {
	tests := map[string]struct {
		given string
		want  time.Duration
		fails bool
	}{
		"a number":             {`60`, time.Minute, false},
		"a number as a text":   {`"60"`, time.Minute, false},
		"a text":               {`"1m30s"`, 90 * time.Second, false},
		"nothing":              {`null`, time.Hour, false},
		"an empty text":        {`""`, time.Hour, false},
		"zero":                 {`0`, 0, false},
		"a negative number":    {`-1`, 0, true},
		"a negative text":      {`"-1s"`, 0, true},
		"a word":               {`"soon"`, 0, true},
		"a number without end": {`1e99`, 0, true},
		"an object":            {`{}`, 0, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var d Duration
			require.NoError(t, json.Unmarshal([]byte(tt.given), &d))
			got, err := d.Parse(time.Hour)
			assert.Equal(t, tt.fails, err != nil, err)
			assert.Equal(t, tt.want, got)
		})
	}
	assert.Equal(t, Duration("90"), Seconds(90))
}

func TestNumberAndSize(t *testing.T) {
	for text, want := range map[string]float64{`80`: 80, `"0.75"`: 0.75, `"1e3"`: 1000} {
		var n Number
		require.NoError(t, json.Unmarshal([]byte(text), &n))
		got, err := n.Parse()
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{`null`, `0`, `-1`, `"NaN"`, `"Inf"`, `"x"`, `[]`} {
		var n Number
		var s Size
		require.NoError(t, json.Unmarshal([]byte(text), &n))
		_, err := n.Parse()
		assert.ErrorContains(t, err, "want a number above 0", text)
		require.NoError(t, json.Unmarshal([]byte(text), &s))
		_, err = s.Parse()
		assert.ErrorContains(t, err, "want a quantity above 0", text)
	}
	size, err := Size("10Gi").Parse()
	require.NoError(t, err)
	assert.Equal(t, "10Gi", size.String())
}

func TestValuesAreWrittenAsTheyWereRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`-?[0-9]{0,12}[a-z]?`)).Draw(t, "text")
		for _, value := range []any{Duration(text), Number(text), Size(text)} {
			data, err := json.Marshal(value)
			require.NoError(t, err)
			var d Duration
			require.NoError(t, json.Unmarshal(data, &d))
			assert.Equal(t, text, string(d))
		}
	})
}

func TestNames(t *testing.T) {
	for text, want := range map[string]Names{`"a"`: {"a"}, `["a","b"]`: {"a", "b"}, `null`: nil, `""`: nil} {
		var n Names
		require.NoError(t, json.Unmarshal([]byte(text), &n))
		assert.Equal(t, want, n)
	}
}
