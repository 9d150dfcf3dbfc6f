package apistatus

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Causes returns the API server's causes about single fields.
func Causes(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	switch {
	case IsDuplicateNodePort(err):
		return []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueDuplicate, Field: "spec.ports", Message: Message(err)}}
	case IsUntypable(err):
		return untypable(Message(err))
	}
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var causes []metav1.StatusCause
	for _, cause := range status.Status().Details.Causes {
		if cause.Field != "" {
			causes = append(causes, cause)
		}
	}
	return causes
}

// AreAboutTypes reports whether the API server found values of a wrong type in an object. It then doesn't check the rules of the schema.
func AreAboutTypes(causes []metav1.StatusCause) bool {
	return slices.ContainsFunc(causes, func(cause metav1.StatusCause) bool { return cause.Type == metav1.CauseTypeTypeInvalid })
}

// Message returns the API server's message, empty if it has sent none.
func Message(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return ""
	}
	return status.Status().Message
}

// InOrder returns the text of an error with its fields in order. The API server lists wrong labels in the order of a map, another each
// time: as another text it would change the conditions, and be an event, in every pass.
func InOrder(err error) string {
	status := (*apierrors.StatusError)(nil)
	if !errors.As(err, &status) || status.ErrStatus.Details == nil {
		return err.Error()
	}
	var fields []string
	for _, cause := range status.ErrStatus.Details.Causes {
		if field := cause.Field + ": " + cause.Message; !slices.Contains(fields, field) { // the text has each once
			fields = append(fields, field)
		}
	}
	unordered := strings.Join(fields, ", ")
	slices.Sort(fields)
	return strings.Replace(err.Error(), unordered, strings.Join(fields, ", "), 1)
}

// IsDenied reports whether an admission webhook or policy refused a request. They choose the status code themselves, so only their
// texts identify them.
func IsDenied(err error) bool {
	message := Message(err)
	return strings.Contains(message, "denied the request") || strings.Contains(message, "denied request:")
}

// IsWebhookBroken reports whether the API server could not call an admission webhook, or not convert an object by a conversion webhook:
// it is down, too slow, or answers wrongly.
func IsWebhookBroken(err error) bool {
	message := Message(err)
	return strings.Contains(message, "failed calling webhook") || strings.Contains(message, "conversion webhook for ")
}

// IsRefused reports whether the API server itself, and no admission webhook or policy, called an object or a change invalid.
func IsRefused(err error) bool { return apierrors.IsInvalid(err) && !IsDenied(err) }

// MayObstruct reports whether undesired fields may be why the API server refused a change.
func MayObstruct(err error) bool { return IsRefused(err) || IsDuplicateNodePort(err) }

// IsDuplicateNodePort reports whether an update of a Service has a node port twice. The API server's allocator answers that with an
// error without a reason and causes, so it doesn't count as refused: it is retried, and never the change of an immutable field.
func IsDuplicateNodePort(err error) bool {
	return apierrors.ReasonForError(err) == metav1.StatusReasonUnknown && strings.HasPrefix(Message(err), "duplicate nodePort: ")
}

// IsUntypable reports whether the API server could not apply an object because of its schema: it has a field that the schema lacks, a
// value of another type, or the key of a list twice. It answers that with an error without a reason and causes.
func IsUntypable(err error) bool {
	return apierrors.ReasonForError(err) == metav1.StatusReasonUnknown &&
		strings.HasPrefix(Message(err), "failed to create typed patch object ")
}

// untypableField matches a field in the message of such an error: ": .spec.x: field not declared in schema", or a line for each of
// several fields.
var untypableField = regexp.MustCompile(`(?m)(?:^ +|\): )\.(\S+): (.+)$`)

func untypable(message string) []metav1.StatusCause {
	var causes []metav1.StatusCause
	for _, match := range untypableField.FindAllStringSubmatch(message, -1) {
		causes = append(causes, metav1.StatusCause{
			Type: metav1.CauseTypeTypeInvalid, Field: strings.ReplaceAll(match[1], `"`, ""), Message: match[2],
		})
	}
	return causes
}

// IsReplaced reports whether an apply found another object of its name than the intended one, which was deleted and created again. The
// API server calls the UID in such an apply invalid.
func IsReplaced(err error) bool {
	return apierrors.IsInvalid(err) &&
		slices.ContainsFunc(Causes(err), func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}
