package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

var secretKind = schema.GroupKind{Kind: "Secret"}

func newSecret(value string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner-key"}, Data: map[string][]byte{"key": []byte(value)},
	}
}

func ownsASecret(o *operator) {
	o.Owns(&corev1.Secret{}, builder.ByName(func(d *appsv1.Deployment) []string { return []string{d.Name + "-key", ""} }))
}

// aSecret is a plan with one Secret, until the owner has the annotation done.
func aSecret(d *appsv1.Deployment, _ builder.View) ownerPlan {
	plan := ownerPlan{Prune: []client.Object{&corev1.Secret{}}}
	if d.Annotations["done"] == "" {
		plan.Children = []builder.Child{builder.Want(newSecret("1"))}
	}
	return plan
}

// reads are the requests for Secrets since the last pass began.
func (s *stage) reads(verb buildertest.Verb) int { return s.ours.Ledger().Count(verb, secretKind) }

func TestOwnsByName(t *testing.T) {
	var seen []string
	plan := func(d *appsv1.Deployment, v builder.View) ownerPlan {
		seen = nil
		for _, secret := range builder.Owned[*corev1.Secret](v) {
			seen = append(seen, secret.Name)
		}
		return aSecret(d, v)
	}
	other := newSecret("2")
	other.Name = "other"
	s := perform(t, plan, ownsASecret, controlled(other, ownerUID))
	writes, after, err := s.pass()
	require.NoError(t, err)
	assert.Equal(t, []string{"create Secret default/owner-key"}, writes)
	assert.Positive(t, after, "no watch causes the pass that sees it")
	assert.Empty(t, seen)

	writes, after, err = s.pass()
	require.NoError(t, err)
	assert.Empty(t, writes)
	assert.Zero(t, after)
	assert.Equal(t, []string{"owner-key"}, seen, "what names doesn't return isn't seen")
	assert.Equal(t, 1, s.reads(buildertest.VerbGet))

	writes, after, err = s.pass()
	require.NoError(t, err)
	assert.Empty(t, writes)
	assert.Zero(t, s.reads(buildertest.VerbGet), "an unchanged pass costs no request")
	assert.Equal(t, []string{"owner-key"}, seen)
	assert.Equal(t, time.Minute, after, "the next pass reads it")

	s.server.Clock().Step(time.Minute)
	require.NoError(t, s.others.Delete(t.Context(), newSecret("")))
	assert.Equal(t, []string{"create Secret default/owner-key"}, s.passes(), "what someone deletes is made again")

	s.passes()
	changed := get(s, newSecret(""))
	changed.Data["key"] = []byte("2")
	require.NoError(t, s.others.Update(t.Context(), changed))
	assert.Empty(t, s.passes(), "it isn't watched")
	owner := get(s, newOwner())
	owner.Spec.Paused = true
	require.NoError(t, s.others.Update(t.Context(), owner))
	assert.Equal(t, []string{"apply Secret default/owner-key"}, s.passes(), "a change of the owner's spec is a reason to read it")
	assert.Equal(t, "1", string(get(s, newSecret("")).Data["key"]))

	s.passes()
	owner = get(s, newOwner())
	owner.Annotations = map[string]string{"done": "yes"}
	require.NoError(t, s.others.Update(t.Context(), owner))
	assert.Equal(t, []string{"delete Secret default/owner-key"}, s.passes())
	assert.Empty(t, s.passes())
	assert.Zero(t, s.reads(buildertest.VerbList)+s.reads(buildertest.VerbWatch), "nothing lists or watches Secrets")
	get(s, other)
}

// A Secret of that name that is someone else's is neither seen nor changed, and is looked at again after the failure.
func TestOwnsByNameOfSomeoneElse(t *testing.T) {
	s := perform(t, aSecret, ownsASecret, controlled(newSecret("2"), "another"))
	for range 2 {
		writes, _, err := s.pass()
		require.ErrorIs(t, err, builder.ErrNotOwned)
		assert.Empty(t, writes)
		assert.Positive(t, s.reads(buildertest.VerbGet))
	}
	require.NoError(t, s.others.Delete(t.Context(), newSecret("")))
	assert.Equal(t, []string{"create Secret default/owner-key"}, s.passes())
}

func TestOwnsOptionsAreChecked(t *testing.T) {
	names := func(*appsv1.Deployment) []string { return nil }
	secret := &corev1.Secret{}
	for name, c := range map[string]struct {
		kind    client.Object
		options []builder.OwnsOption
		want    string
	}{
		"no names":         {secret, []builder.OwnsOption{builder.ByName[*appsv1.Deployment](nil)}, "a function in ByName"},
		"no object":        {nil, []builder.OwnsOption{builder.ByName(names)}, "an object is nil"},
		"no type":          {untyped(), []builder.OwnsOption{builder.ByName(names)}, "ByName; it must be of the own Go type of kind"},
		"of another owner": {secret, []builder.OwnsOption{builder.ByName(func(*corev1.Pod) []string { return nil })}, "it must be of *v1.Deployment"},
		"twice":            {secret, []builder.OwnsOption{builder.ByName(names), builder.ByName(names)}, "ByName twice"},
		"two at once":      {secret, []builder.OwnsOption{builder.ByName(names), builder.CrossNamespace()}, "more than one of ByName, CrossNamespace"},
		"dependents":       {secret, []builder.OwnsOption{builder.CrossNamespace(), builder.Dependents(&corev1.Pod{})}, "more than one of"},
		"a nil option":     {secret, []builder.OwnsOption{nil}, "an option of *v1.Secret is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			server := buildertest.NewServer(clientgoscheme.Scheme)
			describe := func(o *operator) { o.Owns(c.kind, c.options...) }
			_, err := buildertest.NewReconciler(describedBy(nothing, describe), server.Client("operator"), nil)
			require.ErrorIs(t, err, builder.ErrMisuse)
			assert.ErrorContains(t, err, "Owns: ")
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestCrashEverywhereWithOwnsByName(t *testing.T) {
	for _, lag := range []int{0, 2} {
		s := scenario(aSecret, ownsASecret)
		s.Lag, s.LagOwnWrites = lag, lag > 0
		buildertest.CrashEverywhere(t, s)
	}
}
