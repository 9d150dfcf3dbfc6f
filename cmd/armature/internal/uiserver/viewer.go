package uiserver

import (
	"context"
	"fmt"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/kubernetes"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// Viewer is a person's connection to the API server, and what his streams share.
type Viewer struct {
	cluster *connect.Cluster
	pods    kubernetes.Interface // for logs; nil in tests without any
	hub     *hub
	rights  *rights
	end     context.CancelFunc

	mu     sync.Mutex
	user   string
	groups []string
}

// NewViewer returns the viewer with a connection's credential. The context ends all that he reads.
func NewViewer(ctx context.Context, cluster *connect.Cluster) (*Viewer, error) {
	ctx, end := context.WithCancel(ctx)
	v := &Viewer{cluster: cluster, rights: newRights(cluster.Client), end: end}
	v.hub = newHub(ctx, cluster.Client, v.account, idleTimeout)
	if cluster.Config != nil {
		pods, err := kubernetes.NewForConfig(cluster.Config)
		if err != nil {
			end()
			return nil, err
		}
		v.pods = pods
	}
	return v, nil
}

// identify asks the API server who the viewer is. It refuses a credential that the API server refuses. A cluster that doesn't answer
// this question (Kubernetes before 1.28), or not to him, has accepted the credential all the same.
func (v *Viewer) identify(ctx context.Context) error {
	review := &authenticationv1.SelfSubjectReview{}
	err := v.cluster.Client.Create(ctx, review)
	switch {
	case err == nil:
		v.mu.Lock()
		defer v.mu.Unlock()
		v.user, v.groups = review.Status.UserInfo.Username, review.Status.UserInfo.Groups
		return nil
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server refuses the credential, which may have expired: %w", err)
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return nil
	default:
		return fmt.Errorf("ask the API server who you are: %w", err)
	}
}

// identity returns what the API server has answered.
func (v *Viewer) identity() (user string, groups []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.user, v.groups
}

// account returns to whom limits apply: the user, because a user can have many tokens; all ServiceAccounts of a namespace together,
// because its users can make them; the viewer himself if the API server hasn't said who he is.
func (v *Viewer) account() any {
	user, _ := v.identity()
	if user == "" {
		return v
	}
	if namespace, _, err := serviceaccount.SplitUsername(user); err == nil {
		return serviceaccount.ServiceAccountUsernamePrefix + namespace
	}
	return user
}
