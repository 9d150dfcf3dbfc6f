package buildertest

import (
	"encoding/base64"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// page is the content of a list's continue token. All pages of a list are of one resource version, as on a real API server, so that
// writes between them make a client neither miss an object nor see it twice.
type page struct {
	Version   uint64 `json:"rv"`
	Namespace string `json:"namespace"` // of the last object of the former page, with its name
	Name      string `json:"name"`
}

// encode returns the token.
func (p page) encode() (string, error) {
	data, err := json.Marshal(p)
	return base64.RawURLEncoding.EncodeToString(data), err
}

func decodePage(token string) (p page, err error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return p, apierrors.NewBadRequest("continue key is not valid: " + err.Error())
	}
	return p, nil
}

// follows reports whether an object comes after the page's last one.
func (p page) follows(obj client.Object) bool {
	if obj.GetNamespace() != p.Namespace {
		return obj.GetNamespace() > p.Namespace
	}
	return obj.GetName() > p.Name
}
