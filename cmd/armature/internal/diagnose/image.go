package diagnose

import (
	"fmt"
	"strings"
)

var imageReasons = map[string]bool{
	"ErrImagePull": true, "ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true, "ImageInspectError": true,
	"RegistryUnavailable": true, "SignatureValidationFailed": true,
}

// imageUnavailable: a container's image can't be pulled.
func imageUnavailable(s subject) *Finding {
	if s.pod == nil {
		return nil
	}
	for _, c := range containers(s.pod) {
		w := c.status.State.Waiting
		if w == nil || !imageReasons[w.Reason] {
			continue
		}
		words := w.Message
		e := s.warning("Failed", "ErrImageNeverPull", "InspectFailed")
		if e != nil && strings.Contains(e.Message, "image") && !strings.Contains(words, ": ") {
			words = e.Message
		}
		reason, next := "ImageUnavailable", "correct the image's name and tag, or check that the node can reach its registry"
		switch lower := strings.ToLower(words); {
		case w.Reason == "InvalidImageName":
			reason, next = "ImageNameInvalid", "correct the image's name"
		case w.Reason == "ErrImageNeverPull":
			reason, next = "ImageNotPresent", "load the image onto the node, or set imagePullPolicy to IfNotPresent"
		case strings.Contains(lower, "not found"), strings.Contains(lower, "manifest unknown"), strings.Contains(lower, "does not exist"):
			reason, next = "ImageNotFound", "correct the image's name and tag, or push the image"
		case strings.Contains(lower, "unauthorized"), strings.Contains(lower, "denied"), strings.Contains(lower, "authentication"):
			reason, next = "ImageForbidden", "add a Secret with access to the registry to imagePullSecrets"
		}
		return blocked(reason, "%s can't start, because its image %s can't be pulled: %s",
			c.what(), c.Image, ending(w.Reason, words)).do("%s", next)
	}
	return nil
}

// ending joins a reason and its message.
func ending(reason, words string) string {
	if words == "" {
		return reason
	}
	return fmt.Sprintf("%s: %s", reason, strings.TrimSpace(words))
}
