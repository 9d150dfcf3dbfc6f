package payload

import (
	"encoding/json"
	"math"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

type inner struct {
	A     string `json:"a"`
	Shade string `json:"shade,omitempty"`
	Both  string `json:"both"`
}

type Embedded struct {
	Deep int
	Both string `json:"both"`
}

type (
	hexadecimal int
	colour      string
)

func (h *hexadecimal) MarshalJSON() ([]byte, error) { return json.Marshal([]int{int(*h)}) }
func (c colour) MarshalText() ([]byte, error)       { return []byte("colour " + c), nil }

// odd has what encoding/json has rules for and Kubernetes' own types don't have.
type odd struct {
	inner
	*Embedded
	Shade    string // least embedded
	Text     int    `json:",string"`
	TextAt   *bool  `json:"textAt,string,omitempty"`
	Quoted   string `json:",string"`
	Array    [2]uint16
	Bytes    []byte
	Byte     [2]byte
	Float    float64
	Small    float32
	Huge     uint64
	ByNumber map[int]string
	ByColour map[colour]int
	Colour   colour
	Hex      hexadecimal
	HexIn    map[string]hexadecimal
	Address  netip.Addr
	Number   json.Number
	Any      any
	Anys     []any
	Time     time.Time `json:"time,omitzero"`
	At       metav1.Time
	Long     metav1.Duration
	Raw      runtime.RawExtension
	Zero     corev1.Container  `json:",omitzero"`
	Resource resource.Quantity `json:"resource,omitempty"`
	Port     *intstr.IntOrString
	Skipped  string `json:"-"`
	Dash     string `json:"-,"` //nolint:staticcheck // it is what is tested
	hidden   string
	Invalid  string
}

func TestLikeEncodingJSON(t *testing.T) {
	full := odd{
		inner: inner{A: "a", Shade: "deep", Both: "1"}, Embedded: &Embedded{Deep: 1, Both: "2"}, Shade: "top",
		Text: 5, TextAt: new(true), Quoted: `"`, Array: [2]uint16{1, 2}, Bytes: []byte("x"), Byte: [2]byte{1, 2}, Float: 1.5, Small: 0.1,
		Huge: math.MaxUint64, ByNumber: map[int]string{7: "x"}, ByColour: map[colour]int{"red": 1}, Colour: "blue", Hex: 3,
		HexIn: map[string]hexadecimal{"x": 4}, Address: netip.MustParseAddr("10.0.0.1"), Number: "12", Any: map[string]any{"x": []any{nil, 1.0, "s"}, "n": nil},
		Anys: []any{&inner{A: "b"}, corev1.EnvVar{Name: "n"}, nil}, Time: time.Unix(1, 0), At: metav1.Unix(2, 0), Long: metav1.Duration{Duration: time.Second},
		Raw: runtime.RawExtension{Raw: []byte(`{"a":1,"n":null}`)}, Resource: resource.MustParse("1Gi"), Port: new(intstr.FromString("http")),
		Skipped: "x", Dash: "d", hidden: "h", Invalid: "\xff\xff",
	}
	for name, value := range map[string]*odd{"empty": {}, "full": &full, "float that is whole": {Float: 1e30, Small: 3}} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(value)
			require.NoError(t, err)
			var want any
			require.NoError(t, kjson.Unmarshal(data, &want))
			dropNulls(want)
			if name == "full" { // the one rule of ours: fields of Kubernetes' types that are empty aren't sent
				want.(map[string]any)["Anys"].([]any)[1] = map[string]any{"name": "n"}
			}
			got, err := render(reflect.ValueOf(value))
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
	_, err := render(reflect.ValueOf(&odd{Float: math.NaN()}))
	assert.Error(t, err)
	_ = full.hidden
}
