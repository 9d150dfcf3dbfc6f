package quantity

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxLength is how many characters a quantity may have. The largest has 19 digits.
const maxLength = 64

// exponent finds an exponent of more digits than any quantity needs: the largest is about 9E18.
var exponent = regexp.MustCompile(`[eE][+-]?[0-9]{3,}$`)

// Parse returns the quantity that a text is. A text of more than 64 characters, or with an exponent of more than two digits, is an error.
func Parse(text string) (resource.Quantity, error) {
	if err := check(text); err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(text)
}

func check(text string) error {
	switch {
	case len(text) > maxLength:
		return fmt.Errorf("a quantity has at most %d characters, this has %d", maxLength, len(text))
	case exponent.MatchString(text):
		return fmt.Errorf("%q: the exponent of a quantity has at most two digits", text)
	}
	return nil
}
