// The page: who looks, the screens' names, the banner of what is unreachable, and one screen.
import { render, type FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { query } from "./api.ts";
import { capital } from "./format.ts";
import { paramList, placeOf, route } from "./route.ts";
import { access, begin, clusterKinds, failure, kinds, login, logIn, logOut, may, refresh, session } from "./session.ts";
import { live } from "./stream.ts";
import { Confirm, Empty, Notes } from "./parts/bits.tsx";
import { ListScreen } from "./screens/list.tsx";
import { FlowScreen } from "./screens/flow.tsx";
import { ObjectScreen } from "./screens/object.tsx";
import { QueuesScreen } from "./screens/queues.tsx";
import { CompareScreen } from "./screens/compare.tsx";

// The form, with its YAML, is loaded when somebody submits.
function Submit() {
  const [Screen, set] = useState<FunctionComponent | undefined>(undefined);
  useEffect(() => {
    void import("./screens/submit.tsx").then((m) => set(() => m.SubmitScreen));
  }, []);
  return Screen ? <Screen /> : <Empty>Loading…</Empty>;
}

function Screen() {
  const [first, second, third, fourth] = route.value.path;
  switch (first) {
    case undefined:
      return <ListScreen key="all" />;
    case "flows":
      return second && third ? (
        <FlowScreen namespace={second} name={third} />
      ) : (
        <ListScreen key="flows" only={["JobFlow"]} />
      );
    case "objects":
      return second && third && fourth ? (
        <ObjectScreen kind={second} namespace={third} name={fourth} />
      ) : (
        <ListScreen key="all" />
      );
    case "clusters":
      return <ListScreen key="clusters" only={clusterKinds().map((k) => k.kind)} />;
    case "queues":
      return <QueuesScreen />;
    case "submit":
      return <Submit />;
    case "compare":
      return <CompareScreen />;
    default:
      return (
        <main class="screen">
          <Empty>
            There is no such page. <a href="/">All objects</a>
          </Empty>
        </main>
      );
  }
}

function Banner() {
  const states = live.states.value.map((s) => s.value);
  const down = states.flatMap((s) => s.sources).find((s) => s.state === "unreachable");
  const lost = states.some((s) => !s.connected && !s.problem && s.synced);
  const why = failure.value
    ? capital(failure.value).replace(/\.?$/, ".")
    : down
      ? `The API server doesn't answer ${down.message ?? ""}.`
      : lost && "The server of this page doesn't answer.";
  return why ? (
    <div class="banner" role="alert">
      {why} What is shown is as of then; the page goes on by itself.
    </div>
  ) : null;
}

function Nav() {
  const at = route.value.path[0] ?? "";
  // Where the viewer looks; in the place of the shown object, if he may not look everywhere.
  const place = placeOf(route.value);
  const narrow = place && !access.value?.allNamespaces ? [place] : [];
  const chosen = paramList("namespace").length ? paramList("namespace") : narrow;
  const keep = query({ namespace: chosen });
  const looks = chosen.length ? chosen : [(!access.value?.allNamespaces && session.value?.namespace) || ""];
  const sees = (kind: string) => looks.some((n) => may("list", kind, n));
  const items: [string, string, boolean][] = [
    ["", "Objects", true],
    ["flows", "Flows", sees("JobFlow")],
    ["queues", "Queues", sees("FluxSetup") || sees("FluxJob")],
    ["clusters", "Clusters", clusterKinds().some((k) => sees(k.kind))],
    ["submit", "Submit", kinds().some((k) => may("create", k.kind, chosen[0] ?? session.value?.namespace))],
  ];
  const s = session.value!;
  return (
    <header class="top">
      <a class="brand" href={"/" + keep}>
        <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
          <g fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round">
            <path d="M8 16h4M12 16c5 0 3-7 8-7M12 16c5 0 3 7 8 7" />
          </g>
          <g fill="currentColor">
            <circle cx="8" cy="16" r="3.4" />
            <circle cx="23" cy="9" r="3.4" />
            <circle cx="23" cy="23" r="3.4" />
          </g>
        </svg>
        Armature
      </a>
      <nav aria-label="Screens">
        {items
          .filter((i) => i[2])
          .map(([path, title]) => (
            <a
              key={path}
              href={"/" + path + keep}
              aria-current={at === path || (at === "objects" && path === "") ? "page" : undefined}
            >
              {title}
            </a>
          ))}
      </nav>
      <span class="spacer" />
      <span class="who" title={`${s.server}\n${(s.groups ?? []).join(", ")}`}>
        {s.user}
        {s.context && <small> {s.context}</small>}
      </span>
      {s.login === "token" && (
        <button class="plain" onClick={() => void logOut()}>
          Log out
        </button>
      )}
    </header>
  );
}

function Login() {
  const l = login.value!;
  if (l.kind === "link") {
    return (
      <main class="login">
        <h1>Armature</h1>
        <p>
          Open the page with the link that <code>armature ui</code> printed: it has the session's token.
        </p>
        <p class="dim">{l.error}</p>
      </main>
    );
  }
  if (l.kind === "proxy") {
    return (
      <main class="login">
        <h1>Armature</h1>
        <p>
          The API server refuses the token that the proxy in front of this page sends. Load the page again to log in.
        </p>
        <p class="dim">{l.error}</p>
      </main>
    );
  }
  return (
    <main class="login">
      <h1>Armature</h1>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          const field = e.currentTarget.elements.namedItem("token") as HTMLInputElement;
          void logIn(field.value.trim());
          field.value = "";
        }}
      >
        <label for="token">
          A bearer token of the cluster. Everything is done with its rights, and with no others.
        </label>
        <input id="token" name="token" type="password" autocomplete="off" required />
        <button class="primary">Log in</button>
      </form>
      <p class="error" role="alert">
        {l.kind === "token" && l.error}
      </p>
      <p class="dim">
        For example of <code>kubectl create token NAME</code>.
      </p>
    </main>
  );
}

function App() {
  const title = route.value.path.slice(-1)[0];
  const path = route.value.path.join("/");
  useEffect(() => void refresh(), [path]);
  useEffect(() => {
    document.title = title ? `${title} · Armature` : "Armature";
  }, [title]);
  if (login.value) return <Login />;
  if (!session.value || !access.value)
    return failure.value ? (
      <main class="login">
        <h1>Armature</h1>
        <p class="error" role="alert">
          {failure.value}
        </p>
      </main>
    ) : (
      <p class="loading">Loading…</p>
    );
  return (
    <>
      <a class="skip" href="#screen">
        Skip to the screen
      </a>
      <Nav />
      <Banner />
      <div id="screen" tabIndex={-1}>
        <Screen />
      </div>
      <Notes />
      <Confirm />
    </>
  );
}

addEventListener("keydown", (e) => {
  if (
    e.key !== "/" ||
    e.ctrlKey ||
    e.metaKey ||
    e.altKey ||
    /^(INPUT|TEXTAREA|SELECT)$/.test((e.target as Element).tagName)
  )
    return;
  const search = document.querySelector<HTMLInputElement>("main input[type=search]");
  if (search) {
    e.preventDefault();
    search.focus();
  }
});

const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
void begin();
