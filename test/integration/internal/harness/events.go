package harness

import (
	"context"

	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// EventsAbout returns all events about the object of a name, of the place's kind.
func (p *Place) EventsAbout(name string) []eventsv1.Event {
	p.T.Helper()
	var list eventsv1.EventList
	require.NoError(p.T, p.Client.List(context.Background(), &list, client.InNamespace(p.Namespace)))
	var found []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.Kind == p.Kind && e.Regarding.Name == name {
			found = append(found, e)
		}
	}
	return found
}

// Events returns the events about an object that have a reason.
func (p *Place) Events(name, reason string) []eventsv1.Event {
	p.T.Helper()
	var found []eventsv1.Event
	for _, e := range p.EventsAbout(name) {
		if e.Reason == reason {
			found = append(found, e)
		}
	}
	return found
}

// OneEvent returns the one event about an object that has a reason, once it is there: events are written a moment later.
func (p *Place) OneEvent(name, reason string) eventsv1.Event {
	p.T.Helper()
	p.Eventually("event "+reason+" about "+name, func() bool { return len(p.Events(name, reason)) > 0 })
	found := p.Events(name, reason)
	require.Len(p.T, found, 1)
	require.Nil(p.T, found[0].Series, "the event was repeated")
	return found[0]
}
