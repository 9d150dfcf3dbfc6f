// Package uiserver serves the page of "armature ui" and the API below /api/, whose shapes are in ui/API.md.
//
// # Rights
//
// A [Viewer] is a person's connection to the API server, with his credential and no other. The server has no rights of its own, and
// decides nothing: each list, watch and write goes to the API server as the viewer's. [Loopback] serves one person, who has the
// kubeconfig, and who proves with the link's token that the browser is his. [Bearer] serves everyone who sends a bearer token.
//
// # Streams
//
// A [feed] is one list and one watch. It keeps what a screen shows of each object (its projection), and not the object. A [hub] shares
// the feeds among all streams of one credential. A [reader] is a stream's place in a feed: it notes which objects have changed, and the
// stream sends these. So the work for a change is that of the change, whatever the number of objects; a slow browser costs a set of
// names, and a stopped API server is a state of the feed, which goes on from the version that it had.
//
// # Browsers
//
// Names, messages and logs are other people's text. They leave as JSON with <, > and & escaped, in responses that no browser takes for
// a page, and the page's Content-Security-Policy allows no script but its own. Writes are refused from other origins. On loopback,
// requests are refused whose Host isn't this server's, so that no other site's name can lead here.
package uiserver
