package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Member is a node that others can talk to.
type Member struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// peers finds the nodes of a cluster by their pods: also where there is no DNS.
type peers struct {
	client             client.Client
	namespace, cluster string
}

// of returns the nodes of a type whose pods are ready, by name.
func (p *peers) of(ctx context.Context, kind string) ([]Member, error) {
	var pods corev1.PodList
	err := p.client.List(ctx, &pods, client.InNamespace(p.namespace), client.MatchingLabels{
		"dsoi.armature.dev/cluster": p.cluster, "dsoi.armature.dev/node-type": kind,
	})
	var members []Member
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp == nil && pod.Status.PodIP != "" && isReady(pod) {
			members = append(members, Member{pod.Name, pod.Status.PodIP})
		}
	}
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return members, err
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// storage returns the storage nodes, as a coordinator tells.
func (p *peers) storage(ctx context.Context) ([]Member, error) {
	coordinators, err := p.of(ctx, Coordinator)
	if err != nil {
		return nil, err
	}
	err = errors.New("there is no coordinator")
	for _, c := range coordinators {
		var members []Member
		if err = ask(ctx, c, "/members", &members); err == nil {
			return members, nil
		}
	}
	return nil, err
}

// errNotFound: the node doesn't have it.
var errNotFound = errors.New("not found")

// peerClient doesn't wait long: there is another node.
var peerClient = &http.Client{Timeout: 2 * time.Second}

func urlOf(m Member, path string) string {
	return "http://" + net.JoinHostPort(m.Address, strconv.Itoa(Port)) + path
}

// ask gets JSON from a node.
func ask(ctx context.Context, m Member, path string, into any) error {
	return call(ctx, http.MethodGet, m, path, nil, into)
}

// call talks to a node.
func call(ctx context.Context, method string, m Member, path string, body []byte, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, urlOf(m, path), bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := peerClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return errNotFound
	case response.StatusCode >= 300:
		return fmt.Errorf("%s %s%s: %s", method, m.Name, path, response.Status)
	case into == nil:
		_, err = io.Copy(io.Discard, response.Body)
		return err
	default:
		return json.NewDecoder(response.Body).Decode(into)
	}
}
