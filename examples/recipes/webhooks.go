package recipes

import (
	"context"
	"fmt"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	v2 "github.com/armature-dev/armature/examples/recipes/v2"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

// Webhooks adds the webhooks of the kind to a manager, beside its operator: /convert, and the two of admission. The hub is the version of
// the operator. A scheme with another version of the kind that has no converter here is an error.
func Webhooks(mgr manager.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &v1.WebApp{}).
		WithConverter(conversion.NewHubSpokeConverter(&v1.WebApp{}, conversion.NewSpokeConverter(&v2.WebApp{}, toV2, toV1))).
		WithDefaulter(rules{}).
		WithValidator(rules{}).
		Complete()
}

// titleAnnotation keeps in v1 what only v2 can express.
const titleAnnotation = "examples.armature.dev/v2-title"

func toV2(_ context.Context, from *v1.WebApp, to *v2.WebApp) error {
	from.ObjectMeta.DeepCopyInto(&to.ObjectMeta)
	delete(to.Annotations, titleAnnotation)
	to.Spec = v2.WebAppSpec{
		Image: from.Spec.Image, Command: from.Spec.Command, Replicas: from.Spec.Replicas,
		Page: v2.Page{Greeting: from.Spec.Greeting, Title: from.Annotations[titleAnnotation]},
	}
	to.Status = from.Status // all of it: the builder writes again what gets lost
	return nil
}

func toV1(_ context.Context, from *v2.WebApp, to *v1.WebApp) error {
	from.ObjectMeta.DeepCopyInto(&to.ObjectMeta)
	delete(to.Annotations, titleAnnotation)
	if title := from.Spec.Page.Title; title != "" {
		if to.Annotations == nil {
			to.Annotations = map[string]string{}
		}
		to.Annotations[titleAnnotation] = title
	}
	to.Spec = v1.WebAppSpec{
		Image: from.Spec.Image, Command: from.Spec.Command, Replicas: from.Spec.Replicas, Greeting: from.Spec.Page.Greeting,
	}
	to.Status = from.Status
	return nil
}

// rules are what the CRD's schema and its CEL rules can't express. The API server asks about an object of v2 in v1, because the
// matchPolicy of a webhook is Equivalent by default.
type rules struct{}

// Default runs after the defaults of the schema.
func (rules) Default(_ context.Context, app *v1.WebApp) error {
	if !strings.Contains(app.Spec.Image, "/") {
		app.Spec.Image = "registry.example.com/" + app.Spec.Image
	}
	return nil
}

func (rules) ValidateCreate(_ context.Context, app *v1.WebApp) (admission.Warnings, error) {
	if strings.HasSuffix(app.Spec.Image, ":latest") {
		return nil, fmt.Errorf("spec.image is %q; accepted are tags of versions, such as :1.2", app.Spec.Image)
	}
	return nil, nil
}

// ValidateUpdate accepts a spec that hasn't changed: it may be older than the rule, and the operator must be able to write finalizers.
func (r rules) ValidateUpdate(ctx context.Context, before, after *v1.WebApp) (admission.Warnings, error) {
	if before.Spec.Image == after.Spec.Image {
		return nil, nil
	}
	return r.ValidateCreate(ctx, after)
}

func (rules) ValidateDelete(context.Context, *v1.WebApp) (admission.Warnings, error) { return nil, nil }
